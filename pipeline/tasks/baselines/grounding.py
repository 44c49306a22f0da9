"""Where on the map the words of an instruction lie: ranked spots, each some segments.

    grounding = Grounding(view)
    grounding.spots("Bulevardi", near)        ->  [array([4, 9]), ...]: its segments cell by cell
    grounding.spots("a hairdresser", near)    the cells whose description fits best, by BM25

Names come first: a road is all its segments, a place the nearest ones to it. What is no name is
looked up in the descriptions of the cells, by its own words and by those that descriptions have for
it. Among equals nobody can tell which one is meant; `near` says which to try first.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import shapely

from pipeline.quality.folding import all_words
from pipeline.quality.gazetteer import Name, gazetteer_of
from pipeline.quality.tables import word_tables
from pipeline.tasks.baselines.reading import RuleReader
from pipeline.tasks.distances import positions
from pipeline.tasks.ground import F64, I32, Ground
from pipeline.tasks.text_index import Index, TextIndex
from pipeline.tasks.view import ModelView

# Segments that are as near to a place as the nearest one, but for this, are its segments too: a
# street driven both ways has two.
_AS_NEAR_M = 1.0


class Near(NamedTuple):
    """Which of equal spots comes first.

    Attributes:
        start: Position of the start, (2,) metres.
        away_m: How far away a destination usually lies.
        beside: Segments beside which it is said to lie; may be none.
    """

    start: F64
    away_m: float
    beside: I32


class Grounding:
    """The words of one city on its map.

    Attributes:
        ground: The road graph.
        plane: (nodes, 2) position of each node on a flat map, metres.
        reader: Reads instructions with the city's names.
    """

    def __init__(self, view: ModelView, index: Index) -> None:
        """Prepare the ground of a release.

        Args:
            view: Of its ground only, no instance.
            index: Finds the cells that a description fits.
        """
        self._index = index
        self.ground = Ground.build(view.roads, view.road_cells)
        flat = positions(self.ground.place)
        self._to_plane = flat[:, 2:].mean(axis=0) if len(flat) else np.ones(2)
        self.plane = flat[:, :2] * self._to_plane
        self._gazetteer = gazetteer_of(
            view.city.title(),
            roads=view.roads, road_cells=view.road_cells, cells=view.cells, names=view.names,
            tables=word_tables(),
        )  # fmt: skip
        self.reader = RuleReader(self._gazetteer)
        self._names = view.roads["name"].to_numpy()
        number = {cell: n for n, cell in enumerate(self.ground.cells)}
        self._cells = view.cells.to_dicts()
        self._numbers = [number.get(row["cell"], -1) for row in self._cells]
        self._order = np.argsort(self.ground.cell[: self.ground.segments], kind="stable")
        of_cell = self.ground.cell[self._order]
        self._starts = np.searchsorted(of_cell, np.arange(len(self.ground.cells) + 1))

    @cached_property
    def _descriptions(self) -> TextIndex:
        return self._index([self._described(k) for k in range(len(self._cells))])

    def _described(self, number: int) -> str:
        """Return all that is known of a cell in words: its description, places and roads."""
        row, segments = self._cells[number], self.in_cell(self._numbers[number])
        roads = sorted({str(name) for name in self._names[segments] if name is not None})
        places = [
            f"{poi['name'] or ''} {str(poi['category'] or '').replace('_', ' ')}"
            for poi in row["pois"]
        ]
        return " ".join([row["description"], row["narrative"], *places, *roads])

    def in_cell(self, cell: int) -> I32:
        """Return the segments whose dominant cell this is; -1 has none."""
        if cell < 0:
            return np.empty(0, np.int32)
        return self._order[self._starts[cell] : self._starts[cell + 1]].astype(np.int32)

    def middle(self, segments: I32) -> F64:
        """Return (2,) the mean of the ends of some segments, metres."""
        return np.asarray(self.plane[self.ground.v[segments]].mean(axis=0))

    def spots(self, phrase: str, near: Near) -> list[I32]:
        """Return where a phrase may lie, the likeliest first; none where no word of it fits.

        Args:
            phrase: A name or a description.
            near: Which of equals comes first.
        """
        named = self._named(phrase)
        if named:
            return self._ranked(named, np.ones(len(named)), near)
        scores = self._descriptions.scores(self._asked(phrase))
        fitting = np.flatnonzero(scores > 0)
        spots = [self._there(phrase, k) for k in fitting]
        kept = [k for k, spot in enumerate(spots) if len(spot)]
        return self._ranked([spots[k] for k in kept], scores[fitting[kept]], near)

    def segments(self, phrase: str) -> I32:
        """Return all segments where a phrase holds: of a name, or of the zone or kind it tells."""
        found = self._named(phrase)
        if not found:
            codes = self._codes(phrase)
            found = [
                self._there(phrase, k)
                for k, row in enumerate(self._cells)
                if any(self.reader.features.lies(code, row) for code in codes)
            ]
        return np.unique(np.concatenate(found)) if found else np.empty(0, np.int32)

    def _ranked(self, spots: Sequence[I32], scores: F64, near: Near) -> list[I32]:
        if not spots:
            return []
        at = np.array([self.middle(spot) for spot in spots])
        off = np.abs(np.hypot(*(at - near.start).T) - near.away_m)
        if len(near.beside):
            beside = self.plane[self.ground.v[near.beside]]
            off = np.hypot(*(at[:, None] - beside[None]).transpose(2, 0, 1)).min(axis=1)
        behind = np.where(
            scores < self._descriptions.equal_share * scores.max(), -scores, -scores.max()
        )
        return [spots[k] for k in np.lexsort((off, behind))]

    def _codes(self, phrase: str) -> list[str]:
        return self.reader.features_of(phrase)

    def _asked(self, phrase: str) -> str:
        described = self.reader.features.described
        return " ".join(
            [phrase, *(word for code in self._codes(phrase) for word in described(code))]
        )

    def _there(self, phrase: str, row: int) -> I32:
        """Return the segments of a cell, of a kind of place those nearest to one."""
        features, cell = self.reader.features, self._cells[row]
        kinds = [code for code in self._codes(phrase) if not features.is_zone(code)]
        at = [
            (poi["lon"], poi["lat"])
            for poi in cell["pois"]
            if any(features.is_kind(code, poi["category"]) for code in kinds)
        ]
        return self._nearest(at) if at else self.in_cell(self._numbers[row])

    def _named(self, phrase: str) -> list[I32]:
        tables = word_tables()
        words = [tables.canonical(word) for word in all_words(phrase)]
        found: list[I32] = []
        for one in self._gazetteer.spelled(words):
            found += self._of_name(one.name)
        return found

    def _of_name(self, name: Name) -> list[I32]:
        spots: list[I32] = []
        if "road" in name.sites:
            spots += self._by_cell(np.flatnonzero(self._names == name.text))
        if "place" in name.sites:
            places = [
                (poi["lon"], poi["lat"])
                for row in self._cells for poi in row["pois"] if poi["name"] == name.text
            ] or [(name.sites["place"].lon, name.sites["place"].lat)]  # fmt: skip
            for place in dict.fromkeys(places):
                spots.append(self._nearest([place]))
        if "district" in name.sites and not spots:
            cells = (k for k, row in enumerate(self._cells) if row["district"] == name.text)
            there = [self.in_cell(self._numbers[k]) for k in cells]
            spots += [some for some in there if len(some)]
        return spots

    def _by_cell(self, segments: Any) -> list[I32]:
        cells = self.ground.cell[segments]
        return [segments[cells == cell].astype(np.int32) for cell in np.unique(cells)]

    @cached_property
    def _lines(self) -> Any:
        lines = shapely.from_wkb(self.ground.geometry.to_numpy())
        east, north = self._to_plane * np.pi / 180
        return shapely.STRtree(shapely.transform(lines, lambda at: at * (east, north)))

    def _nearest(self, places: Iterable[tuple[float, float]]) -> I32:
        """Return the segments nearest to any of some places, given by longitude and latitude."""
        points = shapely.points(np.array(list(places)) * self._to_plane * np.pi / 180)
        nearest = self._lines.geometries[self._lines.nearest(points)]
        within = shapely.distance(points, nearest) + _AS_NEAR_M
        found = self._lines.query(points, predicate="dwithin", distance=within)[1]
        return np.unique(found).astype(np.int32)
