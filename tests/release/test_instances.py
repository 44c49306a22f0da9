"""Seven instances a trip: what a model may see holds nothing of what it is to find."""

import json

import polars as pl
import pytest

from pipeline.release.figures import (
    check_counts,
    split_figures,
    text_figures,
    traits_of,
    trip_figures,
)
from pipeline.release.instances import (
    candidates,
    caption_instances,
    generation_instances,
    released_trips,
    retrieval_instances,
)
from pipeline.schemas import arrow_schema, check_frame
from tests.release.trips import START_S, STYLES, cell, checked_row, edges_of, town, with_twins

MAKERS = {
    "generation_instance": generation_instances,
    "retrieval_instance": retrieval_instances,
    "caption_instance": caption_instances,
    "retrieval_candidate": candidates,
}


def released(tables: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """Join a town's tables, and name the twins as if all trips were of one pool."""
    return with_twins(released_trips(*tables.values()))


@pytest.fixture
def trips() -> pl.DataFrame:
    return released(town([3, 1, 2], ["train", "test", "train"]))


def test_trips_are_joined_by_id_and_sorted(trips):
    assert trips["trip_id"].to_list() == ["t1", "t2", "t3"]
    assert trips["split"].to_list() == ["test", "train", "train"]
    assert trips["edge_ids"].to_list() == [edges_of(1), edges_of(2), edges_of(3)]


@pytest.mark.parametrize("schema", MAKERS)
def test_every_table_keeps_its_schema_with_trips_and_without(trips, schema):
    frame = MAKERS[schema](trips, city="toy")
    check_frame(schema, frame, where=schema, key=frame.columns[0])
    empty = MAKERS[schema](trips.clear(), city="toy")
    assert empty.is_empty()
    assert empty.columns == list(arrow_schema(schema).names)


def test_each_trip_gives_seven_instances_with_ids_of_their_own(trips):
    frames = [make(trips, city="toy") for make in list(MAKERS.values())[:3]]
    ids = pl.concat([frame["instance_id"] for frame in frames])
    assert ids.len() == 3 * 7
    assert ids.is_unique().all()
    assert sorted(one for one in ids if one.startswith("toy/t2/")) == [
        "toy/t2/captioning/1", "toy/t2/generation/chatty", "toy/t2/generation/concise",
        "toy/t2/generation/literal", "toy/t2/retrieval/1", "toy/t2/retrieval/2",
        "toy/t2/retrieval/3",
    ]  # fmt: skip


def test_generation_is_given_the_text_the_first_segment_and_the_time_and_no_more_of_the_path(trips):
    rows = generation_instances(trips, city="toy").to_dicts()
    for row, (k, style) in zip(rows, [(k, s) for k in (1, 2, 3) for s in STYLES], strict=True):
        assert row["input"] == {
            "instruction": f"Go to Café {k}, {style}.",
            "start_edge": f"s{k}",
            "start_time_s": START_S,
            "start_time": "Saturday, Jun 14, 2014 at 4:11 AM",
        }
        assert row["target"]["edge_ids"] == edges_of(k)
        seen = json.dumps(row["input"])
        assert not any(f'"{edge}"' in seen for edge in edges_of(k)[1:])
        assert not any(one in seen for one in row["target"]["cells"])


def test_the_cells_of_a_path_add_up_to_its_segments(trips):
    for row in candidates(trips, city="toy").to_dicts():
        k = int(row["trip_id"][1:])
        assert row["cells"] == [cell(0), cell(k + 1)]
        assert row["cell_edges"] == [1, k + 2]
        assert sum(row["cell_edges"]) == len(row["edge_ids"]) == len(row["t_enter_s"])


def test_retrieval_is_given_the_query_alone_and_knows_its_trip_in_the_pool(trips):
    row = retrieval_instances(trips, city="toy").to_dicts()[4]
    assert row["input"] == {"query": "trip 2 to Café 2"}
    assert row["target"]["trip_id"] == "t2"
    assert row["target"]["same_route"] == []
    assert row["provenance"]["draws"] == {"dimensions": [2]}
    assert row["provenance"]["quality"]["repairs"] == [
        {"stage": "punctuation", "rule": "double_space"}
    ]


def test_candidates_on_the_same_segments_are_named_beside_the_one_that_is_looked_for(trips):
    twins = with_twins(trips.with_columns(edge_ids=pl.lit(["s1", "s2"])))
    found = retrieval_instances(twins, city="toy").filter(number="1")["target"]
    assert [one["same_route"] for one in found] == [["t2", "t3"], ["t1", "t3"], ["t1", "t2"]]


def test_captioning_is_given_the_path_and_no_text(trips):
    row = caption_instances(trips, city="toy").to_dicts()[0]
    assert set(row["input"]) == {
        "edge_ids", "t_enter_s", "off_from_m", "off_to_m", "cells", "cell_edges", "start_time",
        "time_spent_s",
    }  # fmt: skip
    assert row["target"] == {"caption": "The trip ends at Café 1."}
    assert row["evidence"]["claims"][0]["text"] == "The trip"


def test_the_pool_holds_no_text_and_no_evidence(trips):
    pool = candidates(trips, city="toy")
    assert "Café" not in json.dumps(pool.to_dicts())
    assert pool["trip_id"].to_list() == ["t1", "t2", "t3"]


def test_evidence_is_that_of_the_text_and_links_names_to_the_map(trips):
    literal, *_ = generation_instances(trips, city="toy").to_dicts()
    (name,) = literal["evidence"]["mentions"]
    start, end = name["start"], name["end"]
    assert literal["input"]["instruction"][start:end] == "Café 1" == name["name"]
    assert (name["phase"], name["id"], name["verdict"]) == (1, "n1", "grounded")
    assert literal["evidence"]["claims"] == []
    query = retrieval_instances(trips, city="toy").to_dicts()[0]
    assert query["evidence"]["mentions"] == []


def test_provenance_says_who_wrote_what_was_drawn_found_and_scored(trips):
    rows = {row["style"]: row for row in generation_instances(trips, city="toy").to_dicts()[:3]}
    chatty = rows["chatty"]["provenance"]
    assert chatty["writer"] == checked_row(1)["provenance"]
    assert (chatty["draws"]["form"], chatty["draws"]["persona"]) == ("form_chatty", "commuter")
    assert [one["rule"] for one in chatty["quality"]["findings"]] == ["same_opening"]
    assert rows["literal"]["provenance"]["quality"]["findings"] == []
    assert chatty["judge"]["scores"] == {
        "correctness": 5, "no_hallucination": 4, "persona_fidelity": 5, "style_distinctness": 4,
    }  # fmt: skip
    assert chatty["judge"]["score"] == 4.5
    caption = caption_instances(trips, city="toy").to_dicts()[0]["provenance"]["judge"]["scores"]
    assert caption == {"comprehensiveness": 4, "accuracy": None, "objectivity": 5}


def test_no_planning_field_is_released(trips):
    for make in MAKERS.values():
        assert "planning" not in json.dumps(make(trips, city="toy").to_dicts())
        assert "waypoint" not in json.dumps(make(trips, city="toy").to_dicts())


def test_the_order_of_the_tables_changes_nothing(trips):
    shuffled = town([2, 3, 1], ["train", "train", "test"])
    again = released(shuffled)
    for make in MAKERS.values():
        assert make(again, city="toy").equals(make(trips, city="toy"))


def test_the_figures_are_plain_arithmetic(trips):
    traits = traits_of(trips)
    splits = split_figures(traits)
    assert splits["train"] == {
        "trips": 2, "share": 0.6667, "generation": 6, "retrieval": 6, "captioning": 2,
    }  # fmt: skip
    assert splits["val"]["trips"] == 0
    assert trip_figures(traits)["segments"] == {"p10": 4.2, "p50": 5.0, "p90": 5.8}
    texts = text_figures(traits)["generation"]
    assert (texts["names"], texts["grounded"], texts["invented"]) == (9, 9, 0)
    assert texts["words"]["p50"] == 5.0  # Go to Café 1, literal.


def test_a_city_without_a_trip_has_no_shares_and_no_percentiles(trips):
    none = traits_of(trips.clear())
    assert split_figures(none)["train"]["share"] is None
    assert trip_figures(none)["score"] == {"p10": None, "p50": None, "p90": None}
    assert text_figures(none)["retrieval"]["names"] == 0


def test_a_release_that_differs_from_the_loss_ledger_is_told_where(trips):
    splits = {"train": 2, "val": 0, "test": 1}
    loss = {"released": {"trips": 3, "instances": 21, "splits": splits}}
    written = {"generation": 9, "retrieval": 9, "captioning": 3}
    assert check_counts(traits_of(trips), loss, written) == []
    faults = check_counts(traits_of(trips.head(2)), loss, written)
    assert "trips: 3 in the loss ledger, 2 in the release" in faults
    assert "trips in train: 2 in the loss ledger, 1 in the release" in faults
