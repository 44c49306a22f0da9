"""Words are compared without case and accents; a text can always be put together again."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.quality.folding import fold, folded_words, split_letters, split_words

texts = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from("  .,;'-abcABC\u00e9\u0301\u0111\u0142\u00f8\u00df\u8054\u534e"),
    ),
    max_size=60,
)


@pytest.mark.parametrize(
    ("word", "folded"),
    [
        ("François", "francois"), ("Łódź", "lodz"), ("Đà", "da"), ("Ølhus", "olhus"),
        ("Straße", "strasse"), ("Æ", "ae"), ("Ångström", "angstrom"), ("İstanbul", "istanbul"),
        ("Pitkäsilta", "pitkasilta"), ("", ""), ("\u0301", ""),
    ],
)  # fmt: skip
def test_letters_of_their_own_are_spelt_plainly_and_accents_dropped(word, folded):
    assert fold(word) == folded


@given(texts)
def test_composed_and_decomposed_letters_fold_alike(text):
    assert fold(unicodedata.normalize("NFC", text)) == fold(unicodedata.normalize("NFD", text))


@given(texts)
@example("")
@example("...")
@example("Rua Prof. D'Ávila.")
@example("去联华桥station吧。")
def test_gaps_and_words_are_the_text(text):
    words, gaps, starts = split_words(text)
    for found, around, begins in ((words, gaps, starts), split_letters(words, gaps)):
        assert "".join(g + w for g, w in zip(around, found, strict=False)) + around[-1] == text
        assert [text[s : s + len(w)] for s, w in zip(begins, found, strict=False)] == found
        assert len(around) == len(begins) == len(found) + 1
        assert begins[-1] == len(text)


def test_marks_are_no_part_of_a_word():
    assert folded_words("Rua Prof. D'Ávila, 3rd-floor") == [
        "rua",
        "prof",
        "d",
        "avila",
        "3rd",
        "floor",
    ]


def test_letters_of_scripts_without_blanks_are_words():
    assert folded_words("去联华桥 KFC") == ["去", "联", "华", "桥", "kfc"]
