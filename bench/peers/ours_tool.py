"""The matcher of this repository, with the settings of params.yaml and any variants asked for."""

from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from bench.peers.frames import Matched
from pipeline.trips.matching.matcher import Matcher
from pipeline.trips.matching.network import Network
from pipeline.trips.matching.path_table import PathTable
from pipeline.trips.matching.settings import MatchSettings

NETWORK_COLUMNS = ("edge_id", "u", "v", "length_m", "speed_kph", "geometry")


class Ours:
    """One matcher a variant; variants that want the same path table share it."""

    def __init__(
        self, network: pl.DataFrame, folder: Path, variants: dict[str, dict[str, Any]]
    ) -> None:
        del folder
        self.variants = tuple(variants)
        net = Network.from_frame(network.select(NETWORK_COLUMNS))
        tables: dict[tuple[float, float], PathTable] = {}
        self.matchers = {}
        for name, section in variants.items():
            settings = msgspec.convert(section, MatchSettings)
            reach = (settings.table_bound_m, settings.table_max_mb)
            if reach not in tables:
                tables[reach] = PathTable.build(net, bound_m=reach[0], max_mb=reach[1], workers=1)
            self.matchers[name] = Matcher(net, settings, tables[reach])

    def match(self, points: pl.DataFrame, variant: str, workers: int) -> Matched:
        """Match all traces in one call."""
        result = self.matchers[variant].match(points, workers=workers)
        return Matched(result.path, result.points)
