"""Compile the matcher ahead of its first use: `python -m pipeline.trips.matching`.

Takes about a minute once; later runs, and all other commands, find the compiled code on disk.
"""

import time
from pathlib import Path

import polars as pl
import shapely

from pipeline.params import section_of
from pipeline.trips.matching.matcher import Matcher
from pipeline.trips.matching.network import Network
from pipeline.trips.matching.path_table import PathTable
from pipeline.trips.matching.settings import MatchSettings


def compile_matcher(settings: MatchSettings) -> float:
    """Match one trace on one street, which compiles all there is; return the seconds it took."""
    began = time.monotonic()
    street = shapely.LineString([(7.42, 43.73), (7.43, 43.74)])
    network = Network.from_frame(
        pl.DataFrame(
            {
                "edge_id": ["there", "back"],
                "u": [1, 2],
                "v": [2, 1],
                "length_m": [1372.0, 1372.0],
                "speed_kph": [30.0, 30.0],
                "geometry": [shapely.to_wkb(street), shapely.to_wkb(street.reverse())],
            }
        )
    )
    points = pl.DataFrame(
        {
            "trace_id": ["one"] * 3,
            "t": [0.0, 60.0, 120.0],
            "lon": [7.421, 7.425, 7.429],
            "lat": [43.731, 43.735, 43.739],
        }
    )
    table = PathTable.build(network, bound_m=settings.table_bound_m, max_mb=settings.table_max_mb)
    Matcher(network, settings, table).match(points)
    return time.monotonic() - began


if __name__ == "__main__":
    project = Path(__file__).resolve().parents[3]
    seconds = compile_matcher(section_of(project / "params.yaml", "match", MatchSettings))
    print(f"matcher compiled in {seconds:.0f} s")
