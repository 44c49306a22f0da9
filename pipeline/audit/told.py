"""Tell an audit to a reader: the record as headings, sentences and tables.

    audit_blocks(report)  ->  [Heading(1, "What changed from v1 to workspace"), ...]

Every number of the record that a reader needs is here once; `--json` has them all.
"""

from collections.abc import Iterator, Sequence

from pipeline.audit.blocks import (
    BesideEachOther,
    Block,
    Bullets,
    Difference,
    Heading,
    Paragraph,
    Table,
)
from pipeline.audit.inputs import Input
from pipeline.audit.report import AuditReport, CityAudit, Measure, Reason, Rows, Side, Writer

UNKNOWN = "not known"
_FAMILIES = {
    "length": "Length, words of a text",
    "questions": "Texts that ask",
    "openers": "Different first two words over texts",
    "word_pairs": "Different word pairs over word pairs (distinct-2)",
    "grounding": "Grounding of names",
    "check": "Quality control: trips with a finding of each rule",
    "judge": "Scores of the judge, 1 to 5",
}
_INPUTS = {
    "prompt": "prompt",
    "seeds": "seed examples",
    "vocabulary": "vocabulary",
    "phrases": "phrase bank",
    "table": "table of the program",
    "params": "parameter",
    "config": "setting of the city",
    "code": "code",
    "schema": "schema",
    "data": "data",
}
NOTES = """\
A trip is the unit. Intervals are of 95 %. p is two-sided; p (Holm) is adjusted for all figures of \
the city; without that, one in twenty would fall below 0.05 by chance alone. pp = percentage points.
Means and ratios: bootstrap over trips; p by exchanging before and after of each trip at random \
(2,000 times each, so p is at least 0.0005). Shares of trips: McNemar's exact test, interval of \
Bonett and Price.
Variety falls with the number of texts and of words, so only sets of the same trips compare. Its \
interval is of half samples, as a trip drawn twice would be a copy of itself."""


def audit_blocks(report: AuditReport) -> Iterator[Block]:
    """Yield a report as blocks; all cities together come first."""
    before, after = report.before.given, report.after.given
    yield Heading(1, f"What changed from {before} to {after}")
    yield Bullets([side_words("before", report.before), side_words("after", report.after)])
    if report.notes:
        yield Bullets(report.notes)
    cities = [*([report.overall] if report.overall else []), *report.cities]
    if report.overall:
        yield _overview(cities)
    for city in cities:
        yield from _city(city, (before, after))
    yield Heading(2, "How to read the figures")
    yield Bullets(NOTES.splitlines())


def side_words(name: str, side: Side) -> str:
    """Say which version a side is."""
    commit = f", commit {side.commit[:12]}" if side.commit else ""
    return f"{name}: {side.given} ({side.kind}{commit})"


def _overview(cities: Sequence[CityAudit]) -> Table:
    heads = ["city", "before", "after", "compared", "changed", "worse"]
    rows = [
        [one.city, _n(one.rows.before), _n(one.rows.after), _n(one.rows.paired),
         _n(one.rows.changed), _n(one.worse_trips)]
        for one in cities
    ]  # fmt: skip
    return Table(heads, rows, right=range(1, len(heads)))


def _city(city: CityAudit, sides: tuple[str, str]) -> Iterator[Block]:
    yield Heading(2, city.city)
    if city.notes:
        yield Bullets([f"Note: {note}" for note in city.notes])
    yield Heading(3, "What differs")
    yield Paragraph(city.attribution)
    yield from _inputs(city)
    yield from _prompts(city)
    yield Heading(3, "Trips")
    yield Bullets(list(_rows(city.rows)))
    yield from _reasons(city.rows)
    yield from _figures(city)
    yield from _worse(city, sides)


def _inputs(city: CityAudit) -> Iterator[Block]:
    rows = [
        [one.cause, {True: "yes", False: "no", None: UNKNOWN}[one.differs], ", ".join(one.what)]
        for one in city.causes
    ]
    yield Table(["what", "differs", "where"], rows)
    for name, writers in (("before", city.writers_before), ("after", city.writers_after)):
        yield Paragraph(f"Written {name} by: {'; '.join(map(_writer, writers)) or 'nobody'}.")
    if city.inputs is None:
        yield Paragraph("Files and parameters: not known, only data were given.")
    elif city.inputs:
        yield Table(
            ["kind", "input", "before", "after", "read by"],
            [_input(one) for one in city.inputs],
        )


def _writer(one: Writer) -> str:
    prompt = f", prompt {one.prompt_hash[:8]}" if one.prompt_hash else ""
    return f"{one.model} {one.revision} ({one.engine}{prompt}), {one.trips:,} trips"


def _input(one: Input) -> list[str]:
    before, after = (("not there" if side is None else side) for side in (one.before, one.after))
    if one.note:
        before, after = ("" if side == "there" else side for side in (before, after))
        after = f"{after} {one.note}".strip()
    return [_INPUTS[one.kind], one.name, before, after, ", ".join(one.stages)]


