"""Say on one page what a city's release holds, where it comes from and what was lost on the way.

data/contents/<city>.json   read by `publish`: all that card, metadata and checksums say of the city
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from pipeline.hashes import sha256_of


def sources_of(
    osm: dict[str, Any], context: dict[str, Any], traces: dict[str, str], *, traces_hash: str
) -> list[dict[str, Any]]:
    """Return the three sources of a city with version, hash, licence and credit line.

    Args:
        osm: Manifest of the extract.
        context: Manifest of places and land.
        traces: name, licence and attribution of the traces.
        traces_hash: Hash of their folder, as DVC computes it.
    """
    pulled = [
        {
            "what": what,
            "name": f"{manifest['kind']}: {manifest['locator']}",
            "release": manifest["release"],
            "licence": manifest["licence"],
            "attribution": manifest["attribution"],
            "hash": f"sha256:{manifest['sha256']}" if manifest["sha256"] else None,
        }
        for what, manifest in (("roads", osm), ("places", context))
    ]
    told = {"what": "traces", **traces, "release": None, "hash": f"md5:{traces_hash}"}
    return [*pulled, told]


def authors_of(records: pl.Series) -> list[dict[str, Any]]:
    """Count the trips of each engine, model, revision and prompt among records of these four."""
    frame, keys = records.struct.unnest(), records.struct.fields
    return frame.group_by(keys).agg(trips=pl.len()).sort(keys, nulls_last=True).to_dicts()


def made_by(
    annotation: dict[str, Any],
    check: dict[str, Any],
    selection: dict[str, Any],
    agreement: dict[str, Any],
) -> dict[str, Any]:
    """Return how the texts were written, verified, checked, selected and judged by several.

    Args:
        annotation: Record of `annotation_metrics`.
        check: Record of `check_metrics`.
        selection: Record of `selection_metrics`.
        agreement: Record of `agreement`.
    """
    return {
        "writing": {key: annotation[key] for key in ("shots", "sampling")},
        "verifier": check["verifier"],
        "quality_control": {key: check[key] for key in ("trips", "rejected", "rejected_by_rule")},
        "selection": selection,
        "agreement": agreement,
    }


def example_of(trips: Iterable[pl.DataFrame]) -> dict[str, str] | None:
    """Return one text of each task of the first trip; None without trips.

    Args:
        trips: Released trips, as `released_trips` joins them, some at a time.
    """
    first = next((some for some in trips if some.height), None)
    if first is None:
        return None
    trip = first.row(0, named=True)
    return {
        "trip_id": trip["trip_id"],
        "generation": trip["texts"]["instruction_literal"],
        "retrieval": trip["texts"]["retrieval_query_1"],
        "captioning": trip["texts"]["trajectory_caption"],
    }


def files_of(folders: Iterable[tuple[str, Path]]) -> list[dict[str, Any]]:
    """Return path, rows, bytes and hash of files, sorted by path; a JSON record is one row.

    Args:
        folders: Path within the release, and where that folder or file is now.
    """
    found = []
    for shown, place in folders:
        inner = sorted(place.glob("*.parquet")) if place.is_dir() else [place]
        found += [(f"{shown}/{file.name}" if place.is_dir() else shown, file) for file in inner]
    return [
        {
            "path": path,
            "rows": pq.ParquetFile(file).metadata.num_rows if file.suffix == ".parquet" else 1,
            "bytes": file.stat().st_size,
            "sha256": sha256_of(file),
        }
        for path, file in sorted(found)
    ]
