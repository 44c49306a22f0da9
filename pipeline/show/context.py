"""What a city's context knows near a trip: named places, and the credit its sources ask for.

named_places(tables, (7.41, 43.72, 7.43, 43.74))  ->  name, category, lon, lat
attributions(tables)                              ->  ["(c) OpenStreetMap contributors"]
"""

from typing import Any

import polars as pl

from pipeline.metrics import read_metrics
from pipeline.params import Parameters
from pipeline.show.shards import CityTables

OSM_CREDIT = "(c) OpenStreetMap contributors"


def named_places(tables: CityTables, cells: list[str]) -> pl.DataFrame:
    """Return the places of some cells that have a name, sorted by it.

    Returns:
        Columns name, category (empty where unknown), lon, lat; no rows where the city's cells
        were never made.
    """
    if not tables.files("cells"):
        return pl.DataFrame(
            schema={"name": pl.String, "category": pl.String, "lon": pl.Float64, "lat": pl.Float64}
        )
    near = tables.scan("cells").filter(pl.col("cell").is_in(cells)).select("pois")
    places = near.explode("pois", empty_as_null=False).unnest("pois")
    named = places.filter(pl.col("name").is_not_null()).sort("name", "id")
    words = pl.col("category").fill_null("").str.replace_all("_", " ")
    return tables.collect(named.select("name", words, "lon", "lat"), "cells")


def attributions(tables: CityTables) -> list[str]:
    """Return the credit lines of the city's sources, each once: manifests first, then the traces.

    Streets are OpenStreetMap data, so its credit is given whatever the manifests say.
    """
    lines: list[str | None] = []
    for name in ("osm_manifest", "context_manifest"):
        manifest = read_metrics(tables.root, tables.city, name)
        lines.append(None if manifest is None else manifest.get("attribution"))
    lines.append(_trace_credit(tables))
    told = list(dict.fromkeys(line for line in lines if line))
    return told if any("OpenStreetMap" in line for line in told) else [OSM_CREDIT, *told]


def _trace_credit(tables: CityTables) -> str | None:
    """Return the credit of the GPS traces that the city's config states."""
    parameters = Parameters(tables.root)
    if "traces" not in parameters.config_keys(tables.city):
        return None
    traces = parameters.config(tables.city, "traces", dict[str, Any])
    # Simulated traces have no source of their own: their credit is the network's.
    return str((traces.get("source") or {}).get("attribution") or "") or None
