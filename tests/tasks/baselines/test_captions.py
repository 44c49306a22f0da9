"""Captions without a model: the grammar tells the way, the nearest trip lends its caption."""

import polars as pl
import pytest

from pipeline.tasks.baselines.captioning import NearestCaption, TemplateCaptioner
from pipeline.tasks.released import open_release
from tests.tasks.town import Trip, write_release

# The second drives all but the last block of the first, the third elsewhere.
TRIPS = (
    Trip("near", "train", (0, 1, 2, 12, 22)),
    Trip("far", "train", (40, 41, 42, 43, 44)),
    Trip("asked", "test", (0, 1, 2, 12, 22, 32)),
)


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    folder = write_release(tmp_path_factory.mktemp("town") / "toy/release", TRIPS)
    file = folder / "captioning/train.parquet"
    train = pl.read_parquet(file)
    told = pl.struct(pl.concat_str(pl.lit("Caption of "), "trip_id").alias("caption"))
    train.with_columns(target=told).write_parquet(file)
    return open_release(folder).for_models("captioning")


def test_the_caption_of_the_trip_that_shares_most_cells_is_copied(view):
    found = NearestCaption().predict(view, "test")
    assert found.rows() == [("toy/asked/captioning/1", "Caption of near")]


def test_the_grammar_tells_start_and_end_of_the_path(view):
    (caption,) = TemplateCaptioner().predict(view, "test")["caption"]
    assert "Street 1" in caption
    assert "Street 103" in caption


def test_without_instances_there_are_no_captions(view):
    for model in (NearestCaption(), TemplateCaptioner()):
        assert model.predict(view, "val").is_empty()
