"""Build the benchmark's sets and lay them out as files any matcher can be run on.

    python -m bench.datasets --trips 400 --sets sim15,porto
    -> bench/work/data/porto_city_2022/network.parquet
                                      /sim15-400/{points,path,fixes,trips}.parquet
                                      /porto/points.parquet

`points.parquet` with `network.parquet` is the input of `match-file`; `path`, `fixes` and `trips`
are the truth (absent for real trips without one).
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from bench.network import read_osm_network
from bench.simulate import PLANS, simulate
from bench.tracks import read_taxi_trips, read_track, read_track_network

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data"
WORK = ROOT / "bench" / "work"
SEED = 20_130_701
TRUTH = ("path", "fixes", "trips")
KUBICKA_INTERVALS_S = {"kubicka15": 15.0, "kubicka30": 30.0, "kubicka60": 60.0}
SETS = ("sim15", "sim60", "sim5", "kubicka", "porto")


class Case(NamedTuple):
    """One network and one set of points on it, as folders of parquet files."""

    set_name: str
    network: Path
    folder: Path

    def points(self) -> pl.DataFrame:
        """Return the points: `trace_id, t, lon, lat`."""
        return pl.read_parquet(self.folder / "points.parquet")

    def truth(self) -> dict[str, pl.DataFrame]:
        """Return the truth frames that exist, by name (`path`, `fixes`, `trips`)."""
        files = {name: self.folder / f"{name}.parquet" for name in TRUTH}
        return {name: pl.read_parquet(file) for name, file in files.items() if file.exists()}


def build_cases(
    sets: tuple[str, ...], *, trips: int, pbf: Path, work: Path = WORK
) -> Iterator[Case]:
    """Write the sets that are not there yet and yield their cases, one network after another.

    Args:
        sets: Names out of `SETS`; `kubicka` yields three thinnings of each track.
        trips: Number of simulated trips (a quarter of it for `sim5`, whose trips hold most points).
        pbf: OSM file of the simulated and the taxi sets.
        work: Folder for the files.
    """
    on_city = [name for name in sets if name != "kubicka"]
    if on_city:
        yield from _city_cases(on_city, trips=trips, pbf=pbf, work=work)
    if "kubicka" in sets:
        yield from _track_cases(work)


def _city_cases(names: list[str], *, trips: int, pbf: Path, work: Path) -> Iterator[Case]:
    home = work / "data" / pbf.name.removesuffix(".pbf").removesuffix(".osm")
    network_file = home / "network.parquet"
    if not network_file.exists():
        _write(read_osm_network(pbf), network_file)
    network = pl.read_parquet(network_file)
    for name in names:
        count = max(trips // 4, 1) if name == "sim5" else trips
        folder = home / (name if name == "porto" else f"{name}-{count}")
        if not (folder / "points.parquet").exists():
            if name == "porto":
                frames = {"points": read_taxi_trips(SHARED / "porto" / "train_first999.csv")}
            else:
                frames = simulate(network, PLANS[name], trips=count, seed=SEED)._asdict()
            for part in (*TRUTH, "points"):
                if part in frames:
                    _write(frames[part], folder / f"{part}.parquet")
        yield Case(name, network_file, folder)


def _track_cases(work: Path) -> Iterator[Case]:
    for trace_id, source in enumerate(sorted((SHARED / "kubicka").iterdir())):
        home = work / "data" / f"kubicka-{source.name}"
        network_file = home / "network.parquet"
        if not network_file.exists():
            _write(read_track_network(source), network_file)
        for name, interval_s in KUBICKA_INTERVALS_S.items():
            folder = home / name
            if not (folder / "points.parquet").exists():
                points, route = read_track(source, interval_s=interval_s, trace_id=trace_id)
                path = route.to_frame().with_row_index("seq").select(
                    pl.lit(trace_id, dtype=pl.Int64).alias("trace_id"), "seq", "edge_id"
                )  # fmt: skip
                _write(path, folder / "path.parquet")
                _write(points, folder / "points.parquet")
            yield Case(name, network_file, folder)


def _write(frame: pl.DataFrame, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    frame.write_parquet(part)
    part.replace(file)


def add_set_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that choose the sets; `bench.match` shares them."""
    parser.add_argument("--trips", type=int, default=2000, help="simulated trips")
    parser.add_argument("--sets", default=",".join(SETS), help=f"some of {','.join(SETS)}")
    parser.add_argument("--pbf", type=Path, default=SHARED / "porto" / "porto_city_2022.osm.pbf")


def main() -> None:
    """Write the sets asked for and name their folders."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    add_set_arguments(parser)
    asked = parser.parse_args()
    for case in build_cases(tuple(asked.sets.split(",")), trips=asked.trips, pbf=asked.pbf):
        points = case.points()
        print(f"{case.set_name}: {points['trace_id'].n_unique()} traces, {len(points)} points")
        print(f"    network {case.network}\n    folder  {case.folder}")


if __name__ == "__main__":
    main()
