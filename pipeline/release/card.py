"""Write the card of the release: what is in it, where it comes from, what was lost.

data/release/README.md   from pipeline/release/card.md; no number in it is typed, all come from
                         params.yaml and the contents of the cities
"""

import hashlib
import json
from functools import reduce
from pathlib import Path
from string import Template
from typing import Any

from pipeline.artifacts import ARTIFACTS
from pipeline.release.figures import TASKS
from pipeline.release.loss_table import markdown_table
from pipeline.release.making import agreed, making, scores
from pipeline.release.markdown import figure, grid, part_of
from pipeline.release.publication import Publication, listed, roles_of
from pipeline.release.splits import SPLITS

TABLES = (*TASKS, "candidates")
# Of what a release is made of, what a reader may want to fetch as well.
_MADE_OF = ("matched", "checked", "judged", "selected", "loss")
_RECORDED = (
    "What this release is made of, the traces among it, is what `dvc.lock` records. First digits of"
    " the md5 of each city's tables (`contents.json` has them whole, of all files, with the paths"
    " that `dvc get` takes):"
)
# A split to show how to load: the first of these that has rows.
LOADED = ("test", "val", "train")
_LOAD = """\
```python
from datasets import load_dataset

rows = load_dataset(".", "$config", split="$split")  # "." is this folder
print(rows[0]["input"])
```"""
_TEMPLATE = Path(__file__).with_name("card.md")
_SHARED = ("same_segments", "same_cells", "near")
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def card(publication: Publication) -> str:
    """Return the text of the card, with the YAML head that data hubs and `datasets` read."""
    settings, cities = publication.settings, publication.cities
    first = max(cities, key=lambda one: [_rows(one, "generation", s) > 0 for s in LOADED])
    body = Template(_TEMPLATE.read_text("utf-8")).substitute(
        title=settings.title,
        version=settings.version,
        date=settings.date,
        summary=publication.summary(),
        notices="\n>\n".join(f"> **{line}**" for line in _notices(publication)),
        load=_load(first),
        example_file=publication.path(first, "generation/test.parquet"),
        instance=_instance(first),
        tables=_tables(cities),
        authors=grid(
            ["city", "", "engine", "model", "revision", "prompt files", "trips"],
            [
                [one["city"], role, author["engine"], author["model"], author["revision"],
                 (author["prompt_hash"] or "none")[:12], author["trips"]]
                for one in cities
                for role, author in roles_of(one)
            ],
        ),
        making=making(cities),
        scores=scores(cities),
        agreed=agreed(cities),
        loss=markdown_table([one["loss"] for one in cities]),
        sharing=_sharing(cities),
        near=f"{cities[0]['release']['shared_with_train']['near_jaccard']:g}",
        sizes=_sizes(cities),
        licence=settings.licence.id,
        licence_url=settings.licence.url,
        sources=grid(
            ["city", "what", "source", "version", "hash", "licence", "credit"],
            [
                [one["city"], source["what"], source["name"], source["release"] or "",
                 f"`{source['hash']}`" if source["hash"] else "", source["licence"],
                 source["attribution"]]
                for one in cities
                for source in one["sources"]
            ],
        ),
        recorded=_recorded(cities),
        limits="\n".join(f"- {line}" for line in [*publication.limits(), *publication.privacy()]),
        cite_as=settings.cite_as,
    )  # fmt: skip
    return _head(publication) + body


def _head(publication: Publication) -> str:
    """Return the YAML head; values are JSON, which YAML reads. Splits without rows are left out."""
    settings = publication.settings
    instances = sum(one["loss"]["released"]["instances"] for one in publication.cities)
    size = next((name for most, name in _SIZES if instances < most), "n>1M")
    lines = [
        "---",
        f"pretty_name: {json.dumps(settings.title, ensure_ascii=False)}",
        f"license: {settings.licence.hub}",
        'language: ["en"]',
        f"size_categories: [{json.dumps(size)}]",
        'tags: ["trajectories", "urban mobility", "navigation", "retrieval", "captioning"]',
        "configs:",
    ]
    for one in publication.cities:
        for table in TABLES:
            parts = [split for split in SPLITS if _rows(one, table, split)]
            if not parts:
                continue
            files = [_file(one, table, split) for split in parts]
            lines += [
                f"- config_name: {one['city']}-{table}",
                f"  version: {json.dumps(_version(settings.version, files))}",
                "  data_files:",
            ]
            for split, file in zip(parts, files, strict=True):
                path = publication.path(one, file["path"])
                lines += [f"  - split: {split}", f"    path: {json.dumps(path)}"]
    return "\n".join([*lines, "---", "", ""])


