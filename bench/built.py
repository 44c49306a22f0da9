"""Find the cities whose data a benchmark can read, and name those that are not built.

built(["helsinki", "monaco"], "planned")  ->  ["helsinki"]
prints: data/monaco/planned: not there, monaco is left out; `dvc repro plan_intents@monaco`
"""

import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pipeline.artifacts import ARTIFACTS
from pipeline.stages import STAGES

ROOT = Path(__file__).resolve().parent.parent


def built(cities: Sequence[str], *artifacts: str) -> list[str]:
    """Return the cities that have all of some artifacts; exit with 1 where none has."""
    found = [city for city in cities if all(_is_there(city, name) for name in artifacts)]
    if not found:
        sys.exit("none of these cities is built: nothing to measure")
    return found


def _is_there(city: str, name: str) -> bool:
    place = ARTIFACTS[name].place.format(city=city)
    if (ROOT / place).exists():
        return True
    maker = next(stage.name for stage in STAGES if name in stage.writes)
    print(f"{place}: not there, {city} is left out; `dvc repro {maker}@{city}`", flush=True)
    return False
