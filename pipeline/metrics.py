"""Read what a city's metrics files in git say.

    read_metrics(root, "monaco", "loss_metrics")  ->  {"city": "monaco", "raw_trips": 750, ...}

They lie in git, so a merge can leave marks of a conflict in them: what is no record is one line.
"""

import json
from pathlib import Path
from typing import Any

from pipeline.artifacts import ARTIFACTS, artifact_path
from pipeline.errors import ContractError
from pipeline.stages import STAGES

_LONGEST = 40  # letters of the file that are shown


def read_metrics(root: Path, city: str, name: str) -> dict[str, Any] | None:
    """Return the record of an artifact that is a metric; None where it was never made.

    Args:
        root: Root of the project.
        city: Key of the city.
        name: Name of the artifact.

    Raises:
        ContractError: The file holds no JSON record.
    """
    file = artifact_path(ARTIFACTS[name], root=root, city=city)
    if not file.exists():
        return None
    try:
        text = file.read_text("utf-8")
    except OSError as fault:
        raise _damaged(file.relative_to(root), city, name, f"'{fault.strerror}'") from fault
    except UnicodeDecodeError as fault:
        raise _damaged(file.relative_to(root), city, name, str(fault)) from fault
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise _damaged(file.relative_to(root), city, name, _beginning(text)) from fault
    if not isinstance(record, dict):
        raise _damaged(file.relative_to(root), city, name, _beginning(text))
    return record


def _beginning(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return repr(line[:_LONGEST]) if line else "nothing"


def _damaged(shown: Path, city: str, name: str, found: str) -> ContractError:
    (maker,) = [stage.name for stage in STAGES if name in stage.writes]
    # With `HEAD --` it also works on a file that is in conflict.
    return ContractError(
        f"{shown}: expected a JSON record, found {found}; run `dvc repro {maker}@{city}` or"
        f" `git checkout HEAD -- {shown}`"
    )