def _prompts(city: CityAudit) -> Iterator[Block]:
    if not city.prompts:
        return
    yield Heading(3, "Rendered prompts that differ")
    yield Paragraph("Both sides are rendered by the code of today.")
    for one in city.prompts:
        yield Difference(one.of, one.difference.split("\n"))


def _rows(rows: Rows) -> Iterator[str]:
    yield (
        f"{_n(rows.before)} trips with texts before, {_n(rows.after)} after, {_n(rows.both)} on"
        " both sides"
    )
    if rows.other_draws is None:
        yield "draws: not known whether they are the same; trips are paired by their id"
    elif rows.other_draws or rows.other_trip:
        yield (
            f"draws: {_n(rows.other_draws)} trips have other draws, {_n(rows.other_trip)} are"
            f" another trip to the writer; they are not compared"
        )
    else:
        yield "draws: the same in both versions, for every trip on both sides"
    yield (
        f"{_n(rows.paired)} trips compared: {_n(rows.paired - rows.changed)} with the same seven"
        f" texts, {_n(rows.changed)} with a text that differs; {_n(rows.other_request)} asked by"
        " another request"
    )
    changed = [f"{field} {_n(count)}" for field, count in rows.changed_texts.items() if count]
    if changed:
        yield f"texts that differ: {', '.join(changed)}"


def _reasons(rows: Rows) -> Iterator[Block]:
    listed = [
        *_reason_rows("only before", rows.only_before, rows.why_only_before),
        *_reason_rows("only after", rows.only_after, rows.why_only_after),
    ]
    if listed:
        yield Table(["trips", "on the other side", "trips"], listed, right=(2,))


def _reason_rows(name: str, total: int, reasons: Sequence[Reason]) -> Iterator[list[str]]:
    if total:
        yield [name, "in all", _n(total)]
    for one in reasons:
        refused = f"refused by {one.stage}: {one.reason}" if one.stage else one.reason
        yield [name, refused, _n(one.trips)]


def _figures(city: CityAudit) -> Iterator[Block]:
    yield Heading(3, "Figures of the compared trips")
    if not city.rows.paired:
        yield Paragraph("No trip can be compared.")
    elif not city.rows.changed:
        yield Paragraph("No text differs, so neither does any figure of texts.")
    for family, title in _FAMILIES.items():
        found = [one for one in city.measures if one.family == family and one.n]
        of_texts = family in {"length", "questions", "openers", "word_pairs"}
        if found and (city.rows.changed or not of_texts):
            yield _table(title, found)
    for one in city.absent:
        yield Paragraph(f"Not available: {one.part}: {one.why}")


def _table(title: str, found: Sequence[Measure]) -> Table:
    shares = any(one.test == "mcnemar" for one in found)
    heads = [title, "trips", "before", "after", "difference", "95 %", "p", "p (Holm)"]
    heads += ["yes to no", "no to yes"] if shares else []
    rows = []
    for one in found:
        cells = [one.name, _n(one.n), *(_value(side, one.unit) for side in (one.before, one.after))]
        cells += [_signed(one.difference, one.unit), _interval(one), _p(one.p), _p(one.p_holm)]
        cells += (
            ["" if one.lost is None else _n(one.lost), "" if one.gained is None else _n(one.gained)]
            if shares
            else []
        )
        rows.append(cells)
    return Table(heads, rows, right=range(1, len(heads)))


def _worse(city: CityAudit, sides: tuple[str, str]) -> Iterator[Block]:
    yield Heading(3, "Trips that got worse")
    if city.worse_trips is None:
        yield Paragraph("Not available: no trip lost its texts, and neither quality control nor a"
                        " judge tells more.")  # fmt: skip
        return
    shown = f", of which the worst {len(city.worse)}" if len(city.worse) < city.worse_trips else ""
    yield Paragraph(f"{_n(city.worse_trips)} trips{shown}:" if city.worse_trips else "None.")
    for one in city.worse:
        rows = [(text.field, text.before, text.after) for text in one.texts]
        yield BesideEachOther(f"{one.city} {one.trip_id}", one.why, sides, rows)


# ---- numbers -----------------------------------------------------------------------------------


def _n(number: int | None) -> str:
    return UNKNOWN if number is None else f"{number:,}"


def _value(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    return f"{value:.1%}" if unit == "share" else f"{value:.2f}"


def _signed(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    text = f"{100 * value:+.1f}" if unit == "share" else f"{value:+.2f}"
    return "0" if float(text) == 0 else f"{text} pp" if unit == "share" else text


def _interval(one: Measure) -> str:
    if one.low is None or one.high is None:
        return "-"
    return f"{_signed(one.low, one.unit).removesuffix(' pp')} to {_signed(one.high, one.unit)}"


def _p(p: float | None) -> str:
    if p is None:
        return "-"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
