"""People look through the texts: the list they get, and what they send back.

    export_list(scenarios, Path("out/stride_review.csv"))    one row a scenario, verdict empty
    import_list(Path("out/stride_review.csv"))               into configs/stride/verdicts.csv

A verdict is `keep` or `drop`. It holds for the very text that was read: its hash stands beside it,
and a text written anew is looked at anew. What is dropped is rejected with the reason `manual`.
"""

import csv
import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, get_args

from pipeline.csv_files import unescaped
from pipeline.errors import SourceError
from pipeline.replacing import replace_text
from pipeline.stride.states import Fault
from pipeline.stride.tables import csv_text

VERDICTS = Path(__file__).resolve().parents[2] / "configs" / "stride" / "verdicts.csv"
Word = Literal["keep", "drop"]
_KEPT = ("scene_id", "text_sha256", "verdict", "note")
_LISTED = (*_KEPT, "category", "map_id", "description")


class Reviewed(Protocol):
    """What a reader is shown of a scenario."""

    @property
    def scene_id(self) -> str:
        """Return its id."""

    @property
    def category(self) -> str:
        """Return its kind of crowd."""

    @property
    def map_id(self) -> str:
        """Return its map."""

    @property
    def description(self) -> str:
        """Return its text."""


class Verdict(NamedTuple):
    """What somebody said of a text."""

    scene_id: str
    text_sha256: str
    verdict: Word
    note: str


class Verdicts:
    """All verdicts, by scenario and text."""

    def __init__(self, verdicts: Iterable[Verdict]) -> None:
        self._by_text = {(one.scene_id, one.text_sha256): one for one in verdicts}

    def fault(self, scene_id: str, text: str) -> Fault | None:
        """Return the fault `manual` if people dropped this very text."""
        verdict = self._by_text.get((scene_id, text_hash(text)))
        if verdict is None or verdict.verdict == "keep":
            return None
        return Fault("manual", verdict.note or "dropped by people")


def text_hash(text: str) -> str:
    """Return the hash that ties a verdict to a text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def read_verdicts(path: Path = VERDICTS) -> Verdicts:
    """Read the verdicts of the project.

    Raises:
        SourceError: The file is missing or broken; names the line.
    """
    return Verdicts(_rows(path))


def export_list(scenarios: Sequence[Reviewed], target: Path) -> None:
    """Write the list people fill in: a CSV with one row a scenario and an empty verdict."""
    rows = (
        (one.scene_id, text_hash(one.description), "", "", one.category, one.map_id,
         one.description)
        for one in scenarios
    )  # fmt: skip
    listed = (dict(zip(_LISTED, row, strict=True)) for row in rows)
    replace_text(target, csv_text(listed, _LISTED))


def import_list(source: Path, target: Path = VERDICTS) -> int:
    """Merge a filled-in list into the project's verdicts; a later verdict on a text wins.

    Returns:
        How many verdicts it held; rows without one are passed over.

    Raises:
        SourceError: The list is missing or broken; names the line. Nothing is written then.
    """
    new = _rows(source)
    merged = {(one.scene_id, one.text_sha256): one for one in [*_rows(target), *new]}
    replace_text(target, csv_text((merged[key]._asdict() for key in sorted(merged)), _KEPT))
    return len(new)


def _rows(path: Path) -> list[Verdict]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            rows = [(reader.line_num, row) for row in reader]
            columns = reader.fieldnames or []
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise SourceError(
            f"{path}: expected a CSV of verdicts, found {fault}; export the list with `python -m"
            " pipeline stride review export`"
        ) from fault
    missing = [name for name in _KEPT if name not in columns]
    if missing:
        raise SourceError(f"{path}: expected the columns {', '.join(_KEPT)}, found no {missing[0]}")
    found = []
    for line, row in rows:
        word = (row["verdict"] or "").strip().lower()
        if not word:
            continue
        if word not in get_args(Word):
            raise SourceError(
                f"{path} line {line}: verdict: expected keep, drop or nothing, found {word!r}"
            )
        scene_id, note = unescaped(row["scene_id"]), unescaped((row["note"] or "").strip())
        found.append(Verdict(scene_id, row["text_sha256"], word, note))  # type: ignore[arg-type]
    return found
