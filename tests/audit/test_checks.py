"""Quality control over all annotated trips, though only passing ones are kept whole."""

import polars as pl
import pytest

from pipeline.artifacts import ARTIFACTS
from pipeline.audit.checks import check_measures, read_checks
from pipeline.schemas import arrow_schema
from pipeline.tables import write_table
from tests.audit.project import checked, refused, told

LITERAL, CHATTY, CAPTION = "instruction_literal", "instruction_chatty", "trajectory_caption"


def side(folder, passed, rejections) -> pl.DataFrame:
    """Write what one side's quality control made, and read it as the audit does."""
    for name, rows, file in (
        ("checked", passed, folder / "checked/part-00000.parquet"),
        ("check_rejected", rejections, folder / "check.parquet"),
    ):
        artifact = ARTIFACTS[name]
        frame = pl.DataFrame(rows, schema=pl.Schema(arrow_schema(str(artifact.schema))))
        write_table(frame, file, artifact, shown=name)
    return read_checks(folder / "checked", folder / "check.parquet")


def against(trip_id: str, *found: str):
    """Return a refusal as the stage `check` words it; the first rule is its reason."""
    reason = found[0].split(": ")[1]
    return refused(trip_id, reason, "check", "; ".join(found))


def compared(before: pl.DataFrame, after: pl.DataFrame) -> dict[str, tuple]:
    pairs = before.join(after, on="trip_id", how="full", suffix="_after", coalesce=True)
    return {one.name: one for one in check_measures(pairs.sort("trip_id"), name="toy")}


def test_a_passing_trip_tells_its_rules_and_names(tmp_path):
    found = side(
        tmp_path,
        [checked(told("t1"), names=3, rules=[(CHATTY, "opener"), (LITERAL, "opener")])],
        [],
    )
    (row,) = found.to_dicts()
    assert row == {
        "trip_id": "t1", "passed": True, "reason": "", "rules": ["opener"], "ungrounded": 0,
        "bad_texts": 0, "names": 3, "grounded": 3,
    }  # fmt: skip


def test_a_refusal_tells_its_rules_by_text_whatever_its_words_say(tmp_path):
    rejection = against(
        "t1",
        f"{LITERAL}: invented_name: Zanzibar: no such name; {CHATTY}: see: not here",
        f"{LITERAL}: off_route_name: Café; dash: in the city, not on this trip",
        f"{CAPTION}: wrong_time: expected 4 AM, found 5: PM",
    )
    (row,) = side(tmp_path, [], [rejection]).to_dicts()
    assert (row["passed"], row["reason"]) == (False, "invented_name")
    assert row["rules"] == ["invented_name", "off_route_name", "wrong_time"]
    assert (row["ungrounded"], row["bad_texts"], row["names"]) == (2, 1, None)


def test_a_refusal_without_words_has_its_reason_as_a_rule(tmp_path):
    (row,) = side(tmp_path, [], [refused("t1", "invented_name", "check", "-")]).to_dicts()
    assert row["rules"] == ["invented_name"]


def test_refused_trips_are_counted_over_all_annotated_ones(tmp_path):
    """Of t1-t4 the audit sees 0 refused before, 2 after; one of them for a name."""
    names = ["t1", "t2", "t3", "t4"]
    before = side(tmp_path / "a", [checked(told(one), names=2) for one in names], [])
    after = side(
        tmp_path / "b",
        [checked(told(one), names=2) for one in names[:2]],
        [
            against("t3", f"{LITERAL}: invented_name: d"),
            against("t4", f"{CAPTION}: wrong_time: d", f"{CHATTY}: exact_copy: d"),
        ],
    )
    found = compared(before, after)
    assert list(found)[3:] == ["refused", "invented_name", "wrong_time", "exact_copy"]
    for name, gained in (("refused", 2), ("invented_name", 1), ("exact_copy", 1)):
        one = found[name]
        assert (one.n, one.lost, one.gained, one.before) == (4, 0, gained, 0.0)
        assert one.after == gained / 4
    assert found["refused"].p == pytest.approx(2 / 4)
    trips = found["trips with every name grounded"]
    assert (trips.n, trips.before, trips.after, trips.lost) == (4, 1.0, 3 / 4, 1)
    texts = found["texts with every name grounded"]
    assert (texts.before, texts.after) == (1.0, pytest.approx(27 / 28))
    passing = found["names grounded, of trips that pass on both sides"]
    assert (passing.n, passing.after) == (2, 1.0)


def test_a_rule_that_only_flags_is_unknown_of_a_refused_trip(tmp_path):
    """t3 is refused for its time: whether its opener would have been flagged nobody knows."""
    rows = [told("t1"), told("t2"), told("t3")]
    flagged = [checked(rows[0], rules=[(CHATTY, "opener")]), checked(rows[1])]
    before = side(tmp_path / "a", [*flagged, checked(rows[2])], [])
    after = side(tmp_path / "b", flagged, [against("t3", f"{CAPTION}: wrong_time: d")])
    found = compared(before, after)
    assert (found["opener"].n, found["opener"].before) == (2, 1 / 2)
    assert (found["wrong_time"].n, found["wrong_time"].gained) == (3, 1)


def test_names_are_unknown_of_refused_trips_where_they_are_only_flagged(tmp_path):
    off = {"field": LITERAL, "verdict": "off_route"}
    one = checked(told("t1"), names=1, rules=[(LITERAL, "off_route_name")])
    one["mentions"] = [one["mentions"][0] | off]
    rows = side(tmp_path / "a", [one], [against("t2", f"{CAPTION}: wrong_time: d")])
    found = compared(rows, rows)
    assert found["trips with every name grounded"].n == 1
    assert found["trips with every name grounded"].before == 0.0
    assert found["texts with every name grounded"].before == pytest.approx(6 / 7)


def test_a_trip_that_only_one_side_checked_is_left_out(tmp_path):
    before = side(tmp_path / "a", [checked(told("t1")), checked(told("t2"))], [])
    after = side(tmp_path / "b", [checked(told("t1"))], [])
    assert compared(before, after)["refused"].n == 1
