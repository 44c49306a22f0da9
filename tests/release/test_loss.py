"""Every input ends in one state, and the counts add up at the level of raw trips and of pieces."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.artifacts import ARTIFACTS
from pipeline.errors import ContractError
from pipeline.release.account import outcome_rows, with_splits
from pipeline.release.loss import DRIVE_STAGES, LIFE, Passed, loss_entries, loss_figures
from pipeline.release.loss_table import GAINED, RELEASED, loss_rows, markdown_table, plain_table
from pipeline.release.sankey import sankey
from pipeline.release.splits import SplitShares
from pipeline.schemas import check_frame, check_record
from pipeline.stages import STAGES
from pipeline.trips.ledger import STAGES_THAT_REJECT
from pipeline.trips.report import loss_counts

SHARES = SplitShares(train=0.7, val=0.1, test=0.2)


def passed(
    raw: list[str], cleaned: list[tuple[str, str]], matched: list[tuple[str, str]], *drives
) -> Passed:
    """Build what stages accepted; `drives` of the later stages, the last one repeated."""
    later = [*drives, *[drives[-1]] * (len(DRIVE_STAGES) - len(drives))]
    text = {"a": pl.String, "b": pl.String}
    return Passed(
        pl.DataFrame({"raw_trip_id": raw}, schema={"raw_trip_id": pl.String}),
        pl.DataFrame(cleaned, schema=text, orient="row").rename(
            {"a": "trip_id", "b": "raw_trip_id"}
        ),
        pl.DataFrame(matched, schema=text, orient="row").rename(
            {"a": "trip_id", "b": "cleaned_trip_id"}
        ),
        {
            stage: pl.Series("trip_id", ids, dtype=pl.String)
            for stage, ids in zip(DRIVE_STAGES, later, strict=True)
        },
    )


def refused(*rows: tuple[str, str, str]) -> pl.DataFrame:
    """Build rejections from (item_id, stage, reason)."""
    schema = dict.fromkeys(("item_id", "stage", "reason"), pl.String)
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def account(made: Passed, rejected: pl.DataFrame) -> tuple[pl.DataFrame, dict]:
    """Follow the inputs, split what is released, and count."""
    entries = with_splits(loss_entries(made, rejected), shares=SHARES, seed=7)
    return entries, loss_figures(entries, made)


# One raw trip per way to end: released whole; came apart twice, one piece released; refused by each
# stage; and a row that could not be read.
LIFE_OF_NINE = passed(
    ["whole", "apart", "short", "far", "round", "aimless", "mute", "wrong", "poor"],
    [("whole", "whole"), ("apart.1", "apart"), ("apart.2", "apart"), ("far", "far"),
     *[(name, name) for name in ("round", "aimless", "mute", "wrong", "poor")]],
    [("whole", "whole"), ("apart.1", "apart.1"), ("apart.1_p2", "apart.1"),
     *[(name, name) for name in ("round", "aimless", "mute", "wrong", "poor")]],
    ["whole", "apart.1", "apart.1_p2", "aimless", "mute", "wrong", "poor"],
    ["whole", "apart.1", "apart.1_p2", "mute", "wrong", "poor"],
    ["whole", "apart.1", "apart.1_p2", "wrong", "poor"],
    ["whole", "apart.1", "apart.1_p2", "poor"],
    ["whole", "apart.1_p2"],
)  # fmt: skip
REFUSALS = refused(
    ("short", "ingest", "too_short"),
    ("file.csv:3", "ingest", "bad_row"),
    ("far", "match", "not_matched"),
    ("apart.2", "match", "detour"),
    ("apart.1_p3", "match", "drive_too_short"),
    ("round", "compress", "too_few_phases"),
    ("aimless", "plan_intents", "no_destination"),
    ("mute", "annotate", "length"),
    ("wrong", "check", "off_route"),
    ("apart.1", "select", "below_cut"),
    ("poor", "select", "unscored"),
)


def test_each_raw_trip_ends_in_one_state_for_the_reason_of_its_furthest_piece():
    entries, _ = account(LIFE_OF_NINE, REFUSALS)
    ends = {
        row["raw_trip_id"]: (row["state"], row["stage"], row["reason"])
        for row in entries.filter("decides").to_dicts()
    }
    assert ends == {
        "whole": ("released", "release", None),
        "apart": ("released", "release", None),
        "short": ("rejected", "ingest", "too_short"),
        "file.csv:3": ("rejected", "ingest", "bad_row"),
        "far": ("rejected", "match", "not_matched"),
        "round": ("rejected", "compress", "too_few_phases"),
        "aimless": ("rejected", "plan_intents", "no_destination"),
        "mute": ("rejected", "annotate", "length"),
        "wrong": ("rejected", "check", "off_route"),
        "poor": ("rejected", "select", "unscored"),
    }
    assert entries.filter("decides")["raw_trip_id"].is_unique().all()


def test_each_piece_is_counted_once_under_the_raw_trip_it_comes_from():
    entries, _ = account(LIFE_OF_NINE, REFUSALS)
    assert entries["item_id"].is_unique().all()
    pieces = entries.filter(raw_trip_id="apart").sort("item_id")
    assert pieces["item_id"].to_list() == ["apart.1", "apart.1_p2", "apart.1_p3", "apart.2"]
    assert pieces["stage"].to_list() == ["select", "release", "match", "match"]
    assert pieces["decides"].to_list() == [False, True, False, False]


def test_the_metrics_count_the_same_pieces_as_the_loss_table():
    _, figures = account(LIFE_OF_NINE, REFUSALS)
    flow = figures["flow"]
    counted = loss_counts(REFUSALS)
    assert counted == {stage: flow[stage]["reasons"] for stage in STAGES_THAT_REJECT}


def test_the_counts_of_stages_add_up_and_lead_from_one_to_the_next():
    _, figures = account(LIFE_OF_NINE, REFUSALS)
    flow = figures["flow"]
    assert [step["arrived"] for step in flow.values()] == [10, 9, 8, 7, 6, 5, 4]
    assert [step["gained"] for step in flow.values()] == [1, 2, 0, 0, 0, 0, 0]
    assert [step["rejected"] for step in flow.values()] == [2, 3, 1, 1, 1, 1, 2]
    assert [step["passed"] for step in flow.values()] == [9, 8, 7, 6, 5, 4, 2]
    assert figures["released"]["trips"] == 2
    assert figures["released"]["instances"] == 14
    assert sum(figures["released"]["splits"].values()) == 2
    raw = figures["raw_trips"]
    assert (raw["arrived"], raw["released"], raw["rejected"]) == (10, 2, 8)
    assert sum(sum(reasons.values()) for reasons in raw["by_stage"].values()) == 8


def test_the_records_keep_their_schemas():
    entries, figures = account(LIFE_OF_NINE, REFUSALS)
    check_frame("loss_entry", entries, where="loss", key="item_id")
    record = {"city": "toy", "traces": "real", **figures}
    check_record("loss_metrics", record, where="metrics")
    assert outcome_rows(figures)["pieces"].sum() == entries.height


def test_pieces_of_one_raw_trip_share_their_split_and_what_is_not_released_has_none():
    made = passed(
        ["a"], [("a", "a")], [("a", "a"), ("a_p2", "a"), ("a_p3", "a")], ["a", "a_p2", "a_p3"],
        ["a", "a_p2"],
    )  # fmt: skip
    entries, _ = account(made, refused(("a_p3", "plan_intents", "no_destination")))
    splits = dict(entries.select("item_id", "split").iter_rows())
    assert splits["a"] == splits["a_p2"]
    assert splits["a_p3"] is None


def test_an_empty_city_is_counted_as_nothing():
    entries, figures = account(passed([], [], [], []), refused())
    assert entries.is_empty()
    assert figures["raw_trips"]["arrived"] == 0
    assert figures["released"] == {
        "trips": 0, "instances": 0, "splits": {"train": 0, "val": 0, "test": 0},
    }  # fmt: skip
    check_frame("loss_entry", entries, where="loss", key="item_id")


def test_a_city_where_everything_is_refused_is_counted_to_the_last_trip():
    made = passed(["a", "b"], [("a", "a")], [], [])
    entries, figures = account(made, refused(("b", "ingest", "x"), ("a", "match", "y")))
    assert entries["state"].to_list() == ["rejected", "rejected"]
    assert (
        figures["raw_trips"]["by_stage"] | {"ingest": {"x": 1}, "match": {"y": 1}}
        == (figures["raw_trips"]["by_stage"])
    )


@pytest.mark.parametrize(
    ("made", "rejected", "message"),
    [
        (passed(["a"], [], [], []), refused(), r"ingest: .*'a' neither accepted nor refused"),
        (
            passed(["a"], [("a", "a")], [], []),
            refused(("a", "ingest", "x")),
            r"ingest: .*'a' accepted and refused",
        ),
        (passed(["a"], [("a", "a")], [], []), refused(), r"match: .*'a' neither"),
        (
            passed(["a"], [("a", "a")], [("a", "a")], ["a"]),
            refused(("a", "match", "x")),
            r"match: .*'a' accepted and refused",
        ),
        (
            passed(["a"], [("a", "a")], [("a", "a"), ("b", "b")], ["a"]),
            refused(),
            r"match: .*'b' that never arrived",
        ),
        (
            passed(["a"], [("a", "a")], [("a", "a")], ["a"], []),
            refused(),
            r"plan_intents: .*'a' neither",
        ),
        (
            passed(["a"], [("a", "a")], [("a", "a")], ["a"], ["a", "z"]),
            refused(),
            r"plan_intents: .*'z' that never arrived",
        ),
        (
            passed(["a"], [("a", "a")], [("a", "a")], ["a"]),
            refused(("a", "select", "below_cut")),
            r"select: .*'a' accepted and refused",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_trip_that_a_stage_lost_or_counted_twice_is_an_error_with_stage_and_id(
    made, rejected, message
):
    with pytest.raises(ContractError, match=message):
        loss_entries(made, rejected)


def test_the_life_of_a_trip_is_that_of_the_stage_table():
    others = {"pull_context", "roads", "narrate", "agree"}  # places, roads, cells, ratings
    of_cities = [stage for stage in STAGES if stage.scope == "city"]
    rejecting = {stage.name: stage.writes for stage in of_cities if stage.rejects}
    assert [name for name in rejecting if name not in others] == list(LIFE)
    for stage, accepted in LIFE.items():
        assert accepted in rejecting[stage]
        assert ARTIFACTS[accepted].key == "trip_id"


@given(st.lists(st.sampled_from([*LIFE, "release"]), max_size=30))
def test_whatever_happens_the_table_adds_up_in_every_column(ends):
    ids = [f"t{number}" for number in range(len(ends))]
    order = [*LIFE, "release"]
    reached = {
        stage: [
            i for i, end in zip(ids, ends, strict=True) if order.index(end) > order.index(stage)
        ]
        for stage in LIFE
    }
    made = passed(
        ids,
        [(one, one) for one in reached["ingest"]],
        [(one, one) for one in reached["match"]],
        *(reached[stage] for stage in DRIVE_STAGES),
    )
    lost = [(i, end, "why") for i, end in zip(ids, ends, strict=True) if end != "release"]
    entries, figures = account(made, refused(*lost))
    assert entries.height == len(ends)
    other, _ = account(LIFE_OF_NINE, REFUSALS)
    rows = loss_rows(
        [{"city": "a", **figures}, {"city": "b", **account(LIFE_OF_NINE, REFUSALS)[1]}]
    )
    for column in (0, 1):
        gone = sum(counts[column] for name, counts in rows if name.startswith("- "))
        came = sum(counts[column] for name, counts in rows[:2])
        assert came - gone == dict(rows)[RELEASED][column]
    assert other.height == 13


def test_the_table_is_printed_for_a_screen_and_for_a_page():
    _, figures = account(LIFE_OF_NINE, REFUSALS)
    city = {"city": "toy", **figures}
    plain = plain_table([city]).splitlines()
    assert plain[0].split() == ["toy"]
    assert plain[1].split() == ["raw", "trips", "10"]
    assert plain[2] == f"{GAINED}    3"
    page = markdown_table([city])
    assert "| - check: off_route | 1 |" in page
    assert "| **= released trips** | **2** |" in page


def test_the_picture_is_complete_in_itself_and_tells_every_reason():
    _, figures = account(LIFE_OF_NINE, REFUSALS)
    picture = sankey(figures, title="toy <&>")
    assert "toy &lt;&amp;&gt;" in picture
    for word in ("10", "raw trips", "too_short", "off_route", "below_cut", "released trips"):
        assert f">{word}</text>" in picture or f" {word}</text>" in picture
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")
