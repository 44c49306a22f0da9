"""Say what a run would ask before it asks: requests, tokens, time, and what changes in prompts.

    plan(root, ["monaco"], against="HEAD", diffs=2)
    ->  TaskPlan(city="monaco", task="annotate", requests=722, reused=700, new=22, exhausted=0,
                 prompt_tokens=88310, output_tokens=6900, seconds=14.0,
                 change=Change("HEAD", prompts_differ=22, requests_differ=22, diffs=[...])), ...

No model is started and nothing is written. Both sides of the comparison are rendered by this
version's code from today's trips; only prompt files and params.yaml are those of the revision.
"""

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import msgspec
import polars as pl

from pipeline.errors import PipelineError, SourceError
from pipeline.language import annotate as annotation
from pipeline.language import narrate as narration
from pipeline.language.asked import AskSettings, sorted_out, standing
from pipeline.language.engines.settings import model_id
from pipeline.language.ledger import Ledger
from pipeline.language.requests import Message, ModelId, Request
from pipeline.language.revision import changed_lines, files_at
from pipeline.language.tokens import TokenCount
from pipeline.params import Parameters
from pipeline.progress import progress_bar
from pipeline.runner import ledger_folder, stage_named
from pipeline.store import StageIO

TASKS = (annotation.TASK, narration.TASK)
HEAD = "HEAD"
_DIFF_LINES = 30


class Change(msgspec.Struct, frozen=True):
    """What a revision's prompts and parameters would make of the same items.

    Attributes:
        revision: The revision compared with.
        why_not: Why there is nothing to compare with; "" where there is.
        prompts_differ: Items whose prompt is another text; null where nothing is compared.
        requests_differ: Items whose request has another key: prompt, schema, model or sampling.
        diffs: Differences of a few, as `diff -u` shows them; the system message's comes first.
    """

    revision: str = ""
    why_not: str = ""
    prompts_differ: int | None = None
    requests_differ: int | None = None
    diffs: list[str] = []


class TaskPlan(msgspec.Struct, frozen=True):
    """What a run of one task for one city would do.

    Attributes:
        city: Key of the city.
        task: `annotate` or `narrate`.
        model: Who would be asked.
        missing: What is not there yet, and the command that makes it; "" when all is there. All
            that follows is null then.
        requests: Requests in all.
        reused: Have an answer in the ledger.
        new: Would be sent, for the first time or again.
        exhausted: Have no answer and are not asked again: no attempt is left, or it is no use.
        prompt_tokens: Tokens the new ones would read, once each; null for the template engine.
        prompt_tokens_from: How they were counted.
        output_tokens: Tokens they would write, at the mean of this model's answers so far; null
            where none is known.
        seconds: Time it would take at the speed measured with this model; null where none is known.
        change: The comparison with a revision; null where there is no git repository.
    """

    city: str
    task: str
    model: ModelId
    missing: str
    requests: int | None = None
    reused: int | None = None
    new: int | None = None
    exhausted: int | None = None
    prompt_tokens: int | None = None
    prompt_tokens_from: str | None = None
    output_tokens: int | None = None
    seconds: float | None = None
    change: Change | None = None


class _Asking(NamedTuple):
    """One task of one city: who is asked, and all the requests, anew with each call."""

    settings: AskSettings
    requests: Callable[[], Iterator[Request]]


class _Version(NamedTuple):
    """What decides requests: the folder of prompts, and the parameters."""

    prompts: Path
    parameters: Parameters


class _City(NamedTuple):
    """A city as a task reads it: the artifacts, and which of its cells are told."""

    key: str
    io: StageIO
    narrate_cells: narration.NarrateCells

    def asking(self, task: str, version: _Version) -> _Asking:
        """Return how a task asks with the prompts and sections of a version."""
        if task == annotation.TASK:
            annotate = version.parameters.section(task, annotation.AnnotateSettings)
            trips = annotation.AnnotationRequests(version.prompts, annotate)
            return _Asking(annotate, lambda: annotation.requests_for(self.io, trips))
        narrate = version.parameters.section(task, narration.NarrateSettings)
        cells = narration.NarrationRequests(version.prompts, narrate)
        return _Asking(narrate, lambda: narration.requests_for(self.cells(), cells))

    def cells(self) -> pl.DataFrame:
        """Return the cells that are told."""
        return narration.wanted_cells(self.io, self.narrate_cells)

    def missing(self, task: str) -> str:
        """Return what a task reads and is not there yet, and how to make it."""
        reads = {"planned": "plan_intents"}
        if task == narration.TASK:
            reads = {"cells": "cells", "phased": "compress"}
            if self.narrate_cells != "visited":
                del reads["phased"]
        lacking = [name for name in reads if not self.io.has(name)]
        if not lacking:
            return ""
        makes = " ".join(f"{reads[name]}@{self.key}" for name in lacking)
        return f"{', '.join(lacking)} not there yet; run `dvc repro {makes}`"


def plan(
    root: Path, cities: Sequence[str], *, against: str | None, diffs: int
) -> Iterator[TaskPlan]:
    """Plan every task of the cities.

    Args:
        root: Root of the project.
        cities: Keys of cities; none means all of params.yaml.
        against: Git revision to compare prompts with; None = HEAD, where there is a repository.
        diffs: Most differing prompts of a task to show.

    Raises:
        ParameterError: Unknown city, or a fault in a section.
        PromptError: A template of the working tree is broken.
        SourceError: There is no such revision.
    """
    now = _Version(root / "prompts", Parameters(root))
    for key in cities:
        now.parameters.city(key)
    with ExitStack() as stack:
        before = _before(root, against, stack)
        ledger = stack.enter_context(Ledger(_folder(root, now.parameters, stack)))
        for key in cities or list(now.parameters.cities):
            which = now.parameters.config(key, "narrate_cells", narration.NarrateCells)
            for task in TASKS:
                city = _City(key, StageIO(stage_named(task), city=key, root=root), which)
                planned = _plan_task(city, task, now, ledger)
                if before is not None and not planned.missing:
                    change = _change(city, task, now, before, _Differences(diffs))
                    change = msgspec.structs.replace(change, revision=against or HEAD)
                    planned = msgspec.structs.replace(planned, change=change)
                yield planned


