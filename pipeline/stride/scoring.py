"""Score scenarios: checks give questions, questions give scenarios, scenarios give the benchmark.

    scores = score_benchmark(benchmark, source, mode="strict")
    scores[0].score                     ->  0.5: mean of its questions
    scores[0].questions[0].score        ->  1.0: mean of its checks (not: whether all pass)

Every scenario of the benchmark has an entry. In strict mode one without a sound trajectory fails in
all its checks and scores 0; in reference mode it is left out, as published, and `state` says why.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from pipeline.errors import SourceError
from pipeline.stride.benchmark import Benchmark, Question, Scenario, folded
from pipeline.stride.bounds_reference import LostError
from pipeline.stride.checks import (
    DECIMALS,
    FACTORS,
    Cause,
    Check,
    check,
    failed_check,
    spoilt_by,
)
from pipeline.stride.importers.states import StatesRead
from pipeline.stride.measures.clip import Clip
from pipeline.stride.placement import Ground, doubts_of_place, place_of
from pipeline.stride.plausible import Plausible, doubts_of, plausible_of
from pipeline.stride.sources import Mode, Source
from pipeline.stride.traps import Trap, crowd_fault

# scored; no trajectory; one that cannot be read; one that is no crowd's; bounds at which the
# published scorer ends; nothing in it counts.
State = Literal["scored", "missing", "unreadable", "no_crowd", "lost", "uncounted"]


class QuestionScore(NamedTuple):
    """One question, answered.

    Attributes:
        id: As the benchmark has it.
        text: The question.
        score: Mean of its counted checks, 0 to 1; None if none counts.
        score_at: The same with tolerances multiplied by `FACTORS`.
        checks: In the order of the benchmark.
    """

    id: str
    text: str
    score: float | None
    score_at: tuple[float | None, ...]
    checks: tuple[Check, ...]


class ScenarioScore(NamedTuple):
    """One scenario, scored.

    Attributes:
        scenario: As the benchmark has it.
        state: How it ended.
        fault: Why it was not scored on a trajectory, in words; "" = it was.
        score: Mean of its counted questions, 0 to 1; None = it does not count (reference mode).
        score_at: The same with tolerances multiplied by `FACTORS`.
        agents: How many agents of the trajectory are ever present; None = no trajectory.
        frames: T; None = no trajectory.
        dt_s: Seconds from one frame to the next; None = not known.
        traps: What is suspicious about the trajectory.
        plausible: What no measure sees of it; None = no trajectory.
        questions: In the order of the benchmark; empty if lost.
    """

    scenario: Scenario
    state: State
    fault: str
    score: float | None
    score_at: tuple[float | None, ...]
    agents: int | None
    frames: int | None
    dt_s: float | None
    traps: tuple[Trap, ...]
    plausible: Plausible | None
    questions: tuple[QuestionScore, ...]

    @property
    def duration_s(self) -> float | None:
        """Return T * dt_s; None if either is not known."""
        return None if self.frames is None or self.dt_s is None else self.frames * self.dt_s

    def checks(self) -> Iterator[Check]:
        """Return all checks of all questions."""
        for question in self.questions:
            yield from question.checks


# From a scenario to what is known of its map.
Grounds = Callable[[Scenario], Ground]


def no_ground(_: Scenario) -> Ground:
    """Return what is known of no map."""
    return Ground()


def score_benchmark(
    benchmark: Benchmark, source: Source, *, mode: Mode, ground: Grounds = no_ground
) -> Iterator[ScenarioScore]:
    """Score every scenario of a benchmark, one at a time, in the order of the file.

    Args:
        benchmark: What is asked.
        source: The trajectories.
        mode: `reference` or `strict`.
        ground: Where walls and walkable ground of a scenario's map come from.
    """
    there = set(source.ids)
    for scenario in benchmark.scenarios:
        if folded(scenario.id) not in there:
            yield _without(scenario, "missing", "no trajectory of this scenario", mode=mode)
            continue
        try:
            read = source.read(scenario.id)
        except SourceError as fault:
            yield _without(scenario, "unreadable", str(fault), mode=mode)
            continue
        yield score_scenario(scenario, read, mode=mode, ground=ground(scenario))


def score_scenario(
    scenario: Scenario, read: StatesRead, *, mode: Mode, ground: Ground
) -> ScenarioScore:
    """Score one scenario on one trajectory.

    Args:
        scenario: What is asked.
        read: The trajectory and what is suspicious about it.
        mode: `reference` or `strict`.
        ground: What is known of its map.

    Raises:
        SourceError: What the scenario states of its place is not of its form.
    """
    walk, traps = read
    clip = Clip(walk, obstacles=ground.walls)
    traps = [*traps, *doubts_of_place(walk, place_of(scenario), ground)]
    fault = crowd_fault(walk) if mode == "strict" else None
    if fault:
        return _seen(_without(scenario, "no_crowd", fault, mode=mode), clip, traps)
    spoilt = spoilt_by(traps)
    try:
        questions = tuple(
            _question(one, clip, mode=mode, spoilt=spoilt) for one in scenario.questions
        )
    except LostError as lost:
        return _seen(_without(scenario, "lost", str(lost), mode=mode), clip, traps)
    return _seen(_scored(scenario, questions, mode=mode), clip, traps)


def _question(
    question: Question, clip: Clip, *, mode: Mode, spoilt: Mapping[str, str]
) -> QuestionScore:
    checks = tuple(check(one, clip, mode=mode, spoilt=spoilt) for one in question.measurements)
    return _answered(question, checks, mode=mode)


def _answered(question: Question, checks: tuple[Check, ...], *, mode: Mode) -> QuestionScore:
    passed_at = zip(*(one.passed_at for one in checks), strict=True) if checks else ((),) * 3
    score_at = tuple(mean_of(column, mode=mode) for column in passed_at)
    score = score_at[FACTORS.index(1)]
    return QuestionScore(question.id, question.text, score, score_at, checks)


def _scored(
    scenario: Scenario, questions: tuple[QuestionScore, ...], *, mode: Mode
) -> ScenarioScore:
    columns = zip(*(one.score_at for one in questions), strict=True) if questions else ((),) * 3
    score_at = tuple(mean_of(column, mode=mode) for column in columns)
    score = score_at[FACTORS.index(1)]
    state: State = "uncounted" if score is None else "scored"
    fault = "nothing in it counts" if score is None else ""
    return ScenarioScore(
        scenario, state, fault, score, score_at, None, None, None, (), None, questions
    )


def mean_of(values: Sequence[float | None], *, mode: Mode) -> float | None:
    """Return the mean of the values that count; None if none does.

    In reference mode it is rounded to 4 decimals, at each level anew; in strict mode it is not, and
    0 if there is nothing to count: what was asked nothing is not answered.
    """
    counted = [float(value) for value in values if value is not None]
    if mode == "strict":
        return sum(counted) / len(counted) if counted else 0.0
    return round(sum(counted) / len(counted), DECIMALS) if counted else None


def _without(scenario: Scenario, state: State, fault: str, *, mode: Mode) -> ScenarioScore:
    """Return the score of a scenario that cannot be measured: 0 if strict, else none."""
    if mode == "reference":
        none: tuple[float | None, ...] = (None,) * len(FACTORS)
        return ScenarioScore(scenario, state, fault, None, none, None, None, None, (), None, ())
    causes: dict[State, Cause] = {"missing": "missing", "unreadable": "unreadable"}
    cause = causes.get(state, "no_crowd")
    questions = tuple(
        _answered(
            question,
            tuple(failed_check(one, cause=cause, reason=fault) for one in question.measurements),
            mode=mode,
        )
        for question in scenario.questions
    )
    return _scored(scenario, questions, mode=mode)._replace(state=state, fault=fault)


def _seen(score: ScenarioScore, clip: Clip, traps: list[Trap]) -> ScenarioScore:
    """Add what is known of the trajectory."""
    walk = clip.walk
    n_agents = score.scenario.n_agents
    plausible = plausible_of(clip, n_agents=n_agents)
    return score._replace(
        agents=walk.ever_present,
        frames=walk.frames,
        dt_s=walk.dt_s,
        traps=(*traps, *doubts_of(plausible, clip, n_agents=n_agents)),
        plausible=plausible,
    )
