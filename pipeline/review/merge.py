"""What `python -m pipeline review import FILE...` does: bring ratings home, or lose nothing trying.

import_files(root, [Path("helsinki-H1.jsonl")], ImportWish(...))
->  data/reviews/helsinki/H1.jsonl, sorted by trip and criterion, and who has rated how much

All lines are checked before one is written. A line that says the same as one that is there already
changes nothing, so the same file may come twice, and a later export after an earlier one. What a
rater scored before the models' scores were shown stays: after that only `revised` may be added.
"""

import fcntl
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import msgspec

from pipeline.errors import ContractError, SourceError
from pipeline.quality.ratings import Fault, lines_of, rating_of
from pipeline.quality.rubric import CRITERIA, rubric
from pipeline.records import Rating
from pipeline.review.assignment import FILE, Assignment, assignments, reviews_folder
from pipeline.review.incoming import Line, read_files
from pipeline.review.standing import standing

ASIDE = "set_aside"
WOULD_STOP = "would stop: "
_BLIND = "the models' scores have been shown since, so the first score stays; remove the line"


class ImportWish(NamedTuple):
    """What the user asked for.

    Attributes:
        update: Whether a new score may take the place of another one of the same rater.
        set_aside: Whether outdated ratings are put aside instead of stopping the import.
        dry_run: Whether nothing is written.
        all_rows: Whether every trip without scores is named.
    """

    update: bool
    set_aside: bool
    dry_run: bool
    all_rows: bool


class _Merged(NamedTuple):
    """A rater's file after the merge.

    Attributes:
        lines: What it holds.
        new: How many of them were not there.
        completed: How many now also tell what followed the first score.
        replaced: What made room for another score or comment.
    """

    lines: dict[tuple[str, ...], Line]
    new: int
    completed: int
    replaced: list[Line]

    @property
    def changes(self) -> int:
        """Return how many lines are not as they were."""
        return self.new + self.completed + len(self.replaced)


def import_files(root: Path, files: Sequence[Path], wish: ImportWish) -> Iterator[str]:
    """Check and merge exported files; yield what was done and what is missing, as lines.

    Raises:
        SourceError: There is no assignment, a file is unreadable, or a line must not be merged; the
            message names the first such line and how many there are. Nothing has been written then.
        ContractError: A file under data/reviews was changed by hand and holds no ratings.
    """
    known = assignments(root)
    if not known:
        raise SourceError(
            f"data/reviews/*/{FILE}: expected an assignment, found none; run `python -m pipeline"
            " review export CITY` first, or take its file back from git"
        )
    with ExitStack() as locks:
        for one in known:
            _lock(reviews_folder(root, one.city), locks)
        incoming = read_files(files, known, rubric_hash=rubric().hash)
        merged, faults = _merge(root, incoming.lines, wish)
        faults = incoming.faults + faults
        if not wish.set_aside:
            faults += [f"{line.place}: {why} (see --set-aside)" for line, why in incoming.outdated]
        if faults and not wish.dry_run:
            raise SourceError(_first_of(faults))
        aside = [line for line, _ in incoming.outdated] if wish.set_aside else []
        written = [] if wish.dry_run else _write(root, merged, aside)
    yield from (f"{WOULD_STOP}{fault}" for fault in faults)
    read = len(incoming.lines) + len(incoming.outdated) + len(incoming.faults)
    new = sum(one.new for one in merged.values())
    completed = sum(one.completed for one in merged.values())
    replaced = sum(len(one.replaced) for one in merged.values())
    there = len(incoming.lines) - sum(one.changes for one in merged.values())
    yield (
        f"{read:,} lines: {new:,} new, {completed:,} completed, {replaced:,} replaced,"
        f" {there:,} there already,"
        f" {len(incoming.outdated):,} outdated, {len(incoming.faults):,} faulty"
    )
    for city in sorted({city for city, _ in merged}):
        own = next(one for one in known if one.city == city)
        yield from standing(
            own,
            _by_rater(root, own, merged),
            rubric_hash=rubric().hash,
            all_rows=wish.all_rows,
        )
    if written:
        yield f"wrote {', '.join(written)}"


def _first_of(faults: list[str]) -> str:
    more = f"; {len(faults) - 1:,} more (--dry-run lists all)" if len(faults) > 1 else ""
    return f"{faults[0]}{more}; nothing was merged"


