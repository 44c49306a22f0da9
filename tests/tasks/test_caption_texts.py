"""Words, ROUGE-L, METEOR, BERTScore: by arithmetic, brute force, the packages they follow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import single_meteor_score
from rouge_score.rouge_scorer import RougeScorer

from pipeline.tasks.bertscore import bert_score, bert_scores
from pipeline.tasks.meteor import Meteor
from pipeline.tasks.minilm import MiniLM
from pipeline.tasks.rouge import ascii_words, longest_common, rouge_l, words
from pipeline.tasks.wordnet import installed

FEW = st.lists(st.sampled_from("abcd"), max_size=9)
DRIVING = st.lists(
    st.sampled_from(["drives", "drive", "driving", "car", "motorcar", "the", "north", "turned"]),
    max_size=12,
)


def brute(one: list[str], other: list[str]) -> int:
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + brute(one[1:], other[1:])
    return max(brute(one[1:], other), brute(one, other[1:]))


def test_words_are_those_of_any_script_with_their_accents():
    assert words("Past Lönnrotinkatu, D'Ávila.") == ["past", "lönnrotinkatu", "d", "ávila"]
    assert words("Lo\u0308nnrotinkatu") == ["lönnrotinkatu"]
    assert words("На улице Ленина") == ["на", "улице", "ленина"]
    assert words("on 中央通り") == ["on", "中", "央", "通", "り"]
    assert words("...") == words("") == []


def test_the_usual_tokenizer_takes_other_letters_away():
    assert ascii_words("Lönnrotinkatu 4") == ["l", "nnrotinkatu", "4"]
    assert ascii_words("улица") == []


@pytest.mark.parametrize(
    ("one", "other", "own", "usual"),
    [
        ("On Åkatu.", "On Äkatu.", 0.5, 1.0),
        ("On Lönnrotinkatu.", "On Lonnrotinkatu.", 0.5, 2 * 1 / 5),
        ("On улица Ленина", "On улица Мира", 2 * 2 / 6, 1.0),
        ("a b c d", "a x c", 2 * 2 / 7, 2 * 2 / 7),
        ("a", "", 0.0, 0.0),
        ("", "", 0.0, 0.0),
    ],
)
def test_rouge_l_by_hand(one, other, own, usual):
    assert rouge_l(words(one), words(other)) == pytest.approx(own)
    assert rouge_l(ascii_words(one), ascii_words(other)) == pytest.approx(usual)


@given(one=FEW, other=FEW)
def test_the_longest_common_sequence_is_that_of_brute_force(one, other):
    assert longest_common(one, other) == brute(one, other) == longest_common(other, one)


@given(one=st.text(max_size=40), other=st.text(max_size=40))
def test_the_usual_rouge_l_is_that_of_the_package(one, other):
    scored = RougeScorer(["rougeL"]).score(one, other)["rougeL"].fmeasure
    assert rouge_l(ascii_words(one), ascii_words(other)) == pytest.approx(scored)


def test_meteor_by_hand():
    score = Meteor.without_wordnet().score
    # All of four words in one run: the penalty is .5 * (1 / 4) ** 3.
    assert score(words("a b c d"), words("a b c d")) == pytest.approx(1 - 0.5 / 64)
    # Two of three words, in two runs: precision 2/3, recall 2/4, penalty .5 * (2 / 2) ** 3.
    mean = (2 / 3 * 2 / 4) / (0.9 * 2 / 3 + 0.1 * 2 / 4)
    assert score(words("a b c d"), words("a x d")) == pytest.approx(mean * 0.5)
    assert score(words("it turned"), words("he turns")) == pytest.approx(0.5 * 0.5)
    assert score(words("a"), words("b")) == score([], ["a"]) == score(["a"], []) == 0.0


def test_only_wordnet_knows_synonyms_and_the_name_tells():
    folder = installed()
    assert folder, "run `make wordnet`"
    knowing, not_knowing = Meteor.with_wordnet(folder), Meteor.without_wordnet()
    assert (knowing.name, not_knowing.name) == ("meteor", "meteor_exact_stem")
    assert knowing.score(["car"], ["motorcar"]) == pytest.approx(0.5)
    assert not_knowing.score(["car"], ["motorcar"]) == 0.0


@given(one=DRIVING, other=DRIVING)
def test_meteor_is_that_of_nltk_with_nothing_remembered(one, other):
    folder = installed()
    assert folder, "run `make wordnet`"
    ours = Meteor.with_wordnet(folder)
    told = single_meteor_score(one, other, stemmer=PorterStemmer(), wordnet=ours.wordnet)
    assert ours.score(one, other) == told


def test_bert_score_by_hand():
    mark, east, north = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    between = (0.6, 0.8, 0.0)
    reference = np.array([mark, east, north, mark], np.float32)
    caption = 7 * np.array([mark, between, mark], np.float32)
    # The caption's one token lies nearest to north, .8; the reference's lie .6 and .8 from it.
    assert bert_score(reference, caption) == pytest.approx(2 * 0.8 * 0.7 / (0.8 + 0.7))
    assert bert_score(reference, reference) == pytest.approx(1.0)
    empty = np.array([mark, mark], np.float32)
    assert bert_score(reference, empty) == bert_score(empty, empty) == 0.0


def test_bert_score_is_that_of_the_package_on_the_same_encoder():
    # bert-score 0.3.13, all-MiniLM-L6-v2, num_layers=6, by PyTorch.
    pairs = {
        (
            "The trip starts on Mannerheimintie and ends at the harbour.",
            "A taxi drove from Mannerheimintie to the port.",
        ): 0.620173,
        (
            "Past Café Ceuta, then Rua do Campo Alegre for 8 minutes at 4:11 AM.",
            "It runs along Rua do Campo Alegre and passes a café.",
        ): 0.64144,
        ("A cat.", "A cat."): 1.0,
        ("A cat.", ""): 0.0,
    }
    scores = bert_scores(*map(list, zip(*pairs, strict=True)), MiniLM.bundled())
    assert list(scores) == pytest.approx(list(pairs.values()), abs=5e-6)
