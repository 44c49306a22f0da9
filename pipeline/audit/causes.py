"""What may have changed the texts: from differing inputs to causes, and what follows from them.

    causes(inputs, evidence)   ->  Cause("model", differs=False, what=[]),
                                   Cause("prompt", differs=True, what=["prompts/annotate/user.j2"])
    attribution(found, asked)  ->  "Of what decides the texts of paired trips one thing differs:
                                    prompt. ..."

Where a version has no files to compare, its rows tell what they can: each names its model, the hash
of its prompt files, its shots and its request. Trips and draws are causes too, but never of what
paired trips show: there both are equal.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pipeline.audit.inputs import Input
from pipeline.audit.report import Cause, Writer

# What can change the texts of a trip that is told with the same draws.
OF_TEXTS = ("model", "prompt", "seeds", "vocabulary", "phrases", "params", "code")
_STAGE = "annotate"
_MODEL = tuple(f"{_STAGE}.engine.{key}" for key in ("kind", "model", "revision"))
_GRAMMAR = "template"
# Covered by the prompt hash of the rows.
_HASHED = ("prompt", "seeds", "vocabulary")


class Asked(NamedTuple):
    """How the paired trips were asked for, as their rows tell.

    Attributes:
        other_request: Trips asked for by another request.
        shots: Numbers of seed examples a trip was shown, before and after; empty where unknown.
        other_shots: Trips that were shown as many seed examples, but others.
        all_else_equal: Trips asked for by another request, though model, prompt files and seed
            examples are the same, and the trip and its draws, too.
    """

    other_request: int
    shots: tuple[tuple[int, ...], tuple[int, ...]]
    other_shots: int
    all_else_equal: int


class Evidence(NamedTuple):
    """What the rows of a city say, beside its inputs.

    Attributes:
        before: Who wrote the texts before.
        after: Who wrote them after.
        other_trip: Trips in both that the writer saw otherwise; None where unknown.
        other_draws: The same trips with other draws; None where unknown.
        recorded: Stages of which dvc.lock of both versions tells how they were run.
        asked: How the paired trips were asked for.
    """

    before: Sequence[Writer]
    after: Sequence[Writer]
    other_trip: int | None
    other_draws: int | None
    recorded: frozenset[str]
    asked: Asked


def causes(inputs: Sequence[Input] | None, evidence: Evidence) -> list[Cause]:
    """Return every cause in a fixed order.

    Args:
        inputs: What differs among the inputs; None where a version has no files to compare.
        evidence: What the rows say.
    """
    return [
        _model(evidence),
        *(_of_texts(name, inputs, evidence) for name in OF_TEXTS[1:]),
        _counted("trip", evidence.other_trip, "trips that the writer saw otherwise"),
        _counted("draws", evidence.other_draws, "trips with other draws"),
        _read_by(
            "schema", inputs, lambda one: one.kind == "schema", known=_STAGE in evidence.recorded
        ),
        *(_later(stage, inputs, evidence) for stage in ("check", "judge")),
    ]


def _model(evidence: Evidence) -> Cause:
    before, after = (
        " + ".join(sorted({_words(one) for one in side}))
        for side in (evidence.before, evidence.after)
    )
    differs = before != after
    known = bool(before and after)
    return Cause("model", differs if known else None, [f"{before} -> {after}"] if differs else [])


def _words(one: Writer) -> str:
    # The grammar's revision is a hash of its phrase banks, which are a cause of their own.
    revision = "" if one.engine == _GRAMMAR else f" {one.revision}"
    return f"{one.model}{revision} ({one.engine})"


def _of_texts(name: str, inputs: Sequence[Input] | None, evidence: Evidence) -> Cause:
    """Tell of one kind of input of `annotate`."""
    if inputs is None and (told := _told_by_rows(name, evidence)) is not None:
        return told
    if name == "phrases":
        banks = [{one.revision for one in side if one.engine == _GRAMMAR}
                 for side in (evidence.before, evidence.after)]  # fmt: skip
        if not any(banks):
            return Cause(name, False, [])  # a model does not read them
        if inputs is None and all(banks):
            return Cause(name, banks[0] != banks[1], [])

    def is_it(one: Input) -> bool:
        kind = "code" if one.kind == "table" else one.kind
        # The rows say which model wrote them; who runs it decides only how fast.
        elsewhere = one.name in _MODEL or one.name.startswith(f"{_STAGE}.executor.")
        return kind == name and _STAGE in one.stages and not elsewhere

    return _read_by(name, inputs, is_it, known=name != "code" or _STAGE in evidence.recorded)


def _told_by_rows(name: str, evidence: Evidence) -> Cause | None:
    """Tell what the rows show where there are no files to compare; None where they show nothing."""
    hashes = [
        {one.prompt_hash for one in side if one.prompt_hash is not None}
        for side in (evidence.before, evidence.after)
    ]
    known, asked = all(hashes), evidence.asked
    if name in _HASHED and known and hashes[0] == hashes[1]:
        return Cause(name, False, [])
    if name == "prompt" and known:
        old, new = (" + ".join(sorted(one[:8] for one in side)) for side in hashes)
        return Cause(name, True, [f"hash of prompt files, seeds and vocabulary: {old} -> {new}"])
    if name == "seeds" and asked.other_shots:
        return Cause(name, True, [f"{asked.other_shots:,} trips were shown other examples"])
    if name == "params":
        old, new = (" + ".join(map(str, side)) for side in asked.shots)
        what = [f"{_STAGE}.shots: {old} -> {new}"] if old != new else []
        if asked.all_else_equal:
            what.append(f"{asked.all_else_equal:,} trips asked by another request, all else equal")
        return Cause(name, True, what) if what else None
    return None


def _later(stage: str, inputs: Sequence[Input] | None, evidence: Evidence) -> Cause:
    """Tell of what decides checks or scores beside the texts."""

    def is_it(one: Input) -> bool:
        return stage in one.stages and one.kind != "data"

    return _read_by(stage, inputs, is_it, known=stage in evidence.recorded)


def _read_by(
    name: str,
    inputs: Sequence[Input] | None,
    is_it: Callable[[Input], bool],
    *,
    known: bool = True,
) -> Cause:
    what = [one.name for one in inputs or () if is_it(one)]
    return Cause(name, bool(what) if inputs is not None and (what or known) else None, what)


def _counted(name: str, count: int | None, words: str) -> Cause:
    what = [f"{count:,} {words}"] if count else []
    return Cause(name, None if count is None else count > 0, what)


def attribution(found: Sequence[Cause], asked: Asked) -> str:
    """Say in a sentence or two what may be concluded on the paired trips."""
    of_texts = [one for one in found if one.cause in OF_TEXTS]
    differing = [one.cause for one in of_texts if one.differs]
    unknown = [one.cause for one in of_texts if one.differs is None]
    rest = f" Not known: {', '.join(unknown)}." if unknown else ""
    if not differing and asked.other_request:
        return (
            f"Something that decides the texts differs, as {asked.other_request:,} of the paired"
            f" trips were asked for by another request; what it is, the versions do not tell.{rest}"
        )
    if not differing:
        return f"Nothing that decides the texts of paired trips is known to differ.{rest}"
    if len(differing) == 1:
        return (
            "Of what decides the texts of paired trips one thing differs:"
            f" {differing[0]}. What follows comes from it, or, with a model that samples, from its"
            f" drawing anew.{rest}"
        )
    return (
        f"Of what decides the texts of paired trips several things differ: {', '.join(differing)}."
        f" Their effects cannot be told apart here; change one at a time to do so.{rest}"
    )
