"""The judge without a model: each score is arithmetic on names, claims and words."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ParameterError
from pipeline.quality.judge_rules import TABLE, RulesJudge
from pipeline.quality.rubric import SCORES
from pipeline.records import CheckedTrip, QueryPlan, Texts
from tests.language.trips import area, phased_trip, place, planned_trip, step, target
from tests.quality.judged import TEXTS, checked_trip, claim, mention

JUDGE = RulesJudge()
INSTRUCTIONS = Texts.__struct_fields__[:3]
QUERIES = Texts.__struct_fields__[3:6]
CAPTION = "trajectory_caption"
# Every text names the road it holds.
TRUE = [
    *(mention(field, "Rua C", phase=2) for field in INSTRUCTIONS),
    mention(QUERIES[0], "Rua C", phase=2),
    mention(QUERIES[1], "Rua B", phase=1),
    mention(QUERIES[2], "Rua A", phase=0),
    *(mention(CAPTION, f"Rua {letter}", phase=p) for p, letter in enumerate("ABC")),
]


def scores_of(trip: CheckedTrip):
    return JUDGE.verdict(trip)[0]


def texts(**changes: str) -> Texts:
    return msgspec.structs.replace(TEXTS, **changes)


def without(field: str) -> list:
    return [one for one in TRUE if one.field != field]


# ---- what no rule can tell -----------------------------------------------------------------------


def test_nobody_can_hear_the_persona_by_counting():
    assert scores_of(checked_trip(mentions=TRUE)).instructions_persona_fidelity is None


def test_texts_that_state_nothing_leave_truth_unscored():
    fuzzy = target("1.2", "zone", phases=[2], feature="green")
    plain = planned_trip(targets=[fuzzy], queries=[QueryPlan([1], [fuzzy])] * 3)
    given_scores, why = JUDGE.verdict(checked_trip(planned=plain))
    assert given_scores.instructions_correctness is None
    assert given_scores.instructions_no_hallucination is None
    assert given_scores.queries_accuracy is None
    assert given_scores.queries_no_hallucination is None
    assert given_scores.caption_accuracy is None
    assert "nothing stated that can be checked" in why.caption


# ---- truth ---------------------------------------------------------------------------------------


def test_true_texts_that_tell_all_get_the_best_scores():
    queries = [
        QueryPlan([1], [target("1.1", "road", phases=[p], names=[f"Rua {letter}"])])
        for p, letter in ((2, "C"), (1, "B"), (0, "A"))
    ]
    found = scores_of(checked_trip("t1", planned_trip(queries=queries), mentions=TRUE))
    assert found.instructions_correctness == 5
    assert found.instructions_no_hallucination == 5
    assert found.queries_accuracy == found.queries_no_hallucination == 5
    assert found.caption_comprehensiveness == found.caption_accuracy == 5
    assert found.caption_objectivity == 5


@pytest.mark.parametrize(
    ("named", "score"),
    [(3, 5), (2, 3), (1, 2), (0, 1)],  # 3/3 >= .95, 2/3 >= .55, 1/3 >= .3, 0
)
def test_the_destination_belongs_into_every_instruction(named, score):
    mentions = [mention(field, "Rua C", phase=2) for field in INSTRUCTIONS[:named]]
    assert scores_of(checked_trip(mentions=mentions)).instructions_correctness == score


def test_another_wish_is_told_when_one_instruction_tells_it():
    end = target("1.1", "road", phases=[2], names=["Rua C"])
    way = target("2.1", "roads", phases=[1], names=["Rua B", "Rua D"])
    planned = planned_trip(targets=[end, way])
    said = texts(instruction_literal="Drive to Rua C along Rua B.")
    half = [*TRUE, mention("instruction_literal", "Rua B", texts=said)]
    # End told in 3 of 3, half of the roads told: (1 + .5) / 2 = .75.
    assert scores_of(checked_trip("t1", planned, mentions=half)).instructions_correctness == 4


def test_a_wrong_statement_lowers_correctness_by_its_share():
    # 3 true names and 3 refuted claims: 1 x .5.
    claims = [claim(field, "north", "contradicted") for field in INSTRUCTIONS]
    found = scores_of(checked_trip(mentions=TRUE, claims=claims))
    assert found.instructions_correctness == 2


def test_what_cannot_be_verified_is_neither_right_nor_wrong():
    claims = [claim(field, "north", "unverified") for field in INSTRUCTIONS]
    assert scores_of(checked_trip(mentions=TRUE, claims=claims)) == scores_of(
        checked_trip(mentions=TRUE)
    )


@pytest.mark.parametrize(
    ("verdicts", "score"),
    [([], 5), (["off_route"], 3), (["invented"], 2), (["off_route", "off_route"], 1),
     (["invented", "invented"], 1)],
)  # fmt: skip
@pytest.mark.parametrize("task", ["instructions", "queries"])
def test_an_invented_name_weighs_more_than_one_off_the_route(task, verdicts, score):
    field = f"{'instruction_literal' if task == 'instructions' else QUERIES[0]}"
    false = [mention(field, "Rua Z", verdict=verdict) for verdict in verdicts]
    found = scores_of(checked_trip(mentions=[*TRUE, *false]))
    assert getattr(found, f"{task}_no_hallucination") == score
    other = {"instructions": "queries", "queries": "instructions"}[task]
    assert getattr(found, f"{other}_no_hallucination") == 5


def test_a_query_is_held_to_the_targets_it_was_assigned():
    here = QueryPlan([1], [target("1.1", "road", phases=[2], names=["Rua C"])])
    planned = planned_trip(queries=[here, here, here])
    # Only the first query names Rua C: 1/3.
    assert scores_of(checked_trip("t1", planned, mentions=TRUE)).queries_accuracy == 2


# ---- how much is told ----------------------------------------------------------------------------


@pytest.mark.parametrize(("facts", "score"), [(0, 1), (3, 2), (5, 3), (7, 4), (9, 5)])
def test_queries_are_specific_by_their_different_true_facts(facts, score):
    claims = [claim(QUERIES[n % 3], f"at {n} PM", "supported", kind="time") for n in range(facts)]
    twice = [*claims, *claims]
    refuted = [claim(QUERIES[0], "at noon", "contradicted", kind="time")]
    found = scores_of(checked_trip(claims=[*twice, *refuted]))
    assert found.queries_specificity == score


@pytest.mark.parametrize(
    ("told", "score"),
    [("ABC", 5), ("AC", 3), ("AB", 2), ("B", 1), ("", 1)],
    # (1 + 1 + 1) / 3; (1 + 1 + .4) / 3 = .8; (1 + 0 + .8) / 3 = .6; (0 + 0 + .6) / 3 = .2; 0
)
def test_a_caption_is_complete_by_start_end_and_length_of_way(told, score):
    lengths = {"A": 200.0, "B": 600.0, "C": 200.0}
    roads = [step([f"Rua {letter}"], length_m=lengths[letter]) for letter in "ABC"]
    mentions = [mention(CAPTION, f"Rua {letter}") for letter in told]
    found = scores_of(checked_trip("t1", planned_trip(phased_trip(*roads)), mentions=mentions))
    assert found.caption_comprehensiveness == score


def test_a_place_tells_its_phase_and_a_district_tells_an_end():
    ends = area(district="Foz")
    roads = (step([], ends), step(["Rua B"]), step([], ends))
    planned = planned_trip(phased_trip(*roads), places=[place(1, "Café")])
    said = texts(trajectory_caption="From Foz past Café back to Foz.")
    mentions = [
        mention(CAPTION, "Café", kind="place", phase=1, texts=said),
        mention(CAPTION, "Foz", kind="district", texts=said),
    ]
    found = scores_of(checked_trip("t1", planned, texts=said, mentions=mentions))
    assert found.caption_comprehensiveness == 5


def test_roads_told_out_of_order_lower_accuracy():
    backwards = texts(trajectory_caption="Rua C comes first, then Rua B, then Rua A.")
    mentions = [mention(CAPTION, f"Rua {letter}", texts=backwards) for letter in "ABC"]
    found = scores_of(checked_trip(texts=backwards, mentions=mentions))
    assert found.caption_accuracy == 1  # one of three in order


def test_a_road_driven_twice_is_in_order_both_times():
    roads = (step(["Rua A"]), step(["Rua B"]), step(["Rua A"]))
    said = texts(trajectory_caption="It runs on Rua A, on Rua B and again on Rua A.")
    first, again = said.trajectory_caption.find("Rua A"), said.trajectory_caption.rfind("Rua A")
    mentions = [
        msgspec.structs.replace(mention(CAPTION, "Rua A"), start=first, end=first + 5),
        mention(CAPTION, "Rua B", texts=said),
        msgspec.structs.replace(mention(CAPTION, "Rua A"), start=again, end=again + 5),
    ]
    planned = planned_trip(phased_trip(*roads))
    found = scores_of(checked_trip("t1", planned, texts=said, mentions=mentions))
    assert found.caption_accuracy == 5


# ---- how it is said ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("literal", "concise", "chatty", "score"),
    [
        ("Drive along the river now.", "Drive along.", "Drive along the river.", 1),
        ("Drive along the river.", "Quick, downtown.", "Could you maybe take me home?", 5),
        # Shares of the shorter: 1/2, 1/4, 1/2; own: 1 - 1.25/3 = .583.
        ("Drive west please now.", "West. Quick.", "Could it be west, soon?", 3),
    ],
)
def test_styles_are_distinct_by_words_that_are_their_own(literal, concise, chatty, score):
    said = texts(
        instruction_literal=literal, instruction_concise=concise, instruction_chatty=chatty
    )
    assert scores_of(checked_trip(texts=said)).instructions_style_distinctness == score


def test_names_do_not_count_as_shared_words():
    said = texts(
        instruction_literal="Drive to Rua C.",
        instruction_concise="Rua C.",
        instruction_chatty="Could we see Rua C?",
    )
    mentions = [mention(field, "Rua C", texts=said) for field in INSTRUCTIONS]
    assert (
        scores_of(checked_trip(texts=said, mentions=mentions)).instructions_style_distinctness == 5
    )
    assert scores_of(checked_trip(texts=said)).instructions_style_distinctness == 1


@pytest.mark.parametrize(
    ("caption", "score"),
    [
        ("It ends on Rua C.", 5),
        ("It ends on lovely Rua C.", 4),
        ("We enjoy the scenic way.", 2),
        ("You want to enjoy our lovely, scenic, charming way.", 1),
    ],
)
def test_words_that_judge_lower_objectivity(caption, score):
    said = texts(trajectory_caption=caption)
    assert scores_of(checked_trip(texts=said)).caption_objectivity == score


def test_a_name_may_hold_such_a_word():
    said = texts(trajectory_caption="It ends at Lovely You.")
    mentions = [mention(CAPTION, "Lovely You", kind="place", texts=said)]
    assert scores_of(checked_trip(texts=said, mentions=mentions)).caption_objectivity == 5


# ---- always --------------------------------------------------------------------------------------

fields = st.sampled_from(Texts.__struct_fields__)
mentions_of_any_kind = st.lists(
    st.builds(
        mention,
        fields,
        st.sampled_from(["Rua A", "Rua B", "Rua Z"]),
        kind=st.sampled_from(["road", "place", "district", "city", "unknown"]),
        verdict=st.sampled_from(["grounded", "off_route", "invented"]),
        phase=st.none() | st.integers(0, 2),
    ),
    max_size=12,
    unique_by=lambda one: (one.field, one.start),
)
claims_of_any_kind = st.lists(
    st.builds(
        claim,
        fields,
        st.sampled_from(["north", "at noon"]),
        st.sampled_from(["supported", "contradicted", "unverified"]),
    ),
    max_size=6,
)


@given(mentions_of_any_kind, claims_of_any_kind)
def test_every_score_is_on_the_scale_or_missing_and_reasons_are_short(mentions, claims):
    found, why = JUDGE.verdict(checked_trip(mentions=mentions, claims=claims))
    assert set(msgspec.structs.astuple(found)) <= {None, *SCORES}
    assert all(0 < len(text) <= 500 for text in msgspec.structs.astuple(why))


@given(mentions_of_any_kind, claims_of_any_kind, st.sampled_from([*INSTRUCTIONS, CAPTION]))
def test_one_more_invention_never_raises_a_score_for_truth(mentions, claims, field):
    before = scores_of(checked_trip(mentions=mentions, claims=claims))
    false = msgspec.structs.replace(
        mention(field, "Rua Z", verdict="invented"), start=10_000, end=10_005
    )
    after = scores_of(checked_trip(mentions=[*mentions, false], claims=claims))
    for code in ("instructions_correctness", "instructions_no_hallucination", "caption_accuracy"):
        if getattr(before, code) is not None:
            assert getattr(after, code) <= getattr(before, code)


def test_the_revision_tells_the_table(tmp_path):
    table = tmp_path / "judge_rules.yaml"
    table.write_text(TABLE.read_text("utf-8").replace("invented: 3", "invented: 4"), "utf-8")
    assert RulesJudge(table).revision != JUDGE.revision


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("[3, 5, 7, 9]", "[3, 7, 5, 9]", "queries_specificity: expected rising bounds"),
        ("invented: 3", "invented: 9", "faults.invented"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused(tmp_path, before, after, fault):
    table = tmp_path / "judge_rules.yaml"
    text = TABLE.read_text("utf-8")
    assert before in text
    table.write_text(text.replace(before, after), "utf-8")
    with pytest.raises(ParameterError, match=fault):
        RulesJudge(table)
