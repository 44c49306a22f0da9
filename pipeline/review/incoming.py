"""Read what raters exported: ratings line by line, and what is wrong with the others.

    read_files([Path("helsinki-H1.jsonl")], assignments, rubric_hash="4f0c...")
    ->  Incoming(lines=[Line("helsinki-H1.jsonl:1", "helsinki", Rating(...)), ...],
                 outdated=[...], faults=["helsinki-H1.jsonl:7: score: 6 is greater than ...", ...])

A line is outdated when it was scored by another rubric than that of today, or on other texts; every
other fault means that a file is not what the page exported.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pipeline.quality.ratings import Fault, lines_of, rating_of
from pipeline.records import Rating
from pipeline.review.assignment import Assignment


class Line(NamedTuple):
    """One rating, where it stands (file:line), and the city it belongs to."""

    place: str
    city: str
    rating: Rating

    @property
    def key(self) -> tuple[str, str, str, str, str, str]:
        """Return what may be scored once: by whom, which texts, by which words of the rubric."""
        one = self.rating
        scored = (one.rater, one.trip_id, one.item_hash)
        return (self.city, *scored, one.rubric_hash, one.criterion)

    def agrees(self, other: "Line") -> bool:
        """Tell whether another line says the same, or leaves out what followed the first score.

        Looking on for longer changes nothing.
        """
        one, two = self.rating, other.rating
        both = None not in (one.revised, two.revised)
        return (one.score, one.comment) == (two.score, two.comment) and not (
            both and one.revised != two.revised
        )

    def goes_on_from(self, held: "Line") -> bool:
        """Tell whether it agrees with another line and knows what followed: what was revealed."""
        news = self.rating.revealed and not held.rating.revealed
        return held.agrees(self) and (
            news or (self.rating.revised is not None and held.rating.revised is None)
        )


class Incoming(NamedTuple):
    """What files hold, line by line.

    Attributes:
        lines: Ratings that the assignments ask for.
        outdated: Ratings of other texts or by another rubric, with the reason.
        faults: What is wrong with all other lines, each with its place; and files without a line.
    """

    lines: list[Line]
    outdated: list[tuple[Line, str]]
    faults: list[str]


def read_files(
    files: Sequence[Path], assignments: Sequence[Assignment], *, rubric_hash: str
) -> Incoming:
    """Read exported files.

    Args:
        files: Files as the page wrote them.
        assignments: What was asked of whom, of every city.
        rubric_hash: Hash of the rubric that counts now.

    Raises:
        SourceError: A file is unreadable.
    """
    found = Incoming([], [], [])
    for file in files:
        lines = list(lines_of(file, shown=str(file)))
        if not lines:
            found.faults.append(f"{file}: expected ratings, found an empty file; export it again")
        for place, text in lines:
            rating = rating_of(text)
            if isinstance(rating, Fault):
                found.faults.append(f"{place}: {rating.detail}")
                continue
            home = _home(rating, assignments)
            if isinstance(home, str):
                found.faults.append(f"{place}: {home}")
                continue
            line, why = Line(place, home.city, rating), _outdated(rating, home, rubric_hash)
            if why:
                found.outdated.append((line, why))
            else:
                found.lines.append(line)
    return found


def _home(rating: Rating, assignments: Sequence[Assignment]) -> Assignment | str:
    """Return the assignment a rating answers, or why there is none."""
    having = [one for one in assignments if rating.trip_id in one.hashes]
    if not having:
        cities = ", ".join(one.city for one in assignments)
        return f"trip {rating.trip_id} stands in no assignment ({cities})"
    same_texts = [one for one in having if one.hashes[rating.trip_id] == rating.item_hash]
    home = (same_texts or having)[0]
    if rating.rater not in {share.rater for share in home.raters}:
        raters = ", ".join(share.rater for share in home.raters)
        return f"{rating.rater} is no rater of {home.city}, which has {raters}"
    if rating.trip_id not in home.share(rating.rater):
        return f"trip {rating.trip_id} is not for {rating.rater} to rate"
    return home


def _outdated(rating: Rating, home: Assignment, rubric_hash: str) -> str:
    """Return why a rating counts no more; "" if it does."""
    if rating.rubric_hash != rubric_hash:
        return (
            f"scored by the rubric {rating.rubric_hash}, prompts/judge/rubric.yaml is {rubric_hash}"
            " now: its words have changed since the page was written"
        )
    if rating.item_hash != home.hashes[rating.trip_id]:
        return f"the texts of trip {rating.trip_id} were others on that page"
    return ""
