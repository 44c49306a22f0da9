"""Find the rules in machine code, if they were compiled from the sources as they are now.

compiled_modules(Path("."))  ->  [".compiled/pipeline/quality"], or [] once a source was edited

`python -m pipeline.quality.compiling` makes them. The findings are the same either way, only the
time is not, so an edit needs no compiling: it is the sources that count.
"""

import json
from pathlib import Path

from pipeline.hashes import sha256_of

FOLDER = ".compiled"
SOURCES = "sources.json"


def compiled_modules(root: Path) -> list[str]:
    """Return the folder of compiled modules, for `__path__`; none where a source is another by now.

    Args:
        root: The project.
    """
    folder = root / FOLDER
    try:
        sources: dict[str, str] = json.loads((folder / SOURCES).read_text("utf-8"))
        same = all(sha256_of(root / file) == sha256 for file, sha256 in sources.items())
    except (OSError, ValueError, AttributeError):
        return []
    return [str(folder / "pipeline/quality")] if sources and same else []
