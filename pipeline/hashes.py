"""Hashes of data files: ours, and those that DVC records in dvc.lock.

sha256_of(Path("data/helsinki/roads.parquet"))      ->  "9c1f..."
dvc_hash(Path("data/helsinki/simulated/traces"))    ->  "067a3cc0a494c50c....dir"
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path


def sha256_of(file: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal text."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def dvc_hash(path: Path) -> str:
    """Return the hash that DVC would record for a file or folder as it is now.

    All of a folder counts; patterns in .dvcignore, of which the project has none, are not read.
    """
    return hash_of_list(hashes_in(path)) if path.is_dir() else _md5(path)


def hashes_in(folder: Path) -> dict[str, str]:
    """Return the hash of each file below a folder, by its path from there."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {file.relative_to(folder).as_posix(): _md5(file) for file in files}


def hash_of_list(files: Mapping[str, str]) -> str:
    """Return the hash of a folder that holds files of these hashes."""
    listed = [{"md5": md5, "relpath": name} for name, md5 in sorted(files.items())]
    text = json.dumps(listed, sort_keys=True)
    return f"{hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()}.dir"


def same_text(file: Path, md5: str) -> bool:
    """Tell whether a file has a hash but for the ends of its lines, which git may have changed."""
    if file.is_dir():
        return False
    text = file.read_bytes().replace(b"\r\n", b"\n")
    return hashlib.md5(text, usedforsecurity=False).hexdigest() == md5


def _md5(file: Path) -> str:
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, lambda: hashlib.md5(usedforsecurity=False))
    return digest.hexdigest()
