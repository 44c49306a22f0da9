"""Tell a release diff to a reader, as blocks.

diff_blocks(report)  ->  [Heading(1, "Release: v1 to v2"), Table(...), ...]
"""

from collections.abc import Iterator

from pipeline.audit.blocks import Block, Bullets, Heading, Paragraph, Table
from pipeline.audit.diff_report import CityDiff, ReleaseDiff
from pipeline.audit.told import side_words

# In the order of the chain: the first that differs is the cause.
CAUSES = {
    "trip": "the trip itself: its path, or whether there is one",
    "draws": "what was drawn for it",
    "model": "the model that wrote it; of the template engine, its phrase banks",
    "prompt": "prompt files, vocabulary, seed examples or shots",
    "params": "sampling or answer schema: another request, all else equal",
    "answer": "the same request asked anew",
    "code": "the program: same answer, same findings, another text",
    "check": "quality control: its rules, its verifier, or the other texts that it holds a text to",
    "judge": "the judge",
    "split": "how trips are split",
    "pool": "which other trips of the split drive the same route",
    "schema": "fields of the records",
    "selection": "the selection by score",
    "city": "the city is new to the release, or gone from it",
    "unknown": "not told by the versions",
}


def diff_blocks(report: ReleaseDiff) -> Iterator[Block]:
    """Yield a diff as blocks."""
    yield Heading(1, f"Release: {report.before.given} to {report.after.given}")
    yield Bullets([side_words("before", report.before), side_words("after", report.after)])
    if report.notes:
        yield Bullets(report.notes)
    for city in report.cities:
        yield from _city(city)
    named = {cause for city in report.cities for one in city.causes for cause in one.causes}
    if named:
        yield Heading(2, "Causes")
        yield Table(["cause", "what it is"], [[one, CAUSES[one]] for one in CAUSES if one in named])


def _city(city: CityDiff) -> Iterator[Block]:
    yield Heading(2, city.city)
    yield Paragraph(f"{city.trips_before:,} trips before, {city.trips_after:,} after.")
    heads = ["task", "before", "after", "same", "changed", "added", "removed"]
    rows = [
        [one.task, *(f"{n:,}" for n in (one.before, one.after, one.same, one.changed, one.added,
                                        one.removed))]
        for one in city.tasks
    ]  # fmt: skip
    yield Table(heads, rows, right=range(1, len(heads)))
    if city.causes:
        counts = [
            [one.state, " + ".join(one.causes), one.detail, f"{one.records:,}",
             "" if one.texts is None else f"{one.texts:,}"]
            for one in city.causes
        ]  # fmt: skip
        heads = ["records", "cause", "ended at", "number", "with another text"]
        yield Table(heads, counts, right=(3, 4))
    if city.aspects:
        listed = ", ".join(f"{one.aspect} {one.records:,}" for one in city.aspects)
        yield Paragraph(f"Changed records differ in: {listed}.")
    if city.fields:
        yield Table(
            ["task", "field", "change"],
            [[one.task, one.field, one.change] for one in city.fields],
        )
    if city.files:
        yield Paragraph(f"Other files: {', '.join(city.files)}.")
    if city.notes:
        yield Bullets(city.notes)
