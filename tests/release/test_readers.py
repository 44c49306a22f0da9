"""The release opens with the libraries its users have: `datasets` and `mlcroissant`."""

import json
import logging
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from tests.release.project import lay_city, make_project, place, read, release

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


@pytest.fixture
def built(tmp_path) -> Path:
    """A project with one released city, which a test may build anew."""
    root = make_project(tmp_path / "p", large=range(40))
    release(root, "large")
    return root


@pytest.mark.parametrize("mode", ["reuse_dataset_if_exists", "force_redownload"])
def test_a_release_that_was_built_anew_is_not_served_from_the_cache(built, datasets, mode):
    folder = built / "data/release"
    before = datasets.load_dataset(str(folder), "large-generation")
    lay_city(built, "large", [*range(1, 33)])
    release(built, "large")
    after = datasets.load_dataset(str(folder), "large-generation", download_mode=mode)
    for split in SPLITS:
        rows = pl.read_parquet(folder / f"large/generation/{split}.parquet").to_dicts()
        assert after[split].to_list() == rows
    assert sum(after.num_rows.values()) == 3 * 32 < sum(before.num_rows.values())


def test_one_text_that_differs_is_loaded_anew_and_what_is_the_same_keeps_its_version(
    built, datasets
):
    folder = built / "data/release"
    versions = [version_of(datasets, folder, table) for table in ("generation", "captioning")]
    told = place(built, "large", "checked") / "part-00000.parquet"
    caption = pl.col("texts").struct.with_fields(trajectory_caption=pl.lit("Another."))
    pl.read_parquet(told).with_columns(texts=caption).write_parquet(told)
    datasets.load_dataset(str(folder), "large-captioning")
    release(built, "large")
    loaded = datasets.load_dataset(str(folder), "large-captioning", split="train")
    assert {row["caption"] for row in loaded["target"]} == {"Another."}
    assert version_of(datasets, folder, "generation") == versions[0]
    assert version_of(datasets, folder, "captioning") != versions[1]


def test_the_version_of_a_config_begins_with_that_of_the_release(built, datasets):
    major, minor, _ = json.loads((built / "data/release/croissant.json").read_text("utf-8"))[
        "version"
    ].split(".")
    version = version_of(datasets, built / "data/release", "retrieval")
    assert re.fullmatch(rf"{major}\.{minor}\.[0-9]+", version)


def version_of(datasets, folder: Path, table: str) -> str:
    return str(datasets.load_dataset_builder(str(folder), f"large-{table}").config.version)


def test_the_head_of_the_card_is_taken_by_the_hubs_own_reader_with_nothing_left_out(
    built, datasets
):
    from huggingface_hub import DatasetCard  # noqa: PLC0415

    data = DatasetCard.load(built / "data/release/README.md").data
    fields = datasets.BuilderConfig.__dataclass_fields__
    assert all(set(one) - {"config_name"} <= set(fields) for one in data.configs)
    assert [one["config_name"] for one in data.configs] == [f"large-{table}" for table in TABLES]


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
