"""A process that holds one matcher and answers one JSON line for each JSON line it is given.

    {"do": "load", "network": "...", "folder": "..."}            ->  {"cpu_s": 9.1, "peak_mb": 812}
    {"do": "match", "points": "...", "variant": "k8", ...}       ->  {"cpu_s": 1.2, "wall_s": 1.3}

Timed is the matching alone, frame in and frame out: reading and writing files is not.
"""

import argparse
import importlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO, TypeVar

import polars as pl

from bench.peers.frames import Matched, Tool

Made = TypeVar("Made")
TOOLS = {
    "ours": ("bench.peers.ours_tool", "Ours"),
    "fastmm": ("bench.peers.fastmm_tool", "FastMM"),
    "osrm": ("bench.peers.osrm_tool", "Osrm"),
    "valhalla": ("bench.peers.valhalla_tool", "Valhalla"),
}


def main() -> None:
    """Serve one matcher until the input ends."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("tool", choices=sorted(TOOLS))
    parser.add_argument("--options", default="{}", help="JSON of extra arguments of the adapter")
    asked = parser.parse_args()
    answers = _private_stdout()
    module, name = TOOLS[asked.tool]
    make = getattr(importlib.import_module(module), name)
    options = json.loads(asked.options)
    _answer(answers, {"ready": asked.tool})
    tool: Tool | None = None
    for line in sys.stdin:
        order = json.loads(line)
        _bind(order["cores"])
        if order["do"] == "load":
            tool = None
            tool, cost = _load(make, options, order)
            _answer(answers, cost | {"variants": tool.variants})
        else:
            _answer(answers, _match(tool, order))


def _load(
    make: Callable[..., Tool], options: dict[str, Any], order: dict[str, Any]
) -> tuple[Tool, dict[str, float]]:
    network = pl.read_parquet(order["network"])
    warm_up = pl.read_parquet(order["points"])
    warm_up = warm_up.filter(pl.col("trace_id") == warm_up["trace_id"][0])
    folder = Path(order["folder"])
    folder.mkdir(parents=True, exist_ok=True)
    tool, cost = _timed(lambda: make(network, folder, **options))
    for variant in tool.variants:
        tool.match(warm_up, variant, 1)
    return tool, cost


def _match(tool: Tool | None, order: dict[str, Any]) -> dict[str, float]:
    if tool is None:
        raise RuntimeError("match asked before load")
    points = pl.read_parquet(order["points"])
    matched, cost = _timed(lambda: tool.match(points, order["variant"], order["workers"]))
    if order.get("out"):
        _write(matched, Path(order["out"]))
    return cost


def _write(matched: Matched, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in matched._asdict().items():
        frame.write_parquet(folder / f"{name}.parquet")


def _timed(work: Callable[[], Made]) -> tuple[Made, dict[str, float]]:
    """Run `work` and return what it made with its CPU (children included), wall and peak memory."""
    before, start = _cpu_s(), time.perf_counter()
    made = work()
    return made, {
        "cpu_s": _cpu_s() - before,
        "wall_s": time.perf_counter() - start,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _bind(cores: list[int]) -> None:
    """Bind all threads there are, those of the libraries included, to the cores."""
    for thread in Path("/proc/self/task").iterdir():
        os.sched_setaffinity(int(thread.name), cores)


def _cpu_s() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _private_stdout() -> TextIO:
    """Keep the real standard output for answers; whatever libraries print goes to stderr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def _answer(answers: TextIO, content: dict[str, Any]) -> None:
    answers.write(json.dumps(content) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
