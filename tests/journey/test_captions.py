"""The captions of the default cities, scored as if a model had written them."""

import json

import polars as pl
import pytest

CITIES = ("helsinki", "monaco")
PERFECT = ("rouge_l", "rouge_l_ascii", "poi_recall", "location_recall", "names_grounded")
FALSE = ("names_off_route", "names_invented", "claims_contradicted")


@pytest.mark.parametrize("city", CITIES)
def test_every_reference_is_like_itself_and_true_of_its_trip(project, city):
    release = project.root / "data/release" / city
    instances = pl.read_parquet(release / "captioning/train.parquet")
    file, report = project.root / f"out/{city}.jsonl", project.root / f"out/{city}.json"
    file.parent.mkdir(exist_ok=True)
    caption = pl.col("target").struct.field("caption")
    instances.select("instance_id", caption=caption).write_ndjson(file)
    project.pipeline(
        "tasks", "score", "captioning", "--split", "train", "--release", str(release),
        "--pred", str(file), "--out", str(report), "--option", "bertscore=false",
    )  # fmt: skip
    means = {one["name"]: one["mean"] for one in json.loads(report.read_text("utf-8"))["measures"]}
    assert [means[name] for name in PERFECT] == pytest.approx([1.0] * len(PERFECT), abs=1e-3)
    assert [means[name] for name in FALSE] == [0.0] * len(FALSE)
