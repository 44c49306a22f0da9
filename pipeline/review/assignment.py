"""Who rates which trips, in which order: data/reviews/<city>/assignment.json.

    deal(["a", "b", "c", "d"], ["H1", "H2"], overlap=2)
    ->  two trips for both, one more for each, in an order of each rater's own

All draws are hashes of ids: the same call gives the same assignment, and more raters or trips do
not change the order of those there are. Paper: A.3.5.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from pipeline.errors import ContractError, ParameterError
from pipeline.quality.rubric import Rubric
from pipeline.schemas import check_record, schema_document

FILE = "assignment.json"
SCHEMA = "review_assignment"


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trip that is rated, and the hash of what is shown of it (`ratings.item_hash`)."""

    trip_id: str
    item_hash: str


class Share(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The trips of one rater, in the order they are shown."""

    rater: str
    trip_ids: list[str]


class Assignment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a review page asks of whom.

    Attributes:
        city: Key of the city.
        page_id: Hash of the city, the rubric and the items; names what a browser keeps.
        rubric_hash: Hash of the rubric, which stands in every rating.
        items: The trips, sorted by id.
        raters: Their shares, in the order the raters were named.
    """

    city: str
    page_id: str
    rubric_hash: str
    items: list[Item]
    raters: list[Share]

    @property
    def hashes(self) -> dict[str, str]:
        """Return the hash of what is shown, by trip id."""
        return {item.trip_id: item.item_hash for item in self.items}

    def share(self, rater: str) -> set[str]:
        """Return the trips of a rater; none for one who is not asked."""
        return {trip for one in self.raters if one.rater == rater for trip in one.trip_ids}


def assign(
    city: str, hashes: dict[str, str], *, raters: Sequence[str], overlap: int | None, rubric: Rubric
) -> Assignment:
    """Return who rates what.

    Args:
        city: Key of the city.
        hashes: Hash of what is shown, by trip id.
        raters: Codes of the raters.
        overlap: Trips that all of them rate; None = all. The others are dealt out one by one.
        rubric: What they are asked.

    Raises:
        ParameterError: A code is none, or occurs twice; the overlap is negative.
    """
    check_raters(raters)
    if overlap is not None and overlap < 0:
        raise ParameterError(f"--overlap: expected 0 or more trips, found {overlap}")
    items = [Item(trip_id, hashes[trip_id]) for trip_id in sorted(hashes)]
    words = msgspec.json.encode([city, rubric, items])
    return Assignment(
        city=city,
        page_id=hashlib.sha256(words).hexdigest()[:16],
        rubric_hash=rubric.hash,
        items=items,
        raters=deal(list(hashes), raters, overlap=overlap),
    )


def check_raters(raters: Sequence[str]) -> None:
    """Raise ParameterError for a code that is none or occurs twice, or for no code at all."""
    pattern = str(schema_document("rating")["properties"]["rater"]["pattern"])
    for rater in raters:
        if not re.fullmatch(pattern, rater):
            raise ParameterError(
                f"--raters: expected codes of letters, digits, _ and - such as H1,H2, found"
                f" {rater!r}"
            )
    # Each has a file of that name, and some file systems do not tell h1 from H1.
    lower = [rater.lower() for rater in raters]
    twice = [rater for rater in raters if lower.count(rater.lower()) > 1]
    if twice or not raters:
        found = f"{', '.join(twice)} more than once" if twice else "none"
        raise ParameterError(f"--raters: expected each rater once, found {found}")


def deal(trip_ids: Sequence[str], raters: Sequence[str], *, overlap: int | None) -> list[Share]:
    """Return the share of each rater.

    Args:
        trip_ids: Trips, in any order.
        raters: Codes of the raters, in the order in which the rest is dealt.
        overlap: Trips that all of them rate; None = all.
    """
    drawn = by_hash(trip_ids, "overlap")
    common = len(drawn) if overlap is None else overlap
    shares = []
    for number, rater in enumerate(raters):
        own = drawn[:common] + drawn[common:][number :: len(raters)]
        shares.append(Share(rater, by_hash(own, rater)))
    return shares


def by_hash(trip_ids: Sequence[str], purpose: str) -> list[str]:
    """Return ids in an order that is random but always the same for a purpose."""
    return sorted(
        trip_ids,
        key=lambda trip_id: hashlib.sha256(f"{purpose}\x1f{trip_id}".encode()).hexdigest(),
    )


def reviews_folder(root: Path, city: str) -> Path:
    """Return where the assignment and the ratings of a city lie."""
    return root / "data" / "reviews" / city


def assignments(root: Path) -> list[Assignment]:
    """Return the assignments of all cities, by name."""
    files = sorted((root / "data" / "reviews").glob(f"*/{FILE}"))
    return [read_assignment(file.parent) for file in files]


def read_assignment(folder: Path) -> Assignment:
    """Return the assignment in a folder of reviews.

    Raises:
        ContractError: It is no JSON, or breaks its schema.
    """
    file = folder / FILE
    try:
        record = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as fault:
        raise ContractError(
            f"{_shown(folder)}: expected JSON, found {fault}; take the file back from git, or write"
            f" it anew with `python -m pipeline review export {folder.name} --raters ... --replace`"
        ) from fault
    check_record(SCHEMA, record, where=_shown(folder))
    found: Assignment = msgspec.convert(record, Assignment)
    return found


def assignment_text(assignment: Assignment) -> str:
    """Return an assignment as the file holds it.

    Raises:
        ContractError: It breaks its schema.
    """
    record = msgspec.to_builtins(assignment)
    check_record(SCHEMA, record, where=_shown(Path(assignment.city)))
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"


def withdrawn(old: Assignment, new: Assignment) -> list[str]:
    """Return what was asked before and is not asked any more, as "rater trip" or trips' ids.

    A trip whose texts have changed is another one: ratings of the texts before do not count. Nor
    does any rating by another rubric.
    """
    hashes = new.hashes if old.rubric_hash == new.rubric_hash else {}
    changed = [one.trip_id for one in old.items if hashes.get(one.trip_id) != one.item_hash]
    pairs = [
        f"{share.rater} {trip_id}"
        for share in old.raters
        for trip_id in share.trip_ids
        if trip_id not in changed and trip_id not in new.share(share.rater)
    ]
    return changed + pairs


def _shown(folder: Path) -> str:
    return f"data/reviews/{folder.name}/{FILE}"