def _merge(
    root: Path, lines: Iterable[Line], wish: ImportWish
) -> tuple[dict[tuple[str, str], _Merged], list[str]]:
    """Return each rater's ratings by city and rater, and what must not be merged."""
    merged: dict[tuple[str, str], _Merged] = {}
    own: dict[tuple[str, ...], Line] = {}
    faults: list[str] = []
    for line in lines:
        file = line.city, line.rating.rater
        if file not in merged:
            merged[file] = _Merged(_there_already(root, *file), 0, 0, [])
        first = own.setdefault(line.key, line)
        if not first.agrees(line):
            faults.append(f"{line.place}: {_twice(first, line)}; keep the one that counts")
            continue
        held = merged[file].lines.get(line.key)
        if held is None:
            merged[file].lines[line.key] = line
            merged[file] = merged[file]._replace(new=merged[file].new + 1)
        elif line.goes_on_from(held):
            merged[file].lines[line.key] = line
            merged[file] = merged[file]._replace(completed=merged[file].completed + 1)
        elif held.agrees(line):
            continue
        elif held.rating.revealed and not (line.rating.revealed and _same_score(held, line)):
            faults.append(f"{line.place}: {_twice(held, line)}; {_BLIND}")
        elif wish.update:
            merged[file].lines[line.key] = line
            merged[file].replaced.append(held)
        else:
            faults.append(f"{line.place}: {_twice(held, line)}; import with --update to replace it")
    return merged, faults


def _same_score(one: Line, other: Line) -> bool:
    return one.rating.score == other.rating.score


def _twice(first: Line, second: Line) -> str:
    one, two = first.rating, second.rating
    what = f"{two.score} here, {one.score} there"
    if one.score == two.score:
        what = "another comment" if one.comment != two.comment else "another second thought"
    return f"{two.rater} {two.trip_id} {two.criterion} is also in {first.place}: {what}"


def _there_already(root: Path, city: str, rater: str) -> dict[tuple[str, ...], Line]:
    file = reviews_folder(root, city) / f"{rater}.jsonl"
    found: dict[tuple[str, ...], Line] = {}
    shown = f"data/reviews/{city}/{file.name}"
    for place, text in lines_of(file, shown=shown) if file.is_file() else []:
        rating = rating_of(text)
        if isinstance(rating, Fault) or rating.rater != rater:
            what = rating.detail if isinstance(rating, Fault) else f"a rating by {rating.rater}"
            raise ContractError(
                f"data/reviews/{city}/{place}: expected a rating by {rater}, found {what}; mend the"
                " line or take the file back from git"
            )
        line = Line(f"data/reviews/{city}/{place}", city, rating)
        first = found.setdefault(line.key, line)
        if not first.agrees(line):
            raise ContractError(f"{line.place}: {_twice(first, line)}; keep the one that counts")
    return found


def _by_rater(
    root: Path, assignment: Assignment, merged: dict[tuple[str, str], _Merged]
) -> dict[str, list[Rating]]:
    """Return all ratings of a city, those just merged included."""
    found = {}
    for share in assignment.raters:
        file = assignment.city, share.rater
        lines = merged[file].lines if file in merged else _there_already(root, *file)
        found[share.rater] = [line.rating for line in lines.values()]
    return found


# ---- writing ------------------------------------------------------------------------------------


def _write(
    root: Path, merged: dict[tuple[str, str], _Merged], outdated: Sequence[Line]
) -> list[str]:
    """Write the files that change, all aside before the first moves into place."""
    texts = {}
    for (city, rater), one in merged.items():
        if one.changes:
            texts[reviews_folder(root, city) / f"{rater}.jsonl"] = _sorted(one.lines.values())
    gone = [*outdated, *(line for one in merged.values() for line in one.replaced)]
    for line in gone:
        file = reviews_folder(root, line.city) / ASIDE / f"{line.rating.rater}.jsonl"
        before = texts.get(file) or (file.read_text("utf-8") if file.is_file() else "")
        row = _row(line)
        texts[file] = before if row in before else before + row
    try:
        for file, text in texts.items():
            file.parent.mkdir(exist_ok=True)
            _aside(file).write_text(text, encoding="utf-8")
        for file in texts:
            _aside(file).replace(file)
    finally:
        for file in texts:
            _aside(file).unlink(missing_ok=True)
    return [str(file.relative_to(root)) for file in texts]


def _sorted(lines: Iterable[Line]) -> str:
    def place(line: Line) -> tuple[str, int, str, str]:
        one = line.rating
        return one.trip_id, CRITERIA.index(one.criterion), one.rubric_hash, one.item_hash

    return "".join(_row(line) for line in sorted(lines, key=place))


def _row(line: Line) -> str:
    return msgspec.json.encode(line.rating).decode() + "\n"


def _aside(file: Path) -> Path:
    return file.with_name(f".{file.name}.new")


def _lock(folder: Path, locks: ExitStack) -> None:
    """Let one import at a time read and write the ratings of a city."""
    held = locks.enter_context((folder / FILE).open("rb"))
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as fault:
        raise SourceError(
            f"data/reviews/{folder.name}: expected no other import, found one under way; wait for"
            " it and import again"
        ) from fault
