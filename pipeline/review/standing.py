"""Say how far each rater of a city has come.

helsinki
  H1  1,000 of 1,000 scores, 100 of 100 trips
  H2    420 of 1,000 scores, 42 of 100 trips, 1 begun
      without all scores: 1704397475620000023, ... and 57 more
"""

from collections import Counter
from collections.abc import Iterator

from pipeline.quality.rubric import CRITERIA
from pipeline.records import Rating
from pipeline.review.assignment import Assignment, Share

NAMED_TRIPS = 5


def standing(
    assignment: Assignment, ratings: dict[str, list[Rating]], *, rubric_hash: str, all_rows: bool
) -> Iterator[str]:
    """Yield lines for a person.

    Args:
        assignment: What was asked.
        ratings: All ratings by rater; those of other texts or another rubric do not count.
        rubric_hash: Hash of the rubric that counts now.
        all_rows: Name every trip that lacks scores, instead of the first few.
    """
    yield assignment.city
    complete = True
    for share in assignment.raters:
        counts = _counted(assignment, share, ratings[share.rater], rubric_hash)
        missing = [trip for trip in share.trip_ids if counts[trip] < len(CRITERIA)]
        begun = sum(counts[trip] > 0 for trip in missing)
        complete = complete and not missing
        asked = len(share.trip_ids)
        yield (
            f"  {share.rater}  {counts.total():,} of {asked * len(CRITERIA):,} scores,"
            f" {asked - len(missing):,} of {asked:,} trips"
            + (f", {begun:,} begun" if begun else "")
        )
        if missing:
            shown = missing if all_rows else missing[:NAMED_TRIPS]
            more = f" and {len(missing) - len(shown):,} more (--all)" if missing != shown else ""
            yield f"      without all scores: {', '.join(shown)}{more}"
    wait = "" if complete else " (it counts what is there)"
    yield f"  agreement: `dvc repro agree@{assignment.city}`{wait}"


def _counted(
    assignment: Assignment, share: Share, ratings: list[Rating], rubric_hash: str
) -> Counter[str]:
    hashes, own = assignment.hashes, set(share.trip_ids)
    return Counter(
        one.trip_id
        for one in ratings
        if one.trip_id in own
        and one.item_hash == hashes[one.trip_id]
        and one.rubric_hash == rubric_hash
    )
