"""What may have changed the texts: from differing inputs to causes, and what follows from them.

    causes(inputs, evidence)  ->  Cause("model", differs=False, what=[]),
                                  Cause("prompt", differs=True, what=["prompts/annotate/system.j2"])
    attribution(found)        ->  "Of what decides the texts of paired trips one thing differs:
                                   prompt. ..."

Trips and draws are causes too, but never of what paired trips show: there both are equal.
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


class Evidence(NamedTuple):
    """What the rows of a city say, beside its inputs.

    Attributes:
        before: Who wrote the texts before.
        after: Who wrote them after.
        other_trip: Trips in both that the writer saw otherwise; None where unknown.
        other_draws: The same trips with other draws; None where unknown.
        recorded: Stages of which dvc.lock of both versions tells how they were run.
    """

    before: Sequence[Writer]
    after: Sequence[Writer]
    other_trip: int | None
    other_draws: int | None
    recorded: frozenset[str]


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
    hashes = [{one.prompt_hash for one in side} for side in (evidence.before, evidence.after)]
    if inputs is None and name in _HASHED and hashes[0] == hashes[1] and all(map(any, hashes)):
        return Cause(name, False, [])
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


def attribution(found: Sequence[Cause]) -> str:
    """Say in a sentence or two what may be concluded on the paired trips."""
    of_texts = [one for one in found if one.cause in OF_TEXTS]
    differing = [one.cause for one in of_texts if one.differs]
    unknown = [one.cause for one in of_texts if one.differs is None]
    rest = f" Not known: {', '.join(unknown)}." if unknown else ""
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
