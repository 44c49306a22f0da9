"""Let the social-force model walk every scenario of the benchmark, with and without its story.

    data/stride/trajectories/social_force/0204/sim.npz     people play their roles
    data/stride/trajectories/goal_walkers/0204/sim.npz     the same people just walk to their goals

Both start from the scenario's initial state. `social_force` is told the roles behind the text, by
the text's own author: what the told story scores, and no rival of generators that read text.
`goal_walkers` is the same model that knows everybody's first goal and nothing else: what physics
alone gives.
"""

from collections.abc import Callable
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from pipeline.keys import Seed
from pipeline.seeds import rng_for
from pipeline.store import StageIO
from pipeline.stride.generators.crowds import Pace, goal_walkers, walk_of
from pipeline.stride.importers.states import write_states
from pipeline.stride.maps import CrowdMap, maps_of
from pipeline.stride.scenario_records import StrideScenario, scenarios_of
from pipeline.stride.social_force import ForceSettings
from pipeline.stride.trajectories import Trajectory
from pipeline.stride.ways import Ways

STAGE = "stride_simulate"
# Written places and speeds are rounded to so many decimals: millimetres.
_DECIMALS = 3


class SimulateSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `stride_simulate` of params.yaml.

    Attributes:
        record_s: Seconds from one recorded frame to the next.
        least_present: A clip ends when a smaller share of its people is left.
        walking_mps: Mean and standard deviation of the speed of goal walkers.
        force: The social-force model.
    """

    record_s: Annotated[float, Meta(gt=0, le=2)]
    least_present: Annotated[float, Meta(ge=0, le=1)]
    walking_mps: tuple[Annotated[float, Meta(gt=0, le=4)], Annotated[float, Meta(ge=0, le=1)]]
    force: ForceSettings


def run(io: StageIO, *, seed: Seed, stride_simulate: SimulateSettings) -> None:
    """Walk every released scenario."""
    maps = {one.map_id: one for one in maps_of(io.read("stride_maps"))}
    scenes = io.read_json("stride_benchmark")["scenes"]
    wanted = {scene["source_scene_id"] for scene in scenes}
    scenarios = [s for s in scenarios_of(io.read("stride_scenarios")) if s.scene_id in wanted]
    folder = io.path("stride_trajectories")
    ways: dict[str, Ways] = {}
    for scenario in io.progress(scenarios, len(scenarios), "scenario", STAGE):
        if scenario.map_id not in ways:
            ways[scenario.map_id] = Ways(CrowdMap(maps[scenario.map_id]))
        for name, generate in GENERATORS.items():
            rng = rng_for(seed, f"{STAGE} {name}", scenario.scene_id)
            walk = generate(scenario, ways[scenario.map_id], stride_simulate, rng)
            write_states(rounded(walk), folder / name / scenario.scene_id / "sim.npz")


def social_force(
    scenario: StrideScenario, ways: Ways, settings: SimulateSettings, rng: np.random.Generator
) -> Trajectory:
    """Return people who play their roles."""
    force = msgspec.structs.replace(
        settings.force, pair_m2ps2=settings.force.pair_m2ps2 * scenario.apart
    )
    pace = Pace(scenario.duration_s, settings.record_s, settings.least_present)
    return walk_of(scenario.people, scenario.roles, ways, force, pace=pace, rng=rng)


def walkers(
    scenario: StrideScenario, ways: Ways, settings: SimulateSettings, rng: np.random.Generator
) -> Trajectory:
    """Return people who walk to their first goal at an ordinary speed."""
    pace = Pace(scenario.duration_s, settings.record_s, settings.least_present)
    return goal_walkers(
        scenario.people, ways, settings.force, pace=pace, speed_mps=settings.walking_mps, rng=rng
    )


Generate = Callable[[StrideScenario, Ways, SimulateSettings, np.random.Generator], Trajectory]
GENERATORS: dict[str, Generate] = {"social_force": social_force, "goal_walkers": walkers}


def rounded(walk: Trajectory) -> Trajectory:
    """Return a trajectory to the millimetre: as exact as anything is here, and half the size."""
    velocity = None if walk.velocity is None else walk.velocity.round(_DECIMALS)
    return walk._replace(positions=walk.positions.round(_DECIMALS), velocity=velocity)
