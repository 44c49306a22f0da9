"""What became of a drive's texts, for screen and page: checks, scores, selection.

examined_rows(Examined(names=13, grounded=12, ...))
->  [("checked", "12 of 13 names grounded, 5 of 6 claims supported, findings: 1, repairs: 0"),
     ("finding", "caption, off_route: not of this trip (flag)"),
     ("judged", "..."), ("selected", "...")]
"""

from collections.abc import Iterator

from msgspec.structs import asdict

from pipeline.records import JudgedTrip
from pipeline.show.life import Examined
from pipeline.show.said import LABELS

TASKS = ("instructions", "queries", "caption")


def examined_rows(examined: Examined) -> Iterator[tuple[str, str]]:
    """Yield label and words: one row for the checks, one a finding, a repair and a verdict."""
    words = (
        f"{examined.grounded} of {examined.names} names grounded,"
        f" {examined.supported} of {examined.claims} claims supported,"
        f" findings: {len(examined.findings)}, repairs: {len(examined.repairs)}"
    )
    yield "checked", words
    for finding in examined.findings:
        label = LABELS.get(finding.field, finding.field)
        yield "finding", f"{label}, {finding.rule}: {finding.detail} ({finding.action})"
    for repair in examined.repairs:
        label = LABELS.get(repair.field, repair.field)
        yield "repair", f"{label}, {repair.rule}: {repair.before!r} -> {repair.after!r}"
    for verdict in examined.judged:
        yield "judged", f"{_scores(verdict)}; by {verdict.engine} {verdict.model}"
    if examined.selected is not None:
        one = examined.selected
        yield "selected", f"score {one.score:.2f} of 5, {one.scored} criteria scored"


def _scores(verdict: JudgedTrip) -> str:
    """Return the scores of each task; `-` where a criterion was not scored."""
    if verdict.status != "ok":
        return f"no scores: {verdict.status}"
    scores = asdict(verdict.scores)
    told = []
    for task in TASKS:
        own = [value for name, value in scores.items() if name.startswith(f"{task}_")]
        told.append(f"{task} {' '.join('-' if value is None else str(value) for value in own)}")
    return ", ".join(told)
