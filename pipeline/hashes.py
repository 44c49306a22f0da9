"""Hashes of data files: ours, and those that DVC records in dvc.lock.

sha256_of(Path("data/helsinki/roads.parquet"))      ->  "9c1f..."
dvc_hash(Path("data/helsinki/simulated/traces"))    ->  "067a3cc0a494c50c....dir"
"""

import hashlib
import json
from pathlib import Path


def sha256_of(file: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal text."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def dvc_hash(path: Path) -> str:
    """Return the hash that DVC would record for a file or folder as it is now.

    All of a folder counts; patterns in .dvcignore, of which the project has none, are not read.
    """
    if path.is_file():
        return _md5(path)
    listed = [
        {"md5": _md5(file), "relpath": file.relative_to(path).as_posix()}
        for file in path.rglob("*")
        if file.is_file()
    ]
    listed.sort(key=lambda one: one["relpath"])
    text = json.dumps(listed, sort_keys=True)
    return f"{hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()}.dir"


def _md5(file: Path) -> str:
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, lambda: hashlib.md5(usedforsecurity=False))
    return digest.hexdigest()
