"""A scenario as it is kept: text, place, people at the first moment, and who wrote it.

scenarios_of(scenarios_frame([scenario]))  ->  [scenario]
"""

from typing import NamedTuple

import msgspec
import polars as pl

from pipeline.records import Provenance
from pipeline.schemas import arrow_schema
from pipeline.stride.roles import Role


class Person(NamedTuple):
    """One person at the start; metres and m/s.

    Attributes:
        x_m, y_m: Where.
        vx_mps, vy_mps: Moving how.
        goal_x_m, goal_y_m: Heading where first.
        goal: Anchor the goal belongs to; null where it belongs to none.
        radius_m: Half the width of the body.
        speed_mps: The speed wanted.
        begin_s: Stands until then.
        role: Number of the role.
        group: Number of the group; -1 = alone.
    """

    x_m: float
    y_m: float
    vx_mps: float
    vy_mps: float
    goal_x_m: float
    goal_y_m: float
    goal: str | None
    radius_m: float
    speed_mps: float
    begin_s: float
    role: int
    group: int


class Event(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where it happens: an anchor of the map and its place, metres."""

    anchor: str
    x_m: float
    y_m: float


class StrideScenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One scenario; schemas/stride_scenario.schema.json says more.

    Attributes:
        scene_id: Unique; joins scenario, specification and trajectory.
        map_id: The map.
        category: Kind of crowd.
        description: The context text.
        story: Story of the phrase banks; null where a model wrote it.
        pattern: Way of moving the story tells; null where a model wrote it.
        n_agents: People.
        duration_s: Seconds that are told.
        event: Where it happens; null where there is no such place.
        apart: How strongly people keep apart: 1 as usual, less in a crush.
        roles: Who is in it.
        people: The initial state.
        provenance: Who wrote it.
    """

    scene_id: str
    map_id: str
    category: str
    description: str
    story: str | None
    pattern: str | None
    n_agents: int
    duration_s: float
    event: Event | None
    apart: float
    roles: list[Role]
    people: list[Person]
    provenance: Provenance

    @property
    def groups(self) -> list[list[int]]:
        """Return who belongs together: numbers of people, groups of two or more."""
        members: dict[int, list[int]] = {}
        for number, person in enumerate(self.people):
            if person.group >= 0:
                members.setdefault(person.group, []).append(number)
        return [group for _, group in sorted(members.items()) if len(group) > 1]


def scenarios_frame(scenarios: list[StrideScenario]) -> pl.DataFrame:
    """Return scenarios as rows of the schema `stride_scenario`."""
    rows = [
        msgspec.to_builtins(one) | {"people": [person._asdict() for person in one.people]}
        for one in scenarios
    ]
    return pl.DataFrame(rows, schema=pl.Schema(arrow_schema("stride_scenario")))


def scenarios_of(frame: pl.DataFrame) -> list[StrideScenario]:
    """Return the scenarios that `scenarios_frame` made rows of."""
    return [
        msgspec.convert(
            row | {"people": [list(person.values()) for person in row["people"]]}, StrideScenario
        )
        for row in frame.iter_rows(named=True)
    ]
