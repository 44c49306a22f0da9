"""Captions of a small town, scored: every value by hand."""

import json
from pathlib import Path

import polars as pl
import pytest

from pipeline.errors import ContractError, SourceError
from pipeline.schemas import schema_document
from pipeline.tasks.caption_floors import caption_references, others_of
from pipeline.tasks.captioning import CaptionScorer
from pipeline.tasks.predictions import read_predictions
from pipeline.tasks.released import open_release
from pipeline.tasks.settings import CaptioningSettings
from tests.tasks.town import EAST_DEG, LAT, LON, Trip, write_release

SETTINGS = CaptioningSettings(bertscore=False)
# Over street 1, then north on street 103; the other trip on streets 3 and 105, in train.
TRIPS = (
    Trip("t1", "test", (0, 1, 2, 12, 22, 32)),
    Trip("t2", "test", (22, 23, 24, 34, 44)),
    Trip("t3", "train", (0, 1, 2, 12, 22, 32)),
)
STREETS = {"Street 1": "Kaivokatu", "Street 103": "Lönnrotinkatu", "Street 3": "Åkatu"}
REFERENCE = "The trip heads north from Kaivokatu past Café Ceuta and ends on Lönnrotinkatu."
MENTIONS = [("Kaivokatu", "road"), ("Café Ceuta", "place"), ("Lönnrotinkatu", "road")]


