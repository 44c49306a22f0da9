"""Bring WordNet, for METEOR: `python -m pipeline.tasks.wordnet [wordnet-base.deb sense-index.deb]`.

No package of Python's has it as NLTK reads it, but Debian has. Without files it fetches the two
packages by `apt-get download`, which installs nothing; elsewhere fetch them from a Debian mirror
and give them. What counts is their content: WordNet 3.0, by its hash, in .wordnet/ of the project.
"""

import hashlib
import io
import lzma
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from pipeline.errors import PipelineError, SourceError

FOLDER = Path(__file__).resolve().parents[2] / ".wordnet"
PACKAGES = ("wordnet-base", "wordnet-sense-index")
_INSIDE = "usr/share/wordnet/"
# Where NLTK looks below a folder of its data.
_PLACE = "corpora/wordnet"
# Over the names and bytes of all files that Debian ships of WordNet 3.0, by name.
_HASH = "9d441832ba54b32182825c5c2a61e9072744d3b2b7c9737f46646db0041b6858"
# NLTK also reads a list of kinds of words, which Debian leaves out: number, name, part of speech.
_KINDS = {
    "1": "Tops act animal artifact attribute body cognition communication event feeling food group"
    " location motive object person phenomenon plant possession process quantity relation shape"
    " state substance time",
    "2": "body change cognition communication competition consumption contact creation emotion"
    " motion perception possession social stative weather",
}


def installed() -> Path | None:
    """Return the folder of data for NLTK that has WordNet; None where it was not brought."""
    return FOLDER if FOLDER.is_dir() else None


def install(packages: list[Path], *, into: Path = FOLDER) -> None:
    """Lay the files of WordNet into a folder, all of them or none.

    Args:
        packages: The two packages, .deb files.
        into: The folder; nothing is done where it is there.

    Raises:
        SourceError: A file is no such package, or together they are not WordNet 3.0.
    """
    if into.is_dir():
        return
    held: dict[str, bytes] = {}
    for package in packages:
        held |= _files_of(package)
    found = _hash_of(held)
    if found != _HASH:
        named = ", ".join(map(str, packages))
        raise SourceError(
            f"{named}: expected WordNet 3.0 with hash {_HASH[:12]}, found {len(held)} files with"
            f" {found[:12]}; give wordnet-base and wordnet-sense-index of Debian, version 3.0"
        )
    held["lexnames"] = _lexnames()
    with tempfile.TemporaryDirectory(dir=into.parent, prefix=".wordnet-") as passing:
        aside = Path(passing) / "nltk_data"
        (aside / _PLACE).mkdir(parents=True)
        for name, content in held.items():
            (aside / _PLACE / name).write_bytes(content)
        aside.rename(into)


def _files_of(package: Path) -> dict[str, bytes]:
    """Return the files of WordNet in a Debian package: an ar archive with a packed tar in it."""
    try:
        data = _member(package.read_bytes(), "data.tar.xz")
        with tarfile.open(fileobj=io.BytesIO(lzma.decompress(data))) as archive:
            named = {one.name.removeprefix("./"): one for one in archive if one.isfile()}
            return {
                name.removeprefix(_INSIDE): opened.read()
                for name, one in named.items()
                if name.startswith(_INSIDE) and (opened := archive.extractfile(one))
            }
    except (OSError, ValueError, lzma.LZMAError, tarfile.TarError) as fault:
        raise SourceError(
            f"{package}: expected a Debian package of WordNet, found {fault}; fetch"
            f" {' and '.join(PACKAGES)} anew"
        ) from None


def _member(archive: bytes, name: str) -> bytes:
    """Return a member of an ar archive: after each header of 60 bytes its content, even-sized."""
    place = 8
    while archive.startswith(b"!<arch>\n") and place + 60 <= len(archive):
        header = archive[place : place + 60]
        size = int(header[48:58])
        if header[:16].decode("ascii").rstrip(" /") == name:
            return archive[place + 60 : place + 60 + size]
        place += 60 + size + size % 2
    raise ValueError(f"no {name}")


def _hash_of(files: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name} {len(files[name])}\n".encode() + files[name])
    return digest.hexdigest()


def _lexnames() -> bytes:
    names = [("adj.all", "3"), ("adj.pert", "3"), ("adv.all", "4")]
    names += [(f"noun.{kind}", "1") for kind in _KINDS["1"].split()]
    names += [(f"verb.{kind}", "2") for kind in _KINDS["2"].split()]
    names.append(("adj.ppl", "3"))
    return "".join(f"{n:02}\t{name}\t{pos}\n" for n, (name, pos) in enumerate(names)).encode()


def fetch(into: Path) -> list[Path]:
    """Fetch the packages from Debian's archive.

    Raises:
        SourceError: There is no apt-get, or it cannot fetch them.
    """
    try:
        # Who may not refresh the list of packages may have a fresh one.
        subprocess.run(["apt-get", "update", "-qq"], check=False, capture_output=True)
        subprocess.run(
            ["apt-get", "download", "-qq", *PACKAGES],
            cwd=into,
            check=True,
            capture_output=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError) as fault:
        told = getattr(fault, "stderr", "") or str(fault)
        raise SourceError(
            f"WordNet: expected apt-get to fetch {' and '.join(PACKAGES)}, found:"
            f" {told.strip()[-200:]}; run it as root, or fetch the two from a Debian mirror and run"
            " `python -m pipeline.tasks.wordnet FILE FILE`; without WordNet, METEOR is the measure"
            " `meteor_exact_stem`"
        ) from None
    return sorted(into.glob("*.deb"))


def main(arguments: list[str]) -> int:
    """Bring WordNet, unless it is there."""
    try:
        if installed() is None:
            with tempfile.TemporaryDirectory() as passing:
                install(list(map(Path, arguments)) or fetch(Path(passing)))
    except PipelineError as fault:
        print(fault, file=sys.stderr)
        return 1
    print(f"WordNet 3.0: {os.path.relpath(FOLDER)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
