"""What OSM tags and Overture categories mean: four small tables under version control.

    tag_categories.csv   amenity=cafe             -> place, food_and_drink>cafe, "cafe"
    old_categories.csv   thai_restaurant          -> food_and_drink>restaurant>thai_restaurant
    category_groups.csv  food_and_drink           -> dining
    area_meaning.csv     land_use, class park     -> natural word "park", role green

The tables lie in pipeline/city/tables/; a value `*` stands for any other value of its key.
"""

import csv
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

TABLES = Path(__file__).parent / "tables"
COMMERCIAL = ("dining", "entertainment", "services", "shopping")
PUBLIC_FACILITIES = ("education", "government", "healthcare", "transport")
OTHER_GROUP = "other"
# Of several place tags on one object, the first of these decides; the others are alternates.
PLACE_KEYS = ("amenity", "shop", "tourism", "leisure", "office", "healthcare", "historic",
              "public_transport")  # fmt: skip
AREA_KEYS = ("landuse", "leisure", "amenity", "natural", "waterway")


class Meaning(NamedTuple):
    """What one tag stands for.

    Attributes:
        type: place, land_use, land, water, or none for things that are no context (a bench).
        hierarchy: Place categories from general to specific; empty for areas.
        basic_category: The place category people would name; empty for areas.
        subtype: Overture subtype of an area; empty for places.
        area_class: Overture class of an area; empty for places.
    """

    type: str
    hierarchy: tuple[str, ...]
    basic_category: str
    subtype: str
    area_class: str


class AreaMeaning(NamedTuple):
    """What an area's class says: its word in texts ("" for none) and its role in geo-tags."""

    natural: str
    role: str


def _rows(name: str) -> list[dict[str, str]]:
    with (TABLES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@lru_cache(maxsize=1)
def _tags() -> dict[tuple[str, str], list[Meaning]]:
    table: dict[tuple[str, str], list[Meaning]] = {}
    for row in _rows("tag_categories.csv"):
        parents = tuple(row["hierarchy"].split(">")) if row["hierarchy"] else ()
        meaning = Meaning(row["type"], parents, row["basic_category"], row["subtype"], row["class"])
        table.setdefault((row["key"], row["value"]), []).append(meaning)
    return table


def tag_meanings(key: str, value: str) -> list[Meaning] | None:
    """Return what a tag stands for (one place, one area, or both); None when unmapped."""
    table = _tags()
    first = value.partition(";")[0].strip()  # "bar;restaurant": the first named comes first
    return table.get((key, value)) or table.get((key, first)) or table.get((key, "*"))


def place_meaning(tags: Mapping[str, str]) -> tuple[Meaning | None, list[str], list[str]]:
    """Return the place an object is, its other categories, and its unmapped `key=value` tags."""
    found: list[Meaning] = []
    unmapped: list[str] = []
    for key in PLACE_KEYS:
        if key not in tags:
            continue
        meanings = tag_meanings(key, tags[key])
        if meanings is None:
            unmapped.append(f"{key}={tags[key]}")
        found.extend(m for m in meanings or [] if m.type == "place")
    if not found:
        return None, [], unmapped
    taken = set(found[0].hierarchy)
    others = sorted({m.hierarchy[-1] for m in found[1:]} - taken)
    return found[0], others, unmapped


def area_meaning_of_tags(tags: Mapping[str, str]) -> tuple[Meaning | None, list[str]]:
    """Return the land use, land or water an object is, and its unmapped `key=value` tags."""
    unmapped: list[str] = []
    if tags.get("natural") == "water" and "water" in tags:
        refined = tag_meanings("water", tags["water"])
        if refined:
            return refined[0], unmapped
    for key in AREA_KEYS:
        if key not in tags:
            continue
        meanings = tag_meanings(key, tags[key])
        if meanings is None:
            unmapped.append(f"{key}={tags[key]}")
        for meaning in meanings or []:
            if meaning.type not in {"place", "none"}:
                return meaning, unmapped
    return None, unmapped


@lru_cache(maxsize=1)
def _groups() -> dict[str, str]:
    return {row["category"]: row["group"] for row in _rows("category_groups.csv")}


def category_group(hierarchy: Sequence[str], basic_category: str | None) -> str:
    """Return a place's group: one of `COMMERCIAL`, `PUBLIC_FACILITIES`, or `OTHER_GROUP`.

    The most specific category that the table knows decides; the basic category is asked first.
    """
    groups = _groups()
    for category in (basic_category, *reversed(hierarchy)):
        if category in groups:
            return groups[category]
    return OTHER_GROUP


@lru_cache(maxsize=1)
def _areas() -> dict[tuple[str, str], AreaMeaning]:
    return {
        (row["type"], row["class"]): AreaMeaning(row["natural"], row["role"])
        for row in _rows("area_meaning.csv")
    }


def area_meaning(feature_type: str, area_class: str) -> AreaMeaning:
    """Return what a class of land use, land or water means; unlisted classes mean nothing."""
    return _areas().get((feature_type, area_class), AreaMeaning("", ""))


@lru_cache(maxsize=1)
def _old() -> dict[str, tuple[str, ...]]:
    rows = _rows("old_categories.csv")
    return {row["category"]: tuple(row["parents"].split(">")) for row in rows}


def hierarchy_of_old_category(category: str) -> tuple[str, ...] | None:
    """Return the new-form hierarchy of an old `categories.primary`; None when the table is silent.

    Exact names come before endings (`*_restaurant`); the category itself closes the hierarchy.
    """
    table = _old()
    exact = table.get(category)
    ending = table.get("*_" + category.rpartition("_")[2]) if "_" in category else None
    parents = exact or ending
    if parents is None:
        return None
    return (*(p for p in parents if p != category), category)
