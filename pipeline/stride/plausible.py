"""What a score does not see of a crowd: who is missing, who jumps, who stands in another.

    plausible_of(clip, n_agents=36)
    ->  Plausible(people=0.08, present=1.0, stays=1.0, jumps=0.0, stacked=0.0, in_walls=None, ...)

Three people may meet bounds that were meant for 36 (STRIDE, section 4: no measure counts heads).
These figures change no score; the report has them beside it, and a word where one is far off.
"""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from pipeline.stride.measures.clip import Clip
from pipeline.stride.measures.plausibility import obstacle_penetration, teleport_fraction
from pipeline.stride.measures.series import sample
from pipeline.stride.measures.undefined import UndefinedError
from pipeline.stride.trajectories import stays_before
from pipeline.stride.traps import Trap

# Faster than this is a jump, m/s; looked at for stacks are about so many frames.
JUMP_MPS, STACK_FRAMES = 10.0, 100
# Beyond these the report says so in words.
_STAYS, _SHARE, _FRAMES = 1.5, 0.01, 20


class Plausible(NamedTuple):
    """Figures of one trajectory; None = not known.

    Attributes:
        people: Agents ever present over the scenario's n_agents.
        present: Share of the frames that an agent is there for, mean over agents ever present.
        stays: Unbroken stays of an agent, mean over agents ever present; from 1.
        jumps: Share of steps faster than 10 m/s.
        stacked: Share of agent-frames at exactly another's place.
        in_walls: Share of agent-frames in or through a wall.
        movement: Digest of positions and presence: two copies of one movement share it.
    """

    people: float | None
    present: float | None
    stays: float | None
    jumps: float | None
    stacked: float | None
    in_walls: float | None
    movement: str


FIGURES = Plausible._fields[:-1]


def plausible_of(clip: Clip, *, n_agents: int | None) -> Plausible:
    """Return the figures of a trajectory.

    Args:
        clip: The movement, with its walls if they are known.
        n_agents: Agents the scenario states; None = none.
    """
    there = clip.present
    ever = clip.walk.ever_present
    stays = int((there & ~stays_before(there)).sum())
    digest = hashlib.sha256(np.ascontiguousarray(clip.walk.positions).tobytes())
    digest.update(np.ascontiguousarray(there).tobytes())
    return Plausible(
        people=ever / n_agents if n_agents else None,
        present=float(there.sum() / (ever * clip.frames)) if ever else None,
        stays=stays / ever if ever else None,
        jumps=_jumps(clip),
        stacked=_stacked(clip),
        in_walls=_in_walls(clip),
        movement=digest.hexdigest()[:16],
    )


def _jumps(clip: Clip) -> float | None:
    try:
        with np.errstate(all="ignore"):  # what is not finite is no jump here; traps tell it
            return teleport_fraction(clip, max_speed_mps=JUMP_MPS)
    except UndefinedError:
        return None


def _stacked(clip: Clip) -> float | None:
    frames = sample(clip.frames, STACK_FRAMES)
    row, agent = np.nonzero(clip.present[frames])
    if not len(row):
        return None
    x, y = clip.x[frames[row], agent], clip.y[frames[row], agent]
    order = np.lexsort((x, y, row))
    row, x, y = row[order], x[order], y[order]
    as_before = np.zeros(len(row) + 1, np.bool_)
    as_before[1:-1] = (row[1:] == row[:-1]) & (x[1:] == x[:-1]) & (y[1:] == y[:-1])
    return float((as_before[1:] | as_before[:-1]).mean())


def _in_walls(clip: Clip) -> float | None:
    if clip.obstacles is None or not np.isfinite(clip.walk.positions).all():
        return None
    try:
        return obstacle_penetration(clip)
    except UndefinedError:
        return None


def doubts_of(found: Plausible, clip: Clip, *, n_agents: int | None) -> Iterator[Trap]:
    """Return in words what is far off; nothing of it fails a check."""
    if n_agents is not None and clip.walk.ever_present != n_agents:
        words = f"people: {clip.walk.ever_present} ever present, {n_agents} asked for"
        yield Trap("people_differ", words)
    if clip.frames < _FRAMES:
        yield Trap("few_frames", f"frames: only {clip.frames}, of which trends make 5 bins")
    if found.stays is not None and found.stays > _STAYS:
        words = f"presence: {found.stays:.1f} stays of an agent on average; people come and go"
        yield Trap("come_and_go", words)
    for code, share, words in (
        ("jumps", found.jumps, f"of steps faster than {JUMP_MPS:g} m/s"),
        ("stacked", found.stacked, "of agent-frames at exactly another's place"),
    ):
        if share is not None and share > _SHARE:
            yield Trap(code, f"positions: {share:.1%} {words}")


def plausibility(found: Sequence[Plausible]) -> dict[str, Any]:
    """Return the mean of each figure over the scenarios that have it, and how many are copies."""
    means: dict[str, Any] = {}
    for name in FIGURES:
        values = [value for one in found if (value := getattr(one, name)) is not None]
        means[name] = sum(values) / len(values) if values else None
    return {**means, "copies": len(found) - len({one.movement for one in found})}
