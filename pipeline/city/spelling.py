"""One street has one spelling in a city, and one that can be said.

    "Rua do Doutor Alfredo Magalhães" 620 m, "Rua do Doutor Alfredo de Magalhães" 410 m beside it
    ->  the first, on all segments
    "Avenida de França (temporário)"  ->  "Avenida de França"

Two spellings are of one street where nothing but case, accents, particles ("de", "of"), marks and
abbreviations (tables/name_words.yaml) parts them, and where one goes on within `REACH_M` of the
other: streets of like names in two suburbs keep theirs. The spelling of most metres is everyone's,
one with a full stop ("R. de") only where there is no other. Likeness of letters counts for nothing.
"""

import re
import unicodedata
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import polars as pl

from pipeline.city.projection import UtmPlane
from pipeline.params import document_of

TABLE = Path(__file__).parent / "tables" / "name_words.yaml"
# Spellings farther apart than this are of two streets, metres: in Porto those of one street lie up
# to 270 m apart, those of two from 340 m on, most of them kilometres.
REACH_M = 300.0
_QUALIFIER = re.compile(r"\s*(\([^()]*\)|\[[^][]*\])")
_WORD = re.compile(r"(\w+)(\W*)")


class NameWords(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """tables/name_words.yaml: short forms of words in names by language, and joining words."""

    abbreviations: dict[str, dict[str, list[str]]]
    connectors: list[str]

    @cached_property
    def short_form(self) -> dict[str, str]:
        """Return the short form of each folded word that has one."""
        found: dict[str, str] = {}
        for language in self.abbreviations.values():
            for short, longs in language.items():
                for long in longs:
                    found.setdefault(_folded(long), _folded(short))
        return found


@cache
def name_words() -> NameWords:
    """Return the table of words in names, read once.

    Raises:
        ParameterError: It is missing or broken.
    """
    found: NameWords = document_of(TABLE, NameWords)
    return found


class Spelled(NamedTuple):
    """Roads with one spelling a street, and what was written otherwise.

    Attributes:
        roads: The roads, with their names as they are said.
        respelled: written, spelled, segments of each name that changed; sorted.
    """

    roads: pl.DataFrame
    respelled: list[dict[str, Any]]


def one_spelling(roads: pl.DataFrame) -> Spelled:
    """Give every street of a city one spelling.

    Args:
        roads: One row per segment: edge_id, name, length_m, u_lon, u_lat, v_lon, v_lat; may be
            empty.
    """
    said = {name: spoken(name) for name in roads["name"].drop_nulls().unique()}
    roads = roads.with_columns(
        written="name",
        name=pl.col("name").replace_strict(said, return_dtype=pl.String, default=None),
    )
    by_key: dict[tuple[str, ...], set[str]] = {}
    for name in said.values():
        by_key.setdefault(spelling_key(name), set()).add(name)
    several = {name: number for number, names in enumerate(by_key.values()) if len(names) > 1
               for name in names}  # fmt: skip
    open_ones = roads.filter(pl.col("name").is_in(list(several)))
    if open_ones.height:
        street = _streets(open_ones, open_ones["name"].replace_strict(several).to_numpy())
        spelling = open_ones.select("edge_id", "name", "length_m", street=pl.Series(street))
        spelling = (
            spelling.with_columns(
                metres=pl.col("length_m").sum().over("street", "name"),
                shortened=pl.col("name").str.contains(".", literal=True),
            )
            .sort("shortened", "metres", "name", descending=[False, True, False])
            .select("edge_id", best=pl.col("name").first().over("street"))
        )
        roads = roads.join(spelling, on="edge_id", how="left", maintain_order="left")
        roads = roads.with_columns(name=pl.coalesce("best", "name")).drop("best")
    changed = (
        roads.filter(pl.col("written") != pl.col("name"))
        .group_by("written", spelled="name")
        .agg(segments=pl.len())
        .sort("written", "spelled")
    )
    return Spelled(roads.drop("written"), changed.to_dicts())


def spoken(name: str) -> str:
    """Return a name as people say it: the first of "one;two", nothing in brackets, no odd blanks.

    A name that is all brackets stays as it is.
    """
    name = unicodedata.normalize("NFC", name)
    first = next((part for part in name.split(";") if part.strip()), name)
    bare = " ".join(_QUALIFIER.sub(" ", first).split())
    return bare or " ".join(first.split())


def spelling_key(name: str) -> tuple[str, ...]:
    """Return what two spellings of one street share: folded words, short, without particles.

    A particle is written as the table has it: the "Lã" of "da Lã" and the "D." of "D. Pedro" stay.
    """
    table = name_words()
    words = _WORD.findall(name)
    kept = [
        (word, after)
        for word, after in words
        if word.casefold() not in table.connectors or after.startswith(".")
    ]
    folded = [_folded(word) for word, _ in kept or words]
    return tuple(table.short_form.get(word, word) for word in folded)


def _folded(word: str) -> str:
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part))


def _streets(roads: pl.DataFrame, key: Any) -> Any:
    """Number the streets: segments of one key that lie, from end to end, within reach."""
    from scipy.sparse import coo_array  # noqa: PLC0415 - slow import
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415
    from scipy.spatial import KDTree  # noqa: PLC0415

    count = roads.height
    ends = np.vstack([roads.select(f"{end}_lon", f"{end}_lat").to_numpy() for end in "uv"])
    plane = UtmPlane(*ends.mean(axis=0))
    # A key of its own plane: segments of two keys are never near each other.
    apart = np.tile(key, 2)[:, None] * (4 * REACH_M)
    near = KDTree(np.hstack([plane.to_metres(ends), apart])).query_pairs(
        REACH_M, output_type="ndarray"
    )
    pairs = np.vstack([near % count, np.column_stack([np.arange(count)] * 2)])
    links = coo_array((np.ones(len(pairs)), pairs.T), shape=(count, count))
    return connected_components(links, directed=False)[1]
