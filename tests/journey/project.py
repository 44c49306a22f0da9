"""Drive a project as its user does: edit a file, run a command, read what it says."""

import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from pipeline.stages import STAGES


def after(name: str) -> set[str]:
    """Return the stage and all that read, directly or not, what it writes."""
    found: set[str] = set()
    written: set[str] = set()
    for stage in STAGES:
        if stage.name == name or written & set(stage.reads):
            found.add(stage.name)
            written |= {*stage.writes, *([stage.rejections().name] if stage.rejects else [])}
    return found


class Project:
    """A checked-out project in a folder of its own."""

    def __init__(self, root: Path, environment: dict[str, str]) -> None:
        self.root, self.environment = root, environment
        self.first_repro = ""

    def run(self, *command: str, expect: int = 0) -> str:
        """Run a command in the project; return what it printed, both streams together."""
        done = subprocess.run(
            command, cwd=self.root, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        assert done.returncode == expect, done.stdout[-4000:]
        return done.stdout

    def dvc(self, *arguments: str) -> str:
        return self.run("dvc", *arguments)

    def git(self, *arguments: str) -> str:
        return self.run("git", *arguments)

    def pipeline(self, *arguments: str, expect: int = 0) -> str:
        return self.run("python", "-m", "pipeline", *arguments, expect=expect)

    def ran(self, output: str) -> set[str]:
        """Return the stages that DVC ran, not those it skipped or restored."""
        return set(re.findall(r"Running stage '([^']+)'", output))

    def runs(self, stages: Iterable[str], *cities: str) -> set[str]:
        """Return what DVC calls these stages when it runs them for these cities."""
        table = {stage.name: stage for stage in STAGES}
        return {
            f"{name}@{city}" if table[name].scope == "city" else name
            for name in stages
            for city in cities
        }

    def edit(self, name: str, change: Callable[[dict[str, Any]], object]) -> None:
        """Change a YAML file in place."""
        path = self.root / name
        content = yaml.safe_load(path.read_text("utf-8"))
        change(content)
        path.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), "utf-8")

    def edit_config(self, city: str, change: Callable[[dict[str, Any]], object]) -> None:
        self.edit(f"configs/{city}.yaml", change)

    @contextmanager
    def changed(self, name: str, change: Callable[[dict[str, Any]], object]) -> Iterator[None]:
        """Change a YAML file for a while; afterwards DVC restores what belonged to it."""
        path = self.root / name
        before = path.read_text("utf-8")
        self.edit(name, change)
        try:
            yield
        finally:
            path.write_text(before, "utf-8")
            self.dvc("repro")
