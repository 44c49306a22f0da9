"""Who rates what: the same for the same ids, fair, and hard to lose by accident."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ContractError, ParameterError
from pipeline.quality.rubric import rubric
from pipeline.review.assignment import (
    FILE,
    assign,
    assignment_text,
    deal,
    read_assignment,
    withdrawn,
)

TRIPS = st.lists(st.text("abc", min_size=1, max_size=4), unique=True, max_size=20)
RATERS = st.lists(st.sampled_from(["H1", "H2", "H3", "H4"]), unique=True, min_size=1)


def hashes(*trips):
    return {trip: trip * 64 for trip in trips}


def assignment(trips="abcd", raters=("H1", "H2"), overlap=None):
    return assign("porto", hashes(*trips), raters=raters, overlap=overlap, rubric=rubric())


@given(TRIPS, RATERS, st.integers(0, 25))
def test_every_trip_is_rated_by_all_or_by_one(trips, raters, overlap):
    shares = [share.trip_ids for share in deal(trips, raters, overlap=overlap)]
    times = [sum(trip in share for share in shares) for trip in trips]
    common = min(overlap, len(trips))
    assert sorted(times) == sorted([len(raters)] * common + [1] * (len(trips) - common))
    assert all(len(set(share)) == len(share) for share in shares)
    lengths = [len(share) for share in shares]
    assert max(lengths) - min(lengths) <= 1


@given(TRIPS, RATERS)
def test_the_order_of_the_ids_changes_nothing(trips, raters):
    assert deal(trips, raters, overlap=3) == deal(trips[::-1], raters, overlap=3)


@given(TRIPS, st.text("xyz", min_size=1, max_size=4))
def test_one_more_trip_and_one_more_rater_change_no_order(trips, further):
    before = deal(trips, ["H1"], overlap=None)[0].trip_ids
    after = deal([*trips, further], ["H2", "H1"], overlap=None)[1].trip_ids
    assert [trip for trip in after if trip != further] == before


def test_raters_have_orders_of_their_own():
    one, two = deal([str(i) for i in range(30)], ["H1", "H2"], overlap=None)
    assert sorted(one.trip_ids) == sorted(two.trip_ids)
    assert one.trip_ids != two.trip_ids


def test_the_page_has_another_id_when_its_texts_change():
    other = assign("porto", hashes("abc") | {"d": "0" * 64}, raters=["H1"], overlap=None,
                   rubric=rubric())  # fmt: skip
    assert assignment().page_id == assignment(raters=["H3"]).page_id != other.page_id


@pytest.mark.parametrize("raters", [["H1", "h1"], ["H1", "H1"], [""], ["A. Smith"], ["../x"], []])
def test_codes_that_name_nobody_or_two_are_refused(raters):
    with pytest.raises(ParameterError, match="--raters: expected"):
        assignment(raters=raters)


def test_a_negative_overlap_is_refused():
    with pytest.raises(ParameterError, match="--overlap"):
        assignment(overlap=-1)


def test_more_raters_and_trips_withdraw_nothing():
    assert withdrawn(assignment("abc", ["H1"]), assignment("abcd", ["H1", "H2"])) == []


def test_a_trip_less_another_text_and_a_rater_less_are_told():
    old = assignment("abc")
    assert withdrawn(old, assignment("ab")) == ["c"]
    changed = msgspec.structs.replace(old.items[2], item_hash="0" * 64)
    other = msgspec.structs.replace(old, items=[*old.items[:2], changed])
    assert withdrawn(old, other) == ["c"]
    assert sorted(withdrawn(old, assignment("abc", ["H1"]))) == ["H2 a", "H2 b", "H2 c"]


def test_it_is_read_back_as_it_was_written(tmp_path):
    (tmp_path / FILE).write_text(assignment_text(assignment()), "utf-8")
    assert read_assignment(tmp_path) == assignment()


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "expected JSON"), ("{}", "'city' is a required property"), ("[]", "not of type")],
)
def test_a_broken_file_is_one_clear_error(tmp_path, text, words):
    (tmp_path / FILE).write_text(text, "utf-8")
    with pytest.raises(ContractError, match=words):
        read_assignment(tmp_path)


def test_a_change_by_hand_is_found(tmp_path):
    record = json.loads(assignment_text(assignment()))
    record["raters"][0]["rater"] = "A. Smith"
    (tmp_path / FILE).write_text(json.dumps(record), "utf-8")
    with pytest.raises(ContractError, match=r"raters\[0\]\.rater: 'A\. Smith' does not match"):
        read_assignment(tmp_path)
