"""Make the Python 3.12 environment of the peers whose wheels need it.

    bench/work/env312/bin/python -c "import osrm, valhalla"     works afterwards

The project itself stays on 3.11; nothing in it imports from here.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PACKAGES = (
    "osrm-bindings==26.10.0", "pyvalhalla==3.9.1", "numpy", "polars", "osmium", "shapely",
)  # fmt: skip


def side_python(work: Path) -> Path:
    """Return the interpreter of the side environment, made on the first call.

    Raises:
        OSError, subprocess.CalledProcessError: No Python 3.12, no `uv`, or no package index.
    """
    home = work / "env312"
    python = home / "bin" / "python"
    done = home / "installed"
    if not done.exists():
        _quiet("uv", "venv", "--clear", "--python", _python312(), str(home))
        _quiet("uv", "pip", "install", "--python", str(python), *PACKAGES)
        done.write_text("\n".join(PACKAGES))
    return python


def venv_python(home: Path, packages: Sequence[str]) -> Path:
    """Return the interpreter of an environment with some packages, made on the first call.

    Raises:
        OSError, subprocess.CalledProcessError: No package index has them.
    """
    python, done = home / "bin" / "python", home / "installed"
    if not done.exists() or done.read_text() != "\n".join(packages):
        _quiet(sys.executable, "-m", "venv", "--clear", str(home))
        _quiet(str(python), "-m", "pip", "install", "--quiet", *packages)
        done.write_text("\n".join(packages))
    return python


def _python312() -> str:
    """Return a 3.12 interpreter: of pyenv where there is one, else what uv finds or fetches."""
    if shutil.which("pyenv"):
        prefix = subprocess.run(
            ["pyenv", "prefix", "3.12"], capture_output=True, text=True, check=False
        )
        if prefix.returncode == 0:
            return str(Path(prefix.stdout.strip()) / "bin" / "python3.12")
    return "3.12"


def _quiet(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)