def _version(release: str, files: list[dict[str, Any]]) -> str:
    """Return the version of a config: two numbers of the release's, and one of its files' hashes.

    `datasets` keeps what it loaded of a folder by name and version of the config, and looks neither
    at the folder's path nor into its files: equal versions would be served the rows of old.
    """
    content = hashlib.sha256("".join(file["sha256"] for file in files).encode()).hexdigest()
    major, minor, _ = release.split(".")
    return f"{major}.{minor}.{int(content[:8], 16)}"


def _load(first: dict[str, Any]) -> str:
    """Say how to load the first table that has rows, by its split `test` where that has some."""
    split = next((one for one in LOADED if _rows(first, "generation", one)), None)
    if split is None:
        return "No trip was released, so there is nothing to load."
    return Template(_LOAD).substitute(config=f"{first['city']}-generation", split=split)


def _tables(cities: list[dict[str, Any]]) -> str:
    """List the tables that can be loaded, and the cities that have none."""
    rows = []
    for one in cities:
        for table in TABLES:
            counts = [_rows(one, table, split) for split in SPLITS]
            if any(counts):
                rows.append([f"`{one['city']}-{table}`", *counts, _unit(table)])
    said = [grid(["config", *SPLITS, "one row"], rows)] if rows else []
    empty = [f"`{one['city']}`" for one in cities if not one["loss"]["released"]["trips"]]
    if empty and rows:
        said.append(f"No trip of {listed(empty)} was released, so there is no table of it to load.")
    return "\n\n".join(said)


def _notices(publication: Publication) -> list[str]:
    said = [publication.traces_in_words()]
    engines = {one["engine"] for record in publication.cities for one in record["writers"]}
    if "template" in engines:
        said.append("Texts of the engine `template` are written by a grammar, not by a model.")
    return said


def _instance(record: dict[str, Any]) -> str:
    """Quote the texts of the city's example."""
    example = record["example"]
    if example is None:
        return "(there is none)"
    return "\n>\n".join(f"> *{task}*: {example[task]}" for task in TASKS)


def _rows(record: dict[str, Any], table: str, split: str) -> int:
    return int(_file(record, table, split)["rows"])


def _file(record: dict[str, Any], table: str, split: str) -> dict[str, Any]:
    path = f"{table}/{split}.parquet"
    return next(file for file in record["files"] if file["path"] == path)


def _unit(table: str) -> str:
    return {
        "generation": "an instruction and its path",
        "retrieval": "a query and its trip",
        "captioning": "a path and its caption",
        "candidates": "a trip of the pool",
    }[table]


def _sharing(cities: list[dict[str, Any]]) -> str:
    rows = []
    for one in cities:
        figures = one["release"]
        for split, other in (("val", "test"), ("test", "val")):
            pool = figures["same_route_in_pool"][split]
            for known, shared in (
                ("train", figures["shared_with_train"][split]),
                (other, figures["shared_val_and_test"][split]),
            ):
                cells = [part_of(shared[name], shared["trips"]) for name in _SHARED]
                twins = part_of(pool, shared["trips"]) if known == "train" else ""
                rows.append([one["city"], split, shared["trips"], known, *cells, twins])
    heads = ["city", "split", "trips", "known from", "same segments", "same cells", "near", "twins"]
    return grid(heads, rows)


def _sizes(cities: list[dict[str, Any]]) -> str:
    trips = ("segments", "cells", "length_m", "duration_s", "score")
    measures: list[tuple[str, tuple[str, ...]]]
    measures = [(f"{name} of a trip", ("trips", name)) for name in trips]
    measures += [(f"words, {task}", ("texts", task, "words")) for task in TASKS]
    rows: list[list[Any]] = []
    for name, keys in measures:
        values = [reduce(dict.__getitem__, keys, one["release"]).values() for one in cities]
        rows.append([name, *(" / ".join(map(figure, three)) for three in values)])
    for task in TASKS:
        names = [one["release"]["texts"][task] for one in cities]
        cells = [part_of(one["grounded"], one["names"]) for one in names]
        rows.append([f"names on the route, {task}", *cells])
    return grid(["10th / 50th / 90th percentile", *(one["city"] for one in cities)], rows)


def _recorded(cities: list[dict[str, Any]]) -> str:
    """Say what dvc.lock records of what the releases are made of, and of whom it was not read."""
    rows, without = [], []
    for one in cities:
        if one["recorded"] is None:
            without.append(f"`{one['city']}`")
            continue
        md5 = {entry["path"]: entry["md5"] for entry in one["recorded"]}
        places = [ARTIFACTS[name].place.format(city=one["city"]) for name in _MADE_OF]
        rows.append([one["city"], *(f"`{md5[place][:12]}`" for place in places)])
    said = []
    if rows:
        said += [_RECORDED, grid(["city", *_MADE_OF], rows)]
    if without:
        said.append(f"The release of {listed(without)} was not held to a `dvc.lock`.")
    return "\n\n".join(said)
