"""What is suspicious about a trajectory, and which of its fields cannot be trusted for it.

    traps_of(walk)  ->  [Trap("velocity_contradicts", "velocities: ... zero while positions move",
                              spoils={"velocity"})]

In strict mode a measure that reads a spoiled field has no value and its check fails, with the
trap's words as the reason; a trap that spoils nothing is a warning. Reference mode only warns.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from pipeline.stride.arrays import Bools, Floats
from pipeline.stride.trajectories import (
    CANONICAL_DT_S,
    Trajectory,
    has_derived_velocity,
    stays_after,
    stays_before,
    with_derived_velocity,
)

Spoils = Literal["positions", "velocity", "radius", "goal"]
NEAR_ORIGIN_M = 1e-3
# Metres or m/s that nobody is at; also keeps squares from overflowing.
FARTHEST = 1e9
# People walk slower than the first. Where columns of their own bear dt_s out they may run: a crowd
# that flees has 1.5 to 2.5 m/s (TrajFacts).
FAST_MPS, RUNNING_MPS = 2.0, 3.0
USUAL_RADIUS_M = (0.1, 0.5)
# Column 7 of simulators made from PySocialForce is a time of 0.5 s unless it was overwritten.
TAU = 0.5
# Velocities contradict positions when they differ by more than both, on average.
APART_MPS, APART_SHARE = 0.3, 0.4
# Velocities are scaled when they are off what positions show over so many seconds by more than this
# share; the reference walkers are off by 0.5 %. Slower crowds than this only sway.
SCALED_SHARE, SCALED_OVER_S, SCALED_ABOVE_MPS = 0.05, 2.0, 0.05
# Who flickers shows no steps: beyond this share nothing holds velocities to positions.
MOST_LONE = 0.5
_STILL = 1e-9
# Where dt_s is not known: parts of the likeliest one at which velocities may fit as well.
_DT_PARTS = (1.0, 0.8, 1.25, 0.64, 1.6)


class Trap(NamedTuple):
    """One thing that is wrong or odd.

    Attributes:
        code: Its name, for programs.
        text: What, where and how often, in one line.
        spoils: Fields whose values cannot be trusted; `positions` spoils every measure.
    """

    code: str
    text: str
    spoils: frozenset[Spoils] = frozenset()


def traps_of(walk: Trajectory) -> list[Trap]:
    """Return what is suspicious about a trajectory, the worst first."""
    found = [*_not_finite(walk), *_bad_radius(walk)]
    spoilt = {field for trap in found for field in trap.spoils}
    if "positions" in spoilt:
        return found
    if "velocity" not in spoilt:
        found += _contradiction(walk)
    return [*found, *_odd_places(walk), *_odd_radius(walk), *_odd_time(walk)]


def crowd_fault(walk: Trajectory) -> str | None:
    """Return why a trajectory cannot be scored as the movement of a crowd; None if it can."""
    if walk.frames < 2:
        return f"expected at least 2 frames, found {walk.frames}: nothing moves in them"
    if walk.ever_present < 2:
        who = "one agent that is" if walk.ever_present else "nobody"
        return f"expected a crowd of at least 2 agents, found {who} ever present"
    return None


def _not_finite(walk: Trajectory) -> Iterator[Trap]:
    for name, values in (
        ("positions", walk.positions), ("velocity", walk.velocity), ("goal", walk.goal),
    ):  # fmt: skip
        # Asked the other way round, NaN would pass.
        if values is None or np.abs(values).max(initial=0.0) < FARTHEST:
            continue
        bad = ~(np.abs(values) < FARTHEST).all(axis=2) & walk.present
        if bad.any():
            field: Spoils = name  # type: ignore[assignment]
            where = _first(bad)
            yield Trap(
                f"{name}_not_finite",
                f"{name}: NaN, infinite or beyond 1e9 in {bad.sum()} agent-frames, the first"
                f" {where}",
                frozenset({field}),
            )


def _bad_radius(walk: Trajectory) -> Iterator[Trap]:
    if walk.radius is None:
        return
    bad = ~((walk.radius > 0) & (walk.radius < np.inf)) & walk.present
    if bad.any():
        yield Trap(
            "radius_not_positive",
            f"radius: not above 0 and finite in {bad.sum()} agent-frames, the first {_first(bad)}",
            frozenset({"radius"}),
        )


def _first(bad: Bools) -> str:
    frame, agent = np.argwhere(bad)[0]
    return f"in frame {frame} of agent {agent}"


def _contradiction(walk: Trajectory) -> Iterator[Trap]:
    if walk.velocity is None or walk.frames < 2:
        return
    lone = walk.present & ~stays_before(walk.present) & ~stays_after(walk.present)
    if lone.sum() > MOST_LONE * walk.present.sum():
        yield Trap(
            "velocity_unseen",
            f"velocity: {lone.sum()} of {walk.present.sum()} agent-frames have none before or after"
            f" them to show any movement, the first {_first(lone)}",
            frozenset({"velocity"}),
        )
        return
    both = stays_after(walk.present)[:-1]
    around = with_derived_velocity(walk._replace(dt_s=1.0)).velocity
    if around is None or not both.any():
        return
    steps = _Steps(
        both,
        *(np.diff(walk.positions[:, :, axis], axis=0) for axis in (0, 1)),
        *(walk.velocity[:-1, :, axis] for axis in (0, 1)),
        *(walk.velocity[1:, :, axis] for axis in (0, 1)),
        *(around[:-1, :, axis] for axis in (0, 1)),
    )
    words = _against_any_dt(steps) if walk.dt_s is None else _against_dt(steps, walk.dt_s)
    if words:
        yield Trap("velocity_contradicts", f"velocity: {words}", frozenset({"velocity"}))
    elif walk.dt_s is not None:
        yield from _scaled(walk.positions, walk.velocity, walk.present, walk.dt_s)


def _scaled(positions: Floats, velocity: Floats, present: Bools, dt_s: float) -> Iterator[Trap]:
    """Compare how far velocities lead in some seconds with how far people get.

    Noise in either makes one of the two regressions too small or the other too large, never both:
    velocities are scaled only if both say so.
    """
    span = max(1, min(round(SCALED_OVER_S / dt_s), len(positions) - 1))
    led = np.zeros_like(positions)
    np.cumsum((velocity[1:] + velocity[:-1]) * (dt_s / 2), axis=0, out=led[1:])
    gone = np.zeros((len(positions) + 1, present.shape[1]), np.int64)
    np.cumsum(~present, axis=0, out=gone[1:])
    whole = gone[span + 1 :] == gone[: -span - 1]
    led, taken = (led[span:] - led[:-span])[whole], (positions[span:] - positions[:-span])[whole]
    both, own, shown = ((a * b).sum() for a, b in ((led, taken), (led, led), (taken, taken)))
    slow = len(taken) * (SCALED_ABOVE_MPS * span * dt_s) ** 2
    low, high = 1 - SCALED_SHARE, 1 + SCALED_SHARE
    if max(own, shown) <= slow or (own >= low * both > 0 and both <= high * shown):
        return
    own_m, shown_m = ((square / len(taken)) ** 0.5 for square in (own, shown))
    yield Trap(
        "velocity_scaled",
        f"velocity: the columns lead {own_m:.2f} m in {span * dt_s:.3g} s where people get"
        f" {shown_m:.2f} m; are they scaled, or is dt_s not right?",
    )


class _Steps(NamedTuple):
    """Steps from one frame to the next, all (T - 1, N): metres, and m/s before and after.

    `around` is half the way from the frame before a step to its end, metres.
    """

    taken: Bools
    x: Floats
    y: Floats
    before_x: Floats
    before_y: Floats
    after_x: Floats
    after_y: Floats
    around_x: Floats
    around_y: Floats

    def mean(self, values: Floats) -> float:
        """Return the mean over the steps that are taken."""
        return float(np.where(self.taken, values, 0.0).sum() / self.taken.sum())


def _against_any_dt(steps: _Steps) -> str | None:
    """Say how velocities contradict steps whatever the seconds between frames; None: may fit.

    Who leaves dt_s out has no easier test: some one must make them fit as if it had been given.
    """
    east = (steps.before_x + steps.after_x) / 2
    north = (steps.before_y + steps.after_y) / 2
    speed, length = steps.mean(np.hypot(east, north)), steps.mean(np.hypot(steps.x, steps.y))
    if speed < _STILL < length:
        return "all zero while positions move"
    if length < _STILL < speed:
        return "not zero while no position moves"
    if speed < _STILL:
        return None
    likeliest = length / speed
    words = [_against_dt(steps, likeliest * part) for part in _DT_PARTS]
    if None in words:
        return None
    return f"they fit the positions at no dt_s; at {likeliest:.3g} s {words[0]}"


def _against_dt(steps: _Steps, dt_s: float) -> str | None:
    """Say how velocities contradict positions; None: they fit.

    A simulator may store the speed it moved with, or the one it will move with, or the one between:
    for each step the nearest counts. Or all velocities are those of the way from the frame before
    to the frame after, as of recordings, in which a single step jitters more than that.
    """
    x, y = steps.x / dt_s, steps.y / dt_s
    before = (x - steps.before_x) ** 2 + (y - steps.before_y) ** 2
    after = (x - steps.after_x) ** 2 + (y - steps.after_y) ** 2
    middle_x, middle_y = (steps.before_x + steps.after_x) / 2, (steps.before_y + steps.after_y) / 2
    middle = (x - middle_x) ** 2 + (y - middle_y) ** 2
    around_x, around_y = steps.around_x / dt_s, steps.around_y / dt_s
    around = (around_x - steps.before_x) ** 2 + (around_y - steps.before_y) ** 2
    nearest = np.minimum(np.minimum(before, after), middle)
    apart = min(steps.mean(np.sqrt(nearest)), steps.mean(np.sqrt(around)))
    told = steps.mean(np.hypot(steps.before_x, steps.before_y))
    shown = steps.mean(np.hypot(x, y))
    if apart <= max(APART_MPS, APART_SHARE * max(told, shown)):
        return None
    return (
        f"{told:.2f} m/s on average where positions move at {shown:.2f} m/s, {apart:.2f} m/s apart"
    )


def _odd_places(walk: Trajectory) -> Iterator[Trap]:
    x, y = walk.positions[:, :, 0], walk.positions[:, :, 1]
    near = walk.present & (np.abs(x) <= NEAR_ORIGIN_M) & (np.abs(y) <= NEAR_ORIGIN_M)
    if near.any():
        yield Trap(
            "near_origin",
            f"positions: within 1 mm of the origin in {near.sum()} agent-frames, the first"
            f" {_first(near)}; exactly there an agent counts as absent in STRIDE's own form",
        )
    inside = ~walk.present
    inside[:1] = inside[-1:] = False
    inside[1:-1] &= walk.present[:-2] & walk.present[2:]
    if inside.any():
        yield Trap(
            "lone_gap",
            f"presence: gone for one frame {inside.sum()} times, the first {_first(inside)}; as if"
            " it had crossed the origin",
        )


def _odd_radius(walk: Trajectory) -> Iterator[Trap]:
    if walk.radius is None or not walk.present.any():
        return
    radius = walk.radius[walk.present]
    low, high = USUAL_RADIUS_M
    if (radius == TAU).all():
        yield Trap(
            "radius_is_tau",
            "radius: 0.5 for everybody, as simulators write their relaxation time (0.5 s) there;"
            " collisions are wrong if it is that",
        )
    elif radius.min() < low or radius.max() > high:
        yield Trap(
            "radius_unusual",
            f"radius: {radius.min():.3g} to {radius.max():.3g} m, expected {low} to {high} m",
        )


def _odd_time(walk: Trajectory) -> Iterator[Trap]:
    if walk.dt_s is None:
        yield Trap(
            "dt_unknown",
            "dt_s: not known, so that velocities are not held to positions and the duration is not"
            " known; give it with --dt",
        )
        return
    if abs(walk.dt_s - CANONICAL_DT_S) > _STILL:
        yield Trap(
            "dt_not_canonical",
            f"dt_s: {walk.dt_s:g} s between frames; measures depend on it and figures compare at"
            f" {CANONICAL_DT_S} s (--resample {CANONICAL_DT_S})",
        )
    both = stays_after(walk.present)[:-1]
    if both.any():
        step = np.hypot(*(np.diff(walk.positions[:, :, axis], axis=0) for axis in (0, 1)))
        speed = float(step[both].mean() / walk.dt_s)
        own = speed > FAST_MPS and walk.velocity is not None and not has_derived_velocity(walk)
        if speed > (RUNNING_MPS if own else FAST_MPS):
            words = "run" if own else "walk"
            yield Trap(
                "fast",
                f"positions: {speed:.2f} m/s on average, faster than people {words}; is dt_s"
                " right?",
            )