def rewrite(file: Path, *columns: pl.Expr) -> None:
    pl.read_parquet(file).with_columns(columns).write_parquet(file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a release whose streets have names, with a café beside street 1."""
    made = write_release(tmp_path_factory.mktemp("town") / "toy/release", TRIPS)
    ground = made / "ground"
    for table in ("roads", "names"):
        rewrite(ground / f"{table}.parquet", pl.col("name").replace(STREETS))
    cell = pl.read_parquet(ground / "road_cells.parquet").filter(edge_id="1:1:2")["cell"][0]
    example = schema_document("cell")["examples"][0]
    cafe = {
        "id": "n1", "name": "Café Ceuta", "category": "cafe", "group": "dining",
        "lon": LON + 1.5 * EAST_DEG, "lat": LAT + 0.0001,
    }  # fmt: skip
    row = example | {"cell": cell, "lon": LON, "lat": LAT, "pois": [example["pois"][0] | cafe]}
    cells = pl.DataFrame([row], schema=pl.read_parquet_schema(ground / "cells.parquet"))
    cells.write_parquet(ground / "cells.parquet")
    file = made / "captioning/test.parquet"
    kind = pl.read_parquet(file).schema["evidence"].fields[0].dtype
    told = [
        {"start": REFERENCE.index(name), "end": REFERENCE.index(name) + len(name), "text": name,
         "kind": kind, "verdict": "grounded", "name": name, "phase": 0, "id": "x",
         "lon": LON, "lat": LAT, "method": "exact"}
        for name, kind in MENTIONS
    ]  # fmt: skip
    mentions = pl.Series([told, told[:1]], dtype=kind)
    texts = pl.Series([REFERENCE, "It starts on Kaivokatu."])
    rewrite(
        file,
        pl.col("evidence").struct.with_fields(mentions=pl.lit(mentions)),
        pl.col("target").struct.with_fields(caption=pl.lit(texts)),
    )
    contents = made.parent.parent / "contents/toy.json"
    contents.parent.mkdir()
    contents.write_text(json.dumps({"name": "Toytown"}), "utf-8")
    return made


@pytest.fixture(scope="module")
def scorer(folder):
    return CaptionScorer(open_release(folder), "test", SETTINGS, near=0.8)


def row_of(scorer: CaptionScorer, caption: str) -> dict[str, float]:
    """Return the measures of a caption of the first trip."""
    return scorer.measured([caption, ""]).row(0, named=True)


def test_the_reference_is_like_itself_and_true(scorer):
    row = row_of(scorer, REFERENCE)
    perfect = ("rouge_l", "rouge_l_ascii", "poi_recall", "location_recall", "names_grounded")
    assert [row[name] for name in perfect] == [1.0] * 5
    false = ("names_off_route", "names_invented", "claims_contradicted")
    assert [row[name] for name in false] == [0.0] * 3
    assert (row["named_locations"], row["claims_decided"]) == (3.0, 1.0)


@pytest.mark.parametrize(
    ("caption", "shares"),
    [
        ("It starts on Kaivokatu.", (1, 1.0, 0.0, 0.0)),
        ("It passes Åkatu.", (1, 0.0, 1.0, 0.0)),
        ("From Kaivokatu past Zanzibar Plaza.", (2, 0.5, 0.0, 0.5)),
        ("On Kaivokatu, Kaivokatu and Åkatu.", (2, 2 / 3, 1 / 3, 0.0)),
        ("A drive through Toytown.", (0, 0.0, 0.0, 0.0)),
        ("A drive.", (0, 0.0, 0.0, 0.0)),
    ],
)
def test_names_lie_on_the_trip_or_off_it_or_nowhere(scorer, caption, shares):
    row = row_of(scorer, caption)
    names = ("named_locations", "names_grounded", "names_off_route", "names_invented")
    assert tuple(row[name] for name in names) == pytest.approx(shares)


@pytest.mark.parametrize(
    ("caption", "poi", "location"),
    [
        ("Past Café Ceuta.", 1.0, 1 / 3),
        ("On Lönnrotinkatu from Kaivokatu.", 0.0, 2 / 3),
        ("Past a café.", 0.0, 0.0),
        ("", 0.0, 0.0),
    ],
)
def test_recall_is_of_names_that_quality_control_recognises(scorer, caption, poi, location):
    row = row_of(scorer, caption)
    assert (row["poi_recall"], row["location_recall"]) == pytest.approx((poi, location))


def test_recall_of_places_is_undefined_where_the_reference_has_none(scorer):
    row = scorer.measured(["", "It starts on Kaivokatu."]).row(1, named=True)
    assert row["poi_recall"] is None
    assert row["location_recall"] == 1.0


@pytest.mark.parametrize(
    ("caption", "decided", "contradicted"),
    [("It heads north.", 1, 0.0), ("It heads south.", 1, 1.0), ("It goes on.", 0, 0.0)],
)
def test_claims_are_held_against_the_trip(scorer, caption, decided, contradicted):
    row = row_of(scorer, caption)
    assert (row["claims_decided"], row["claims_contradicted"]) == (decided, contradicted)


def test_what_is_missing_or_blank_scores_as_the_empty_text(folder, tmp_path):
    scorer = CaptionScorer(open_release(folder), "test", SETTINGS, near=0.8)
    empty = scorer.measured(["", ""])
    file = tmp_path / "captions.jsonl"
    for caption, status, other in ((None, "empty", 0), (" ... ", "empty", 0), ("No.", "ok", 1)):
        lines = [{"instance_id": "toy/t1/captioning/1", "caption": caption}]
        lines += [{"instance_id": "toy/t3/captioning/1", "caption": "Train."}] * other
        file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
        scored = scorer.score(read_predictions(file, "captioning"), file=file)
        assert scored.rows["status"].to_list() == [status, "missing"]
        assert scored.rows["known_route"].to_list() != ["new", "new"]  # train drives the first
        coverage = scored.coverage
        assert (coverage.instances, coverage.missing, coverage.other) == (2, 1, other)
        names = [one.name for one in scored.measures]
        if status == "empty":
            assert coverage.invalid == {"empty": 1}
            assert scored.rows.select(names).equals(empty.select(names))


def test_floors_and_ceiling_are_scored_as_captions_of_a_model(scorer):
    references = {one.name: one for one in caption_references(scorer, seed=7)}
    assert list(references) == ["empty", "constant", "other_trip", "truth"]
    rouge = {name: one.scored.rows["rouge_l"].to_list() for name, one in references.items()}
    assert rouge["truth"] == [1.0, 1.0]
    assert rouge["empty"] == [0.0, 0.0]
    assert rouge["other_trip"][0] == rouge["other_trip"][1] < 1.0
    assert references["constant"].scored.rows["names_grounded"].to_list() == [0.0, 0.0]


@pytest.mark.parametrize("count", [2, 3, 50])
def test_each_trip_is_told_by_another_once_whatever_their_order(count):
    ids = pl.Series([f"t{k}" for k in range(count)])
    others = others_of(ids, seed=7)
    assert sorted(others) == list(range(count))
    assert all(row != other for row, other in enumerate(others))
    turned = others_of(ids.reverse(), seed=7)
    told = {ids[row]: ids[other] for row, other in enumerate(others)}
    assert {ids.reverse()[row]: ids.reverse()[other] for row, other in enumerate(turned)} == told
    assert others != others_of(ids, seed=8) or count < 4


def test_bertscore_is_an_option_and_names_its_encoder(folder):
    settings = CaptioningSettings(bertscore=True)
    scorer = CaptionScorer(open_release(folder), "test", settings, near=0.8)
    assert row_of(scorer, REFERENCE)["bertscore_f1"] == pytest.approx(1.0)
    assert len(scorer.options["encoder_sha256"]) == 64
    plain = CaptionScorer(open_release(folder), "test", SETTINGS, near=0.8)
    assert "encoder" not in plain.options
    assert "bertscore_f1" not in row_of(plain, REFERENCE)


def test_a_ground_of_another_release_and_a_missing_name_are_told(tmp_path):
    made = write_release(tmp_path / "toy/release", TRIPS)
    scorer = CaptionScorer(open_release(made), "test", SETTINGS, near=0.8)
    with pytest.raises(SourceError, match=r"contents\.json: expected the contents of the release"):
        scorer.measured(["", ""])
    (made / "contents.json").write_text(json.dumps({"name": "Toytown"}), "utf-8")
    other = pl.col("cell").reverse()
    rewrite(made / "ground/road_cells.parquet", other)
    with pytest.raises(ContractError, match="expected phases in the cells of its instance"):
        CaptionScorer(open_release(made), "test", SETTINGS, near=0.8).measured(["", ""])
