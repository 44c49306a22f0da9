"""Let a reference generator walk scenarios: those of the stage, and JuPedSim, which is an extra.

walk_scenarios(scenarios, maps, "jupedsim", settings=settings, seed=1, folder=Path("walks"))
  ->  walks/0204/sim.npz, ready for `stride score --states walks`
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from pipeline.progress import progress_bar
from pipeline.seeds import rng_for
from pipeline.stride.generators.crowds import Pace
from pipeline.stride.generators.jupedsim import jupedsim_walkers
from pipeline.stride.importers.states import write_states
from pipeline.stride.maps import CrowdMap
from pipeline.stride.scenario_records import StrideScenario
from pipeline.stride.simulate import GENERATORS, STAGE, Generate, SimulateSettings, rounded
from pipeline.stride.trajectories import Trajectory
from pipeline.stride.ways import Ways


def jupedsim(
    scenario: StrideScenario, ways: Ways, settings: SimulateSettings, rng: np.random.Generator
) -> Trajectory:
    """Return people who walk to their first goal as JuPedSim has it."""
    pace = Pace(scenario.duration_s, settings.record_s, settings.least_present)
    return jupedsim_walkers(
        scenario.people, ways, pace=pace, speed_mps=settings.walking_mps, rng=rng
    )


WALKERS: dict[str, Generate] = {**GENERATORS, "jupedsim": jupedsim}


def walk_scenarios(
    scenarios: Sequence[StrideScenario],
    maps: Mapping[str, CrowdMap],
    generator: str,
    *,
    settings: SimulateSettings,
    seed: int,
    folder: Path,
) -> None:
    """Write the walk of each scenario to folder/ID/sim.npz; the stage's are the stage's own bytes.

    Args:
        scenarios: Who is where, and where they want to go.
        maps: Their maps, by id.
        generator: A key of WALKERS.
        settings: Section `stride_simulate` of params.yaml.
        seed: `seed` of params.yaml.
        folder: Where to write.

    Raises:
        SourceError: The generator's package is not installed, or it refuses a scenario.
    """
    ways: dict[str, Ways] = {}
    for one in progress_bar(scenarios, total=len(scenarios), unit="scenario", desc=generator):
        if one.map_id not in ways:
            ways[one.map_id] = Ways(maps[one.map_id])
        rng = rng_for(seed, f"{STAGE} {generator}", one.scene_id)
        made = WALKERS[generator](one, ways[one.map_id], settings, rng)
        write_states(rounded(made), folder / one.scene_id / "sim.npz")
