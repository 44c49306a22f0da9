"""Small places and people for tests: a square with a house, drawn by hand."""

from functools import cache

import numpy as np
import shapely

from pipeline.records import Provenance
from pipeline.stride.anchors import Named, Signs, anchors_of
from pipeline.stride.maps import (
    CrowdMap,
    MapSource,
    Obstacle,
    StrideMap,
    edges,
    free_of,
    packed,
    reachable,
    rings_of,
)
from pipeline.stride.raster import Grid
from pipeline.stride.roles import Draft, Role
from pipeline.stride.scenario_records import Person, StrideScenario
from pipeline.stride.social_force import ForceSettings
from pipeline.stride.ways import Ways

SOURCE = MapSource("drawn", "CC0-1.0", "nobody", "2024-01-01")
FORCE = ForceSettings(0.1, 0.5, 2.1, 0.3, 1.0, 0.5, 2.0, 0.2, 1.0, 0.3, 1.3)
PROVENANCE = Provenance("template", "template", "1", "ab" * 32, [], "cd" * 32, 1)


def map_of(
    width: float, height: float, obstacles: list, signs: Signs | None = None, *, name: str = "Toy"
) -> StrideMap:
    """Return a map of polygons, as the map stages make it."""
    grid = Grid(width, height, 0.5)
    solid = shapely.union_all(obstacles) if obstacles else shapely.Polygon()
    walkable = reachable(free_of(solid, grid), grid, name)
    signs = signs or Signs([], [], [], [], [])
    return StrideMap(
        map_id=f"toy_{name.lower()}", name=name, kind="square", roads="none",
        origin="osm", city="toy", lon=0.0, lat=0.0, width_m=width, height_m=height,
        metres_per_px=0.5,
        obstacles=[Obstacle("building", rings_of(one)) for one in obstacles],
        segments=edges(obstacles, grid), anchors=anchors_of(walkable, grid, signs),
        landmarks=[], streets=[], walkable=packed(walkable),
        walkable_m2=float(walkable.sum()) * 0.25, source=SOURCE,
    )  # fmt: skip


HOUSE = shapely.box(50, 40, 62, 52)
CORNERS = [
    shapely.box(0, 0, 40, 20), shapely.box(80, 0, 120, 20),
    shapely.box(0, 80, 40, 100), shapely.box(80, 80, 120, 100),
]  # fmt: skip


@cache
def square() -> CrowdMap:
    """Return a square of 120 by 100 m with a house in it and a street on each side."""
    signs = Signs(
        streets=[
            Named("North Street", shapely.LineString([(60, 80), (60, 100)])),
            Named("South Street", shapely.LineString([(60, 0), (60, 20)])),
            Named("West Street", shapely.LineString([(0, 50), (40, 50)])),
            Named("East Street", shapely.LineString([(80, 50), (120, 50)])),
        ],
        areas=[Named("Toy Square", shapely.box(40, 20, 80, 80))],
        landmarks=[Named("House", HOUSE)],
        doors=[Named(None, shapely.Point(56, 40))],
        stops=[Named("Market", shapely.Point(70, 30))],
    )
    return CrowdMap(map_of(120.0, 100.0, [HOUSE, *CORNERS], signs))


@cache
def plaza() -> CrowdMap:
    """Return a larger square, 200 by 180 m, on which every story can happen."""
    house = shapely.box(60, 120, 74, 134)
    corners = [
        shapely.box(0, 0, 60, 40), shapely.box(140, 0, 200, 40),
        shapely.box(0, 140, 60, 180), shapely.box(140, 140, 200, 180),
    ]  # fmt: skip
    signs = Signs(
        streets=[
            Named("North Street", shapely.LineString([(100, 140), (100, 180)])),
            Named("South Street", shapely.LineString([(100, 0), (100, 40)])),
            Named("West Street", shapely.LineString([(0, 90), (60, 90)])),
            Named("East Street", shapely.LineString([(140, 90), (200, 90)])),
        ],
        areas=[Named("Great Plaza", shapely.box(60, 40, 140, 140))],
        landmarks=[Named("House", house), Named("Bank", corners[1])],
        doors=[],
        stops=[Named("Market", shapely.Point(120, 60)), Named("Mill", shapely.Point(80, 70))],
    )
    return CrowdMap(map_of(200.0, 180.0, [house, *corners], signs, name="Plaza"))


@cache
def plaza_ways() -> Ways:
    """Return the ways of the plaza."""
    return Ways(plaza())


@cache
def square_ways() -> Ways:
    """Return the ways of the square."""
    return Ways(square())


def role(motion: str, **changes: object) -> Role:
    """Return a role for all people, with some keys changed."""
    keys: dict = {
        "name": "people", "share": 1.0, "motion": motion, "start": "anywhere",
        "speed_mps": (1.3, 0.2),
    }  # fmt: skip
    return Role(**(keys | changes))


def draft(*roles: Role, **changes: object) -> Draft:
    """Return a draft that nothing is wrong with, with some keys changed."""
    keys: dict = {
        "description": "People walk over the square from North Street to South Street at ease.",
        "crowd_size": 30, "duration_s": 60.0, "event": None, "roles": list(roles),
    }  # fmt: skip
    return Draft(**(keys | changes))


def person(x: float, y: float, **changes: object) -> Person:
    """Return somebody who stands somewhere."""
    keys: dict = {
        "x_m": x, "y_m": y, "vx_mps": 0.0, "vy_mps": 0.0, "goal_x_m": x, "goal_y_m": y,
        "goal": None, "radius_m": 0.2, "speed_mps": 1.3, "begin_s": 0.0, "role": 0, "group": -1,
    }  # fmt: skip
    return Person(**(keys | changes))


def scenario(people: list[Person], *roles: Role, **changes: object) -> StrideScenario:
    """Return a scenario on the square, with some keys changed."""
    keys: dict = {
        "scene_id": "0000", "map_id": square().record.map_id, "category": "Ambulatory",
        "description": "People walk over the square.", "story": "own_ways", "pattern": "crossing",
        "n_agents": len(people), "duration_s": 30.0, "event": None, "apart": 1.0,
        "roles": list(roles), "people": people, "provenance": PROVENANCE,
    }  # fmt: skip
    return StrideScenario(**(keys | changes))


def closest(points: np.ndarray) -> float:
    """Return the smallest distance between two of some points."""
    apart = np.hypot(*(points[:, None] - points).T)
    return float(apart[np.triu_indices(len(points), 1)].min())
