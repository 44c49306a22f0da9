"""JuPedSim as a reference generator: its collision-free speed model, from the same first moment.

    pace = Pace(60.0, 0.4, 0.3)
    walk = jupedsim_walkers(people, ways, pace=pace, speed_mps=(1.34, 0.26), rng=rng)

People walk to their first goal by JuPedSim's own routing and model, with its own settings, and know
as little of the text as `goal_walkers` do: no roles, groups or waiting. The package `jupedsim`
(LGPL-3) is an extra; nothing else needs it. Its model: Xu, Zhang and Chraibi (2019).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.errors import SourceError
from pipeline.stride.generators.crowds import Leg, Pace, to_first_goals, until_left
from pipeline.stride.raster import outlines
from pipeline.stride.social_force import FRAME
from pipeline.stride.trajectories import Trajectory, with_derived_velocity

if TYPE_CHECKING:
    from pipeline.stride.scenario_records import Person
    from pipeline.stride.ways import Ways

# Steps of the simulation, seconds; a recorded frame is a whole number of them.
_STEP_S = 0.05
# JuPedSim refuses bodies that reach into a wall: who starts so near to one is made slimmer.
_ROOM, _SLIMMEST_M = 0.95, 0.05
# Outlines of walkable ground may lie so far from its pixels, metres.
_OUTLINE_M = 0.3


def jupedsim_walkers(
    people: Sequence["Person"],
    ways: "Ways",
    *,
    pace: Pace,
    speed_mps: tuple[float, float],
    rng: np.random.Generator,
) -> Trajectory:
    """Return how JuPedSim moves people to their first goal.

    Args:
        people: The initial state; at least one.
        ways: The map's ways, of which the walkable ground is taken.
        pace: How long the clip is.
        speed_mps: Mean and standard deviation of the speed they want.
        rng: Draws speeds.

    Raises:
        SourceError: The package is not installed, or it refuses somebody's place.
    """
    jps = _package()
    plain, plans = to_first_goals(people, ways, speed_mps=speed_mps, rng=rng)
    ground = _Ground(_polygon(ways))
    model = jps.CollisionFreeSpeedModelV2()
    simulation = jps.Simulation(model=model, geometry=ground.polygon, dt=_STEP_S)
    agents = [
        _added(jps, simulation, ground, person, legs)
        for person, legs in zip(plain, plans, strict=True)
    ]
    per_frame = max(1, round(pace.record_s / _STEP_S))
    frames = int(pace.duration_s / pace.record_s) + 1
    positions = np.zeros((frames, len(people), 2))
    present = np.zeros((frames, len(people)), dtype=bool)
    for frame in range(frames):
        there = {agent.id: agent.position for agent in simulation.agents()}
        for number, agent in enumerate(agents):
            if agent in there:
                positions[frame, number], present[frame, number] = there[agent], True
        _let_go(simulation, agents, plans, there)
        simulation.iterate(per_frame)
    walk = Trajectory(
        positions=positions,
        present=present,
        dt_s=per_frame * _STEP_S,
        velocity=None,
        goal=np.broadcast_to(_goals(plain), positions.shape).copy(),
        radius=np.broadcast_to([one.radius_m for one in plain], present.shape).copy(),
        group=None,
        frame_of_reference=FRAME,
    )
    return until_left(with_derived_velocity(walk), pace.least_present)


def _package() -> Any:
    try:
        import jupedsim  # noqa: PLC0415 - an extra
    except ImportError as fault:
        raise SourceError(
            "jupedsim: expected the package, found none; run `make models`, or `pip install"
            " --no-deps jupedsim deprecated wrapt` (its own needs are for windows only)"
        ) from fault
    return jupedsim


def _polygon(ways: "Ways") -> Any:
    """Return the walkable ground as one polygon: the piece with the widest spot."""
    crowd_map = ways.crowd_map
    pieces = outlines(crowd_map.walkable, crowd_map.grid, tolerance_m=_OUTLINE_M, least_m2=0.0)
    return max(pieces, key=lambda piece: float(piece.area))


class _Ground:
    """The ground as JuPedSim wants it: places well inside one polygon."""

    def __init__(self, polygon: Any) -> None:
        self.polygon = polygon
        self._inner, self._edge = polygon.buffer(-2 * _SLIMMEST_M), polygon.boundary

    def onto(self, x: float, y: float) -> tuple[float, float]:
        """Return a place, or the nearest one inside where the outline has left it out."""
        import shapely.ops  # noqa: PLC0415 - slow import

        place = shapely.Point(x, y)
        if not self._inner.contains(place):
            place = shapely.ops.nearest_points(self._inner, place)[0]
        return float(place.x), float(place.y)

    def room_m(self, place: tuple[float, float]) -> float:
        """Return how far a place is from the nearest wall, metres."""
        import shapely  # noqa: PLC0415 - slow import

        return float(self._edge.distance(shapely.Point(place)))


def _added(
    jps: Any, simulation: Any, ground: _Ground, person: "Person", legs: Sequence[Leg]
) -> int:
    """Put a person into the simulation; who has no goal keeps to the spot."""
    start = ground.onto(person.x_m, person.y_m)
    goal, reach = _target(legs[0]) if legs else (start, _SLIMMEST_M)
    try:
        stage = simulation.add_waypoint_stage(ground.onto(*goal), reach)
        journey = simulation.add_journey(jps.JourneyDescription([stage]))
        agent = jps.CollisionFreeSpeedModelV2AgentParameters(
            position=start,
            desired_speed=person.speed_mps,
            radius=min(person.radius_m, _ROOM * ground.room_m(start)),
            journey_id=journey,
            stage_id=stage,
        )
        return int(simulation.add_agent(agent))
    except RuntimeError as fault:
        raise SourceError(
            f"jupedsim: expected a place for everybody, found {fault}; leave this scenario out"
        ) from fault


def _target(leg: Leg) -> tuple[tuple[float, float], float]:
    return (float(leg.spot[0]), float(leg.spot[1])), leg.reach_m


def _let_go(
    simulation: Any,
    agents: Sequence[int],
    plans: Sequence[Sequence[Leg]],
    there: dict[int, tuple[float, float]],
) -> None:
    """Take out who has come to a goal that leads away."""
    for agent, legs in zip(agents, plans, strict=True):
        if agent in there and legs and legs[0].leaves:
            goal, reach = _target(legs[0])
            if np.hypot(there[agent][0] - goal[0], there[agent][1] - goal[1]) <= reach:
                simulation.mark_agent_for_removal(agent)


def _goals(people: Sequence["Person"]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([[one.goal_x_m, one.goal_y_m] for one in people])
