"""Say what a run would ask before it asks: requests, tokens, time, and what changes in prompts.

    plan(root, ["monaco"], against="HEAD", diffs=2)
    ->  TaskPlan(stage="annotate", city="monaco", task="annotate", requests=722, reused=700,
                 new=22, exhausted=0, prompt_tokens=88310, output_tokens=6900, seconds=14.0,
                 change=Change("HEAD", compared=722, prompts_differ=22, ...)), ...

Every stage of the table that asks is planned, by the function `asking` beside its own, which makes
the requests as a run does. No model is started and nothing is written. Requests are those of
today's tables: what a stage would make of texts that are not written yet nobody can tell. Both
sides of the comparison are rendered by this version's code; prompts and parameters are the
revision's.
"""

import importlib
import inspect
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, cast

import msgspec

from pipeline.errors import ContractError, PipelineError, SourceError
from pipeline.language.asked import Asking, sorted_out, standing
from pipeline.language.beside import Beside
from pipeline.language.ledger import Ledger
from pipeline.language.prompt_change import Change, change_words, compared
from pipeline.language.requests import NO_MODEL, ModelId
from pipeline.language.revision import files_at
from pipeline.language.tokens import TokenCount
from pipeline.params import Parameters
from pipeline.progress import progress_bar
from pipeline.runner import ledger_folder, stage_arguments
from pipeline.stages import STAGES, Stage
from pipeline.store import StageIO

HEAD = "HEAD"


class TaskPlan(msgspec.Struct, frozen=True):
    """What a run of one stage would ask of one model.

    Attributes:
        stage: The stage.
        city: Key of the city; null for a stage of the whole project.
        task: What is asked for, as the ledger names it; null where the stage names nobody to ask.
        model: Who would be asked, likewise. Where it is `rules`, which are no model and have no
            requests, what follows is null; `template` is no model either, and reads no tokens.
        missing: What is not there yet or of another form, and the command that makes it; "" when
            all is there. All that follows is null then.
        requests: Requests in all.
        reused: Have an answer in the ledger.
        new: Would be sent, for the first time or again.
        exhausted: Have no answer and are not asked again: no attempt is left, or it is no use.
        importable: Of the new ones, those with an answer beside the texts, which the ledger lacks.
        import_from: Where these answers lie, for `ledger import`; "" where there are none.
        prompt_tokens: Tokens the new ones would read, once each.
        prompt_tokens_from: How they were counted.
        output_tokens: Tokens they would write, at the mean of this model's answers so far; null
            where none is known.
        seconds: Time it would take at the speed measured with this model; null where none is known.
        change: The comparison with a revision; null where there is no git repository.
    """

    stage: str
    city: str | None
    task: str | None = None
    model: ModelId | None = None
    missing: str = ""
    requests: int | None = None
    reused: int | None = None
    new: int | None = None
    exhausted: int | None = None
    importable: int | None = None
    import_from: str = ""
    prompt_tokens: int | None = None
    prompt_tokens_from: str | None = None
    output_tokens: int | None = None
    seconds: float | None = None
    change: Change | None = None


