"""Every benchmark runs: each script of bench/ is started once, at its smallest size.

They run in a copy of the project whose one city has come to its end with twelve trips (made by
`bench/stages.py` itself), so nothing here touches bench/work or reads the data of the checkout.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest
import shapely

from bench.peers.osm_file import write_osm_file
from pipeline.artifacts import ARTIFACTS
from pipeline.stages import STAGES
from pipeline.stride.importers.states import write_states
from pipeline.stride.maps import maps_frame
from pipeline.stride.scenario_records import scenarios_frame
from pipeline.stride.simulate import GENERATORS
from pipeline.tables import write_table
from tests.bench.towns import square_town
from tests.language.models import QUIET_AND_SMALL, write_tiny_llama
from tests.stride.crowds import walkers
from tests.stride.places import person, role, scenario, square

ROOT = Path(__file__).resolve().parents[2]
TRIPS = "12"


def scripts() -> set[str]:
    """Return the files of bench/ that can be started, as paths without `.py`."""
    home = ROOT / "bench"
    return {
        str(file.relative_to(home).with_suffix(""))
        for file in [*home.glob("*.py"), *home.glob("peers/*.py")]
        if '__name__ == "__main__"' in file.read_text("utf-8")
    }


class Project:
    """A copy of the project in which benchmarks are started, each once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._said: dict[str, str] = {}
        left_out = shutil.ignore_patterns("work", "__pycache__")
        shutil.copytree(ROOT / "bench", root / "bench", ignore=left_out)
        for name in ("pipeline", "prompts", "schemas", "configs", "params.yaml", "tests"):
            (root / name).symlink_to(ROOT / name)
        (root / "data").mkdir()

    def put(self, name: str, frame: pl.DataFrame) -> None:
        """Write a table of all cities."""
        file = self.root / ARTIFACTS[name].place
        write_table(frame, file, ARTIFACTS[name], shown=file.name)

    def start(self, script: str, *arguments: str, expect: int = 0) -> str:
        """Start a script as its docstring says; return what it printed, both streams together."""
        file, module = f"bench/{script}.py", f"bench.{script}"
        as_module = f"python -m {module}" in (self.root / file).read_text("utf-8")
        started = ["-m", module] if as_module else [file]
        done = subprocess.run(
            [sys.executable, *started, *arguments],
            cwd=self.root, env=os.environ | QUIET_AND_SMALL, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == expect, done.stdout[-4000:]
        assert "Traceback" not in done.stdout
        return done.stdout

    def said(self, script: str) -> str:
        """Return what a script prints at its smallest size; it is started once."""
        if script not in self._said:
            self._said[script] = self.start(script, *map(str, SMALLEST[script].arguments(self)))
        return self._said[script]


class Smallest(NamedTuple):
    """How a script is started so that it takes seconds, and what it must print at least."""

    arguments: Callable[[Project], list[object]]
    prints: str


def _city(project: Project) -> list[object]:
    """Give the city whose trips the stages have been through."""
    project.said("stages")
    city = project.root / "data/helsinki"
    if city.is_symlink():
        city.unlink()
    if not city.exists():
        city.symlink_to(project.root / f"bench/work/stages/helsinki-{TRIPS}/data/helsinki")
    return ["--city", "helsinki", "--rounds", 1]


def _released(project: Project) -> list[object]:
    _city(project)
    return ["--trips", 40, 90]


def _ground(project: Project) -> list[object]:
    """Let the stages find the ground of the checkout, where it is built."""
    if (ROOT / "data/helsinki/names.parquet").exists():
        (project.root / "data/helsinki").symlink_to(ROOT / "data/helsinki")
    return ["--trips", TRIPS]


def _town(project: Project) -> list[object]:
    file = project.root / "town.osm.pbf"
    if not file.exists():
        write_osm_file(square_town(21, 200.0), file)
    return ["--trips", 2, "--sets", "sim15", "--pbf", file]


def _matched(project: Project) -> list[object]:
    project.said("match")
    home = project.root / "bench/work/data/town"
    return ["--network", home / "network.parquet", "--case", home / "sim15-2",
            "--result", home / "sim15-2/matched/ours"]  # fmt: skip


def _traces(project: Project) -> list[object]:
    """Write a made case and a taxi trip along a street of the town, and a track on two arcs."""
    _town(project)
    home, town = project.root / "cases", square_town(21, 200.0)
    street = town.head(1).with_columns(edge_id=pl.lit("s"))
    here, there = shapely.get_coordinates(shapely.from_wkb(street["geometry"].to_numpy()))
    place = [here + (there - here) * share for share in (0.1, 0.4, 0.6, 0.9)]
    home.mkdir()
    street.write_parquet(home / "network.parquet")
    pl.DataFrame({
        "trace_id": ["x"] * 4, "t": [0.0, 15.0, 30.0, 45.0],
        "lon": [lon for lon, _ in place], "lat": [lat for _, lat in place],
    }).write_parquet(home / "points.parquet")  # fmt: skip
    pl.DataFrame({
        "trace_id": ["x"], "case": ["standing"], "route": [["s"]], "u_turns": [0],
    }).write_parquet(home / "truth.parquet")  # fmt: skip
    taxi = project.root / "taxi.csv"
    polyline = json.dumps([list(one) for one in place])
    pl.DataFrame({"TIMESTAMP": [1000], "POLYLINE": [polyline]}).write_csv(taxi)
    track = project.root / "tracks/00000001"
    track.mkdir(parents=True)
    fixes = "".join(f"37.2{k:02d}\t56.00\t{6 * k}.0\n" for k in range(11))
    for kind, text in {
        "nodes": "37.20\t56.00\n37.21\t56.00\n", "arcs": "0\t1\n1\t0\n",
        "track": fixes, "route": "0\n",
    }.items():  # fmt: skip
        (track / f"00000001.{kind}").write_text(text)
    return ["--cases", home, "--pbf", project.root / "town.osm.pbf", "--taxi", taxi,
            "--tracks", track.parent]  # fmt: skip


def _maps(project: Project) -> list[object]:
    project.put("stride_maps", maps_frame([square().record]))
    return ["--people", 5, "--steps", 20, "--runs", 1]


def _walks(project: Project) -> list[object]:
    places = [(60.0, 30.0), (64.0, 30.0), (60.0, 34.0)]
    project.put("stride_maps", maps_frame([square().record]))
    project.put(
        "stride_scenarios",
        scenarios_frame([scenario([person(*at) for at in places], role("wander"))]),
    )
    for generator in GENERATORS:
        walk = walkers(places, [(0.0, 1.3)] * 3)
        write_states(walk, project.root / f"data/stride/trajectories/{generator}/0000/sim.npz")
    return []


def _model(project: Project) -> list[object]:
    model = write_tiny_llama(project.root / "tiny")
    return [model, "--requests", 2, "--window", 2, "--rounds", 1]


SMALLEST = {
    "accuracy": Smallest(_matched, '"f1": '),
    "agreement": Smallest(lambda _: ["--items", 100], "100 items by 3 raters: alpha"),
    "captions": Smallest(_city, r"captions; in a CPU second: ROUGE-L [\d,]+"),
    "cases": Smallest(
        _traces, r"(?s)standing +\| +1 \| +1 \|.*trips +\| +1 \| +1 .*60 s +\| 1.0000"
    ),
    "constrained_routes": Smallest(
        lambda _: ["--routes", 6, "--pbf", "none"], r"6 routes over 32,\d+ segments.*routes/CPU-s"
    ),
    "datasets": Smallest(_town, "sim15: 2 traces"),
    "ledger": Smallest(lambda _: ["--rows", 20, "--rounds", 1], "a run that finds all its answers"),
    "match": Smallest(lambda one: [*_town(one), "--rounds", 1, "--peers", ""], r"\| ours +\|"),
    "outage": Smallest(
        lambda _: ["--seconds", 1, "--requests", 6], "6 of 6 answered in one run.* the same$"
    ),
    "prompts": Smallest(_city, "messages and key"),
    "quality": Smallest(_city, "per CPU second in all stages"),
    "release": Smallest(_released, r"release +90 trips .* grows with trips\^"),
    "retrieval": Smallest(lambda _: ["--candidates", 60], "180 queries of 50 ranked"),
    "routes": Smallest(lambda _: ["--trips", 300, "--pbf", "none"], "300 trips"),
    "seals": Smallest(_city, r"(?m)^all +\d\.\d{3}$"),
    "stages": Smallest(_ground, rf"report +{TRIPS} trips"),
    "stride": Smallest(
        lambda _: ["--crowd", 20, 8, "--scenarios", 2, "--runs", 1], "2 scenarios of 41 people"
    ),
    "stride_compile": Smallest(lambda _: [], r"plain_texts.yaml: \d+ texts; sensible"),
    "stride_generators": Smallest(_maps, "wander 5"),
    "stride_warnings": Smallest(_walks, r"one missing +1 "),
    "task_routes": Smallest(
        lambda _: ["--pairs", 6, "--plain", 2, "--pbf", "none", "--peers", ""],
        r"(?s)6 pairs of 60 segments.*x plain Python.*in one pass",
    ),
    "template": Smallest(_city, "per CPU second"),
    "vllm_stage": Smallest(_model, r"window, ask\(\) and ledger"),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("bench"))


def test_every_script_has_a_smallest_size():
    # They answer orders: of `match` and of `task_routes`.
    assert scripts() - {"peers/worker", "peers/point_distances"} == set(SMALLEST)


@pytest.mark.parametrize("script", sorted(SMALLEST))
def test_a_script_runs_at_its_smallest_size(script: str, project: Project):
    assert re.search(SMALLEST[script].prints, project.said(script))


def test_the_stages_measured_are_all_that_go_through_the_trips(project: Project):
    measured = re.findall(r"^(\w+) .*trips/CPU-s", project.said("stages"), re.MULTILINE)
    ground = {"pull_osm", "pull_context", "roads", "cells", "names"}
    assert measured == [
        one.name for one in STAGES if one.name not in ground and not one.name.startswith("stride_")
    ]


@pytest.mark.parametrize("script", ["prompts", "quality", "seals", "template"])
def test_a_city_that_is_not_built_is_named_with_the_command(script: str, tmp_path: Path):
    said = Project(tmp_path).start(script, "--city", "monaco", expect=1)
    assert re.search(
        r"data/monaco/[\w.]+: not there, monaco is left out; `dvc repro \w+@monaco`", said
    )


@pytest.mark.parametrize(
    ("script", "lacks", "command"),
    [
        ("stride_generators", "data/stride/maps.parquet", "dvc repro stride_maps"),
        ("stride_warnings", "data/stride/trajectories", "dvc repro stride_simulate"),
    ],
)
def test_crowds_that_are_not_built_are_named_with_the_command(script, lacks, command, tmp_path):
    said = Project(tmp_path).start(script, expect=1)
    assert said == f"{lacks}: not there, nothing to measure; `{command}`\n"


def test_traces_that_are_not_there_are_one_line_each(tmp_path: Path):
    said = Project(tmp_path).start(
        "cases", *(f"--{name}=none" for name in ("cases", "taxi", "tracks"))
    )
    assert re.findall(r"^(.+): not available \(none is not there\)$", said, re.MULTILINE) == [
        "Made cases", "Taxi trips", "Recorded tracks",
    ]  # fmt: skip


def test_a_model_that_is_not_there_is_one_line(tmp_path: Path):
    said = Project(tmp_path).start("vllm_stage", "nowhere/at/all", expect=1)
    assert len(said.splitlines()) == 1
