"""The release opens with the libraries its users have: `datasets` and `mlcroissant`."""

import json
import logging
import shutil
from pathlib import Path

import polars as pl
import pytest

from tests.release.project import lay_city, make_project, read, release

# Of libraries within mlcroissant.
pytestmark = [
    pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated"),
    pytest.mark.filterwarnings("ignore:The inplace keyword"),
]
SPLITS = ("train", "val", "test")
TABLES = ("generation", "retrieval", "captioning", "candidates")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A release of two cities; `small` has so few trips that a split of it is empty."""
    root = make_project(tmp_path_factory.mktemp("readers") / "p", large=range(40), small=[])
    lay_city(root, "small", [4, 5])
    return release(root, "large", "small")


@pytest.fixture
def datasets(tmp_path, monkeypatch):
    """The library, with a cache of its own and no way to the network."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets as library  # noqa: PLC0415 - reads its settings as it is imported

    monkeypatch.setattr(library.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    library.disable_progress_bars()
    return library


@pytest.mark.parametrize("table", TABLES)
def test_each_table_loads_by_its_name_with_every_row(folder, datasets, table):
    loaded = datasets.load_dataset(str(folder), f"large-{table}")
    assert set(loaded) == set(SPLITS)
    for split in SPLITS:
        expected = pl.read_parquet(folder / f"large/{table}/{split}.parquet")
        assert loaded[split].to_list() == expected.to_dicts()


def test_a_citys_own_folder_loads_by_itself(folder, datasets, tmp_path):
    alone = shutil.copytree(folder / "large", tmp_path / "got")
    loaded = datasets.load_dataset(str(alone), "large-generation", split="test")
    assert loaded.num_rows == pl.read_parquet(alone / "generation/test.parquet").height


def test_a_split_without_trips_is_not_offered(folder, datasets):
    filled = {split for split in SPLITS if _height(folder, split)}
    assert filled < set(SPLITS)
    assert set(datasets.load_dataset(str(folder), "small-generation")) == filled


def _height(folder: Path, split: str) -> int:
    return pl.read_parquet(folder / f"small/generation/{split}.parquet").height


def test_types_are_explicit_even_where_a_file_has_no_row(folder):
    types = {pl.read_parquet(f).schema.to_python() == {} for f in folder.rglob("*.parquet")}
    assert types == {False}
    schemas = [
        pl.read_parquet_schema(folder / f"small/retrieval/{split}.parquet") for split in SPLITS
    ]
    assert schemas[0] == schemas[1] == schemas[2]


def test_the_head_of_the_card_is_yaml_and_names_existing_files(folder):
    import yaml  # noqa: PLC0415

    head = (folder / "README.md").read_text("utf-8").split("---\n")[1]
    meta = yaml.safe_load(head)
    assert meta["license"] == "odbl"
    for config in meta["configs"]:
        for part in config["data_files"]:
            assert (folder / part["path"]).is_file()


@pytest.fixture
def croissant(caplog):
    """The library; it logs what it misses as warnings."""
    caplog.set_level(logging.WARNING)
    import mlcroissant  # noqa: PLC0415 - slow

    return mlcroissant


@pytest.mark.parametrize("inner", ["", "large"])
def test_the_metadata_is_accepted_without_an_error_or_a_warning(folder, croissant, caplog, inner):
    file = folder / inner / "croissant.json"
    metadata = croissant.Dataset(jsonld=str(file)).metadata
    assert metadata.ctx.issues.errors == set()
    assert metadata.ctx.issues.warnings == set()
    assert not caplog.records
    assert json.loads(file.read_text("utf-8"))["conformsTo"].endswith("/1.1")


def test_records_read_through_the_metadata_are_those_of_the_files(folder, croissant):
    dataset = croissant.Dataset(jsonld=str(folder / "croissant.json"))
    name = "large-generation-test"
    rows = list(dataset.records(name))
    expected = pl.read_parquet(folder / "large/generation/test.parquet").to_dicts()
    assert len(rows) == len(expected)
    for row, want in zip(rows, expected, strict=True):
        inner = row[f"{name}/input"]
        assert inner[f"{name}/input/instruction"].decode() == want["input"]["instruction"]
        edges = row[f"{name}/target"][f"{name}/target/edge_ids"]
        assert [edge.decode() for edge in edges] == want["target"]["edge_ids"]
        mentions = row[f"{name}/evidence/mentions"]
        assert mentions[0][f"{name}/evidence/mentions/phase"] == 1
        scores = row[f"{name}/provenance/judge/scores"]
        assert scores[f"{name}/provenance/judge/scores/correctness"] == 5


def test_a_file_that_is_not_the_one_described_is_refused(folder, croissant, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    other = copy / "large/candidates/test.parquet"
    shutil.copy(copy / "large/candidates/train.parquet", other)
    dataset = croissant.Dataset(jsonld=str(copy / "croissant.json"))
    with pytest.raises(croissant.GenerationError) as fault:
        list(dataset.records("large-candidates-test"))
    assert "is not identical with the reference" in str(fault.value.__cause__)


def test_the_metadata_says_from_what_and_by_whom_it_was_made(folder):
    document = json.loads((folder / "croissant.json").read_text("utf-8"))
    sources = document["prov:wasDerivedFrom"]
    assert {one["license"] for one in sources} >= {"ODbL-1.0"}
    assert all(one["creditText"] for one in sources)
    agents = {one["prov:wasAssociatedWith"]["name"] for one in document["prov:wasGeneratedBy"]}
    assert agents == {"template", "rules"}
    hashes = {one["@id"]: one["sha256"] for one in document["distribution"]}
    listed = dict(
        reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text().splitlines()
    )
    assert hashes.items() <= listed.items()
    assert read(folder / "large", "candidates").height == 40
