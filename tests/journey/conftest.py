"""A real project at a reduced size: the repository's own files, real DVC, real extracts."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.journey.project import Project

ROOT = Path(__file__).resolve().parents[2]
TRIPS = 60  # simulated trips per city; the default cities have more
SCENARIOS = 11  # of crowds; the default has more


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Copy the repository, shrink its cities, and run the whole pipeline once."""
    root = tmp_path_factory.mktemp("project")
    _copy_repository(root)
    made = Project(root, _environment(tmp_path_factory.mktemp("site-cache")))
    for city in ("helsinki", "monaco"):
        made.edit_config(city, lambda config: config["simulation"].update(trips=TRIPS))
    made.edit("params.yaml", lambda params: params["stride_scenarios"].update(total=SCENARIOS))
    made.git("init", "-q")
    made.git("add", "-A")
    made.git("commit", "-qm", "start")
    made.first_repro = made.dvc("repro")
    made.git("add", "-A")
    made.git("commit", "-qm", "first data", "--allow-empty")
    yield made
    shutil.rmtree(root)


def _copy_repository(root: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\n")  # fmt: skip
    for name in filter(None, listed):
        source = ROOT / name
        # The lock and the numbers of the full-size run do not belong to the reduced one.
        left_out = name == "dvc.lock" or name.startswith(("data/", "bench/"))
        if not source.is_file() or (left_out and name != "data/reviews/README.md"):
            continue
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    for compiled in (ROOT / "pipeline").rglob("__pycache__/*.nb?"):
        target = root / compiled.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(compiled, target)


def _environment(site_cache: Path) -> dict[str, str]:
    binaries = str(Path(sys.executable).parent)
    return os.environ | {
        "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
        "DVC_NO_ANALYTICS": "1",
        "DVC_SITE_CACHE_DIR": str(site_cache),
        "GIT_AUTHOR_NAME": "test",
        "GIT_AUTHOR_EMAIL": "test@example.invalid",
        "GIT_COMMITTER_NAME": "test",
        "GIT_COMMITTER_EMAIL": "test@example.invalid",
    }
