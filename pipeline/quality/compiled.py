"""Find the rules in machine code, if they were compiled from the sources as they are now.

compiled_modules(Path("."))  ->  [".compiled/pipeline/quality"], or [] once a source was edited

`python -m pipeline.quality.compiling` makes them, whole with a list of what it made from what. The
findings are the same either way, only the time is not, so an edit needs no compiling: it is the
sources that count.
"""

import json
from pathlib import Path
from typing import Any

from pipeline.hashes import sha256_of

FOLDER = ".compiled"
# {"sources": {path: SHA-256}, "made": [path in the folder]}
LIST = "compiled.json"


def compiled_modules(root: Path) -> list[str]:
    """Return the folder of compiled modules, for `__path__`.

    None where there is none, a part of it is missing, or a source is another by now.

    Args:
        root: The project.
    """
    folder = root / FOLDER
    try:
        listed: dict[str, Any] = json.loads((folder / LIST).read_text("utf-8"))
        sources, made = listed["sources"].items(), listed["made"]
        whole = sources and all((folder / file).is_file() for file in made)
        if whole and all(sha256_of(root / file) == sha256 for file, sha256 in sources):
            return [str(folder / "pipeline/quality")]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        pass
    return []
