"""Start a matcher in a process of its own and give it orders.

with Process("fastmm", python, cores=(1,)) as peer: peer.match(case, "k16", out=folder)
"""

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bench.datasets import ROOT, Case
from bench.side_env import side_python

ON_SIDE = ("osrm", "valhalla")


class UnavailableError(Exception):
    """A matcher cannot be run here; the message says why."""


class Process:
    """One matcher in its own process, bound to the cores given with every order."""

    def __init__(self, tool: str, work: Path, options: dict[str, Any]) -> None:
        """Start the process.

        Raises:
            UnavailableError: Its environment cannot be made or its package cannot be imported.
        """
        self.tool = tool
        self.work = work
        self.variants: tuple[str, ...] = ()
        self.startup: dict[str, float] = {}
        self._loaded: Path | None = None
        try:
            python = str(side_python(work)) if tool in ON_SIDE else sys.executable
        except (OSError, subprocess.CalledProcessError) as fault:
            raise UnavailableError(f"no Python 3.12 environment: {fault}") from fault
        log = work / "logs" / f"{tool}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log.open("w")
        self._process = subprocess.Popen(
            [python, "-m", "bench.peers.worker", tool, "--options", json.dumps(options)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self._answer()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait()
        self._log.close()

    def load(self, case: Case, cores: tuple[int, ...]) -> None:
        """Prepare the network of a case unless it is the one at hand; note what that cost."""
        if self._loaded == case.network:
            return
        folder = self.work / "peers" / self.tool / case.network.parent.name
        told = self._ask({
            "do": "load", "network": str(case.network), "cores": cores,
            "points": str(case.folder / "points.parquet"), "folder": str(folder),
        })  # fmt: skip
        self.variants = tuple(told.pop("variants"))
        self.startup = _first_startup(folder, told) if self.tool == "fastmm" else told
        self._loaded = case.network

    def match(
        self, case: Case, variant: str, *, cores: tuple[int, ...], out: Path | None = None
    ) -> dict[str, float]:
        """Match a case with one worker a core; return CPU seconds, wall seconds, peak memory."""
        return self._ask({
            "do": "match", "points": str(case.folder / "points.parquet"), "variant": variant,
            "cores": cores, "workers": len(cores), "out": str(out) if out else None,
        })  # fmt: skip

    def _ask(self, order: dict[str, Any]) -> dict[str, Any]:
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            raise UnavailableError(_last_line(self.work / "logs" / f"{self.tool}.log"))
        return json.loads(line)


def _first_startup(folder: Path, told: dict[str, float]) -> dict[str, float]:
    """Return the start-up cost of the run that built the table; later runs load it from disk."""
    note = folder / "startup.json"
    if not note.exists():
        note.write_text(json.dumps(told))
    return json.loads(note.read_text())


def _last_line(log: Path) -> str:
    lines = [line for line in log.read_text().splitlines() if line.strip()]
    return lines[-1] if lines else "it ended without a word"