def _before(root: Path, against: str | None, stack: ExitStack) -> _Version | None:
    """Return the version to compare with; None where no revision is asked for and there is none."""
    try:
        folder = stack.enter_context(files_at(root, against or HEAD))
    except SourceError:
        if against is None:
            return None
        raise
    return _Version(folder / "prompts", Parameters(folder))


def _folder(root: Path, parameters: Parameters, stack: ExitStack) -> Path:
    """Return the ledger's folder; one for the time being where there is none, as none is made."""
    folder = ledger_folder(root, parameters)
    if Ledger(folder).file.is_file():
        return folder
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ledger-")))


def _plan_task(city: _City, task: str, now: _Version, ledger: Ledger) -> TaskPlan:
    settings, requests = city.asking(task, now)
    model = model_id(settings.engine)
    missing = city.missing(task)
    if missing:
        return TaskPlan(city=city.key, task=task, model=model, missing=missing)
    tokens = TokenCount(settings.engine)
    total = city.io.rows("planned") if task == annotation.TASK else None
    shown = progress_bar(requests(), total=total, unit="request", desc=f"plan {task} {city.key}")
    stands = standing(tokens.counting(sorted_out(shown, ledger, attempts=settings.attempts)))
    mean, speed = ledger.mean_output_tokens(task, model), ledger.throughput(task, model)
    output = None if mean is None else round(mean * stands.due)
    return TaskPlan(
        city=city.key,
        task=task,
        model=model,
        missing="",
        requests=stands.total,
        reused=stands.reused,
        new=stands.due,
        exhausted=stands.exhausted,
        prompt_tokens=tokens.total,
        prompt_tokens_from=tokens.how,
        output_tokens=output,
        seconds=None if output is None or speed is None else round(output / speed, 1),
    )


def _change(
    city: _City, task: str, now: _Version, before: _Version, differences: "_Differences"
) -> Change:
    """Compare the requests of the working tree with those of a revision's files."""
    if not (before.prompts / task).is_dir():
        return Change(why_not=f"it has no prompts/{task}")
    new = city.asking(task, now)
    prompts = requests = 0
    try:
        old = city.asking(task, before)
        for one, other in zip(new.requests(), old.requests(), strict=True):
            requests += one.key != other.key
            if one.messages != other.messages:
                prompts += 1
                differences.add(one.item_id, other.messages, one.messages)
    except PipelineError as fault:  # of the revision: the working tree's side was rendered before
        return Change(why_not=str(fault))
    return Change(prompts_differ=prompts, requests_differ=requests, diffs=differences.texts)


class _Differences:
    """The differences of the first few prompts; the system message, shared by all, once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._items = 0
        self._system: Message | None = None
        self.texts: list[str] = []

    def add(self, item_id: str, old: Sequence[Message], new: Sequence[Message]) -> None:
        """Show a difference, if there is room for it."""
        if self._system is None and old[0] != new[0] and self._most:
            self._system = new[0]
            self._show("system message, the same for all", old[0].content, new[0].content)
        if self._items < self._most and old[1:] != new[1:]:
            self._items += 1
            self._show(item_id, _turns(old[1:]), _turns(new[1:]))

    def _show(self, title: str, old: str, new: str) -> None:
        self.texts.append(f"{title}\n{changed_lines(old, new, most=_DIFF_LINES)}")


def _turns(messages: Sequence[Message]) -> str:
    return "\n".join(f"[{message.role}]\n{message.content}" for message in messages)


def plan_words(planned: TaskPlan) -> Iterator[str]:
    """Yield a plan as lines for a person."""
    model = planned.model
    yield f"{planned.task} {planned.city} · {model.engine} {model.model} {model.revision}"
    if planned.missing:
        yield f"  {planned.missing}"
        return
    yield (
        f"  {planned.requests:,} requests: {planned.reused:,} reused, {planned.new:,} new,"
        f" {planned.exhausted:,} exhausted"
    )
    if planned.new and planned.prompt_tokens is not None:
        output, seconds = planned.output_tokens, planned.seconds
        written = "an unknown number" if output is None else f"about {output:,}"
        took = "an unknown time" if seconds is None else f"about {seconds:,.0f} s"
        read = f"{planned.prompt_tokens:,} tokens ({planned.prompt_tokens_from})"
        yield f"  to read {read}, to write {written}, in {took}"
    if planned.change is not None:
        yield from (f"  {line}" for line in _change_words(planned.change, planned.requests or 0))


def _change_words(change: Change, total: int) -> Iterator[str]:
    if change.why_not:
        yield f"against {change.revision}: not compared, {change.why_not}"
        return
    yield (
        f"against {change.revision}: {change.prompts_differ:,} of {total:,} prompts differ,"
        f" {change.requests_differ:,} requests have another key"
    )
    for text in change.diffs:
        title, *lines = text.split("\n")
        yield f"  {title}"
        yield from (f"    {line}" for line in lines)


def print_plans(plans: Iterable[TaskPlan], *, as_json: bool) -> None:
    """Print plans, as lines when each is known or as one JSON array."""
    if as_json:
        print(json.dumps(msgspec.to_builtins(list(plans)), ensure_ascii=False, indent=2))
        return
    for planned in plans:
        for line in plan_words(planned):
            print(line)