class _Version:
    """The files that decide requests: prompts, params.yaml and configs, of now or of a revision."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.parameters = folder, Parameters(folder)

    def lacks(self, stage: Stage, city: str | None) -> str:
        """Return a file of a stage that is not there, as an older revision may have none."""
        files = [file for file in stage.files if file.startswith("prompts/")]
        files += [f"configs/{city}.yaml"] if stage.config else []
        return next((file for file in files if not (self.folder / file).exists()), "")

    def askings(self, stage: Stage, io: StageIO, city: str | None) -> list[Asking]:
        """Return what a stage asks with these files."""
        asking = asking_function(stage)
        given = stage_arguments(stage, city, self.parameters)
        given |= {"prompts": self.folder / "prompts"}
        names = list(inspect.signature(asking).parameters)[1:]
        return list(asking(io, **{name: given[name] for name in names}))


class _Run(NamedTuple):
    """A run that is planned: a stage, the city or none, and the doors it would have."""

    stage: Stage
    city: str | None
    io: StageIO

    @property
    def name(self) -> str:
        """Return what it is called in a line: `judge monaco`."""
        return f"{self.stage.name} {self.city}" if self.city else self.stage.name

    def missing(self) -> str:
        """Return what the stage reads and is not there yet, and how to make it."""
        lacking = [name for name in self.stage.reads if not self.io.has(name)]
        if not lacking:
            return ""
        makers = [stage for stage in STAGES if set(stage.writes) & set(lacking)]
        makes = " ".join(
            f"{one.name}@{self.city}" if one.scope == "city" else one.name for one in makers
        )
        return f"{', '.join(lacking)} not there yet; run `dvc repro {makes}`"


def asking_function(stage: Stage) -> Callable[..., Iterator[Asking]]:
    """Return the function beside a stage's own that yields what it asks.

    It is given the stage's doors, the folder `prompts`, and those of the stage's sections it names.
    """
    module = importlib.import_module(stage.function.partition(":")[0])
    return cast("Callable[..., Iterator[Asking]]", module.asking)


def plan(
    root: Path, cities: Sequence[str], *, against: str | None, diffs: int
) -> Iterator[TaskPlan]:
    """Plan every stage that asks.

    Args:
        root: Root of the project.
        cities: Keys of cities, whose own stages are planned; none means all of params.yaml, and
            the stages of the whole project as well.
        against: Git revision to compare prompts with; None = HEAD, where there is a repository.
        diffs: Most differing prompts of a task to show.

    Raises:
        ParameterError: Unknown city, or a fault in a section.
        PromptError: A template of the working tree is broken.
        SourceError: There is no such revision.
    """
    now = _Version(root)
    for key in cities:
        now.parameters.city(key)
    with ExitStack() as stack:
        before = _before(root, against, stack)
        ledger = stack.enter_context(_ledger(root, now.parameters, stack))
        for run in _runs(root, cities, now.parameters):
            askings = now.askings(run.stage, run.io, run.city)
            if not askings:
                yield TaskPlan(run.stage.name, run.city)
            for asking in askings:
                planned = _planned(root, run, asking, ledger)
                if before is not None and planned.requests is not None:
                    change = _change(run, asking, before, most=diffs)
                    change = msgspec.structs.replace(change, revision=against or HEAD)
                    planned = msgspec.structs.replace(planned, change=change)
                yield planned


def _runs(root: Path, cities: Sequence[str], parameters: Parameters) -> Iterator[_Run]:
    asking = [stage for stage in STAGES if stage.asks]
    for key in cities or parameters.cities:
        for stage in asking:
            if stage.scope == "city":
                yield _Run(stage, key, StageIO(stage, city=key, root=root))
    for stage in asking:
        if stage.scope == "project" and not cities:
            yield _Run(stage, None, StageIO(stage, city=None, root=root))


def _before(root: Path, against: str | None, stack: ExitStack) -> _Version | None:
    """Return the version to compare with; None where no revision is asked for and there is none."""
    try:
        folder = stack.enter_context(files_at(root, against or HEAD))
    except SourceError:
        if against is None:
            return None
        raise
    return _Version(folder)


def _ledger(root: Path, parameters: Parameters, stack: ExitStack) -> Ledger:
    """Return the ledger to read; one for the time being where there is none, as none is made."""
    ledger = Ledger(ledger_folder(root, parameters), to_read=True)
    if ledger.file.is_file():
        return ledger
    return Ledger(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ledger-"))))


def _planned(root: Path, run: _Run, asking: Asking, ledger: Ledger) -> TaskPlan:
    """Return where the requests to one model stand; the rules have none."""
    task, model, settings = asking.task, asking.model, asking.settings
    bare = TaskPlan(run.stage.name, run.city, task, model)
    if settings is None:
        return bare
    missing = run.missing()
    if missing:
        return msgspec.structs.replace(bare, missing=missing)
    tokens, beside = TokenCount(settings.engine), Beside(root, run.stage, run.city)
    try:
        shown = progress_bar(asking.requests(), total=None, unit="request", desc=f"plan {run.name}")
        stream = sorted_out(shown, ledger, attempts=settings.attempts)
        # What makes answers by rule has no use for old ones.
        stream = stream if model.engine in NO_MODEL else beside.counting(stream)
        stands = standing(tokens.counting(stream))
    except ContractError as fault:  # tables of an earlier version of the code
        return msgspec.structs.replace(bare, missing=str(fault))
    mean, speed = ledger.mean_output_tokens(task, model), ledger.throughput(task, model)
    output = None if mean is None else round(mean * stands.due)
    return msgspec.structs.replace(
        bare,
        requests=stands.total,
        reused=stands.reused,
        new=stands.due,
        exhausted=stands.exhausted,
        importable=beside.found,
        import_from=beside.shown if beside.found else "",
        prompt_tokens=tokens.total,
        prompt_tokens_from=tokens.how,
        output_tokens=output,
        seconds=None if output is None or speed is None else round(output / speed, 1),
    )


# ---- against a revision --------------------------------------------------------------------------


def _change(run: _Run, asking: Asking, before: _Version, *, most: int) -> Change:
    """Compare the requests of the working tree with those of a revision's files.

    A judge is compared with the revision's judge of the same model; where there is none, prompts
    are those of its first one.
    """
    lacks = before.lacks(run.stage, run.city)
    if lacks:
        return Change(why_not=f"it has no {lacks}")
    try:
        old = [one for one in before.askings(run.stage, run.io, run.city) if one.settings]
        old.sort(key=lambda one: one.model.model != asking.model.model)
        if not old:
            return Change(why_not="it asked no model")
        return compared(asking.requests, old[0].requests, most=most)
    except PipelineError as fault:  # of the revision: the working tree's side was rendered before
        return Change(why_not=str(fault).replace(f"{before.folder}/", ""))


# ---- in words ------------------------------------------------------------------------------------


def plan_words(planned: TaskPlan) -> Iterator[str]:
    """Yield a plan as lines for a person; one line where nobody or the rules are asked."""
    model = planned.model
    name = f"{planned.stage} {planned.city}" if planned.city else planned.stage
    if model is None:
        yield f"{name} · nobody is named: no model is asked"
        return
    if model.engine in NO_MODEL:
        made = (
            f" and nothing is paid for; {_made_words(planned)}" if planned.new is not None else ""
        )
        yield f"{name} · {model.engine}: no model is asked{made}"
    else:
        yield f"{name} · {model.engine} {model.model} {model.revision}"
    if planned.missing:
        yield f"  {planned.missing}"
    elif planned.requests is not None and model.engine not in NO_MODEL:
        yield from (f"  {line}" for line in _cost_words(planned))
    if planned.change is not None:
        yield from (f"  {line}" for line in change_words(planned.change))


def _made_words(planned: TaskPlan) -> str:
    """Say what is made by rule; a reader must not take it for requests that cost something."""
    kept = f"{planned.reused:,}" if planned.reused else "none"
    words = f"{planned.new:,} answers to make, {kept} kept"
    return f"{words}, {planned.exhausted:,} given up" if planned.exhausted else words


def _cost_words(planned: TaskPlan) -> Iterator[str]:
    yield (
        f"{planned.requests:,} requests: {planned.reused:,} reused, {planned.new:,} new,"
        f" {planned.exhausted:,} exhausted"
    )
    if planned.new and planned.prompt_tokens is not None:
        output, seconds = planned.output_tokens, planned.seconds
        written = "an unknown number" if output is None else f"about {output:,}"
        took = "an unknown time" if seconds is None else f"about {seconds:,.0f} s"
        read = f"{planned.prompt_tokens:,} tokens ({planned.prompt_tokens_from})"
        yield f"to read {read}, to write {written}, in {took}"
    if planned.importable:
        yield (
            f"{planned.importable:,} of the new have an answer that was pulled; to keep it run"
            f" `python -m pipeline ledger import {planned.import_from}`"
        )


def print_plans(plans: Iterable[TaskPlan], *, as_json: bool) -> None:
    """Print plans, as lines when each is known or as one JSON array."""
    if as_json:
        print(json.dumps(msgspec.to_builtins(list(plans)), ensure_ascii=False, indent=2))
        return
    for planned in plans:
        for line in plan_words(planned):
            print(line)
