"""The two planning fields: what each mention rests on, short enough to read and to parse.

    1.1 place "Central" id=n17 phase 15 | 2.1 roads "Rua A","Rua B" phases 3,4 | start "X" phase 0
    q1 2: 2.1 roads "Rua A","Rua B" phases 3,4 | q2 3: 3.2 heading north | ...

Entries are joined by ` | `; names are JSON strings, so any name can be read back.
"""

from collections.abc import Iterable, Sequence

import msgspec

from pipeline.language.engines.template.caption import Told
from pipeline.language.engines.template.evidence import Evidence
from pipeline.records import Target

# Longest planning text, characters: that of prompts/annotate/answer.schema.json.
LIMIT = 700
# So many phases are listed one by one: those of a sequence of roads lie parallel to its names.
FEW_PHASES = 4
_JOINT = " | "


def intent_planning(evidence: Evidence, told: Sequence[Told]) -> str:
    """Return the evidence of instructions and caption, what matters most first.

    Args:
        evidence: What was said of the trip.
        told: What its caption tells of the way.
    """
    trip = evidence.trip
    last = trip.phases[-1].p
    extras = [f"also {evidence_words(extra.target)}" for extra in evidence.extras]
    starts = [f"start {_quoted([start.name])} phase 0" for start in evidence.starts]
    ends = [name for name in (evidence.end_road, evidence.last.district, evidence.near_end) if name]
    last_ones = [f"end {_quoted([name])} phase {last}" for name in dict.fromkeys(ends)]
    way = [
        f"caption {_quoted([one.what]) if one.named else f'zone {one.what}'} {_phases(one.phases)}"
        for one in told
    ]
    targets = map(evidence_words, trip.intents.targets)
    return _within([*targets, *extras, *starts, *last_ones, *way])


def retrieval_planning(evidence: Evidence) -> str:
    """Return the evidence of each query: its number, its dimensions, its targets."""
    return _within(
        f"q{number} {','.join(map(str, query.dimensions))}:"
        f" {' + '.join(map(evidence_words, query.targets))}"
        for number, query in enumerate(evidence.trip.intents.queries, 1)
    )


def evidence_words(target: Target) -> str:
    """Return what a target is and where it lies: `2.1 roads "Rua A","Rua B" phases 3,4`."""
    parts = [target.scenario, target.kind]
    if target.feature:
        parts.append(target.feature)
    if target.polarity:
        parts.append(target.polarity)
    if target.names:
        parts.append(_quoted(target.names))
    if target.ids:
        parts.append(f"id={','.join(target.ids)}")
    if target.phases:
        parts.append(_phases(target.phases))
    return " ".join(parts)


def _quoted(names: Iterable[str]) -> str:
    return ",".join(msgspec.json.encode(name).decode() for name in names)


def _phases(phases: Sequence[int]) -> str:
    """Return `phase 3`, `phases 3,4` or, where there are many, `phases 3-6,9`."""
    if len(phases) <= FEW_PHASES:
        return f"phase{'s' if len(phases) > 1 else ''} {','.join(map(str, phases))}"
    runs: list[list[int]] = []
    for phase in phases:
        if runs and phase == runs[-1][-1] + 1:
            runs[-1].append(phase)
        else:
            runs.append([phase])
    said = ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"phases {said}"


def _within(entries: Iterable[str]) -> str:
    """Join entries as far as they fit; the first one is cut where it alone is too long."""
    text = ""
    for entry in entries:
        longer = f"{text}{_JOINT}{entry}" if text else entry[:LIMIT]
        if len(longer) > LIMIT:
            break
        text = longer
    return text
