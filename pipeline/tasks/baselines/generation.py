"""Baselines of generation: routes from instructions (paper 4.1 and A.2; Tables 3, 6, 7).

    DestSP     the shortest path to the destination that is read from the instruction
    ConstrSP   also over the roads, stops and zones read, by soft weights
    TrajAnchor also along the ways of training trips whose instructions are most alike

All read the instruction by rules (`reading.py`) where the paper asks a language model. Each route
comes with further candidates, the next likely destinations, for the oracle measures. The skeleton
of an anchor is a liking for the segments of its way; waypoints sampled from it, as in the paper,
made routes worse on val. No figure here was chosen on test.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from pipeline.tasks.baselines.grounding import Grounding, Near
from pipeline.tasks.baselines.reading import Wishes
from pipeline.tasks.baselines.routing import Routing, Way
from pipeline.tasks.ground import F64, I32, UNKNOWN
from pipeline.tasks.routes import first_number_of, last_of
from pipeline.tasks.text_index import Index
from pipeline.tasks.view import ModelView

# Routes handed in for one instruction: the chosen one and others.
CANDIDATES = 10
# Factors on the length of segments: of roads to drive, asked to keep to, liked, kept off, against
# the heading, of the anchors' ways.
ALONG, STAYED_ON, PREFERRED, AVOIDED, TURNED_AWAY, ANCHORED = 0.6, 0.4, 0.7, 5.0, 1.5, 0.8
# Training trips that are looked at, how many of them make a skeleton, and within which distance of
# the start and of the destination; where a trip counts half, and what the rank of a spot counts.
ANCHORS, SKELETONS, FARTHEST_M, HALF_M, RANK_WEIGHT = 60, 3, 300.0, 300.0, 0.5
_COMPASS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
_WITHIN_DEG = 90.0


class Asked(NamedTuple):
    """One instruction, read and found on the map.

    Attributes:
        instance_id: The instance.
        text: The instruction.
        start: Number of its start segment.
        wishes: What it asks for.
        spots: Where the destination may lie, the likeliest first; at least one.
    """

    instance_id: str
    text: str
    start: int
    wishes: Wishes
    spots: list[I32]


class Reader:
    """Reads the instructions of a split and finds their destinations."""

    def __init__(self, view: ModelView, index: Index) -> None:
        """Prepare the ground, and learn from train how far people go."""
        self.grounding = Grounding(view, index)
        ground, plane = self.grounding.ground, self.grounding.plane
        train = view.train("generation")
        self.paths = ground.numbered(
            train.select(pl.col("target").struct.field("edge_ids"))["edge_ids"]
        )
        self.texts = train["instruction"].to_list()
        kept = self.paths
        if len(kept.starts) > 1:
            ends = plane[ground.v[last_of(kept)]] - plane[ground.u[first_number_of(kept)]]
            self._away_m = float(np.median(np.hypot(*ends.T)))
        else:
            self._away_m = 0.0
        self._known: dict[str, I32] = {}

    def asked(self, inputs: pl.DataFrame) -> list[Asked]:
        """Read instructions.

        Args:
            inputs: instance_id, instruction, start_edge.
        """
        starts = self.grounding.ground.numbered(
            inputs.select(pl.concat_list("start_edge")).to_series()
        )
        rows = zip(inputs["instance_id"], inputs["instruction"], starts.values, strict=True)
        return [self._one(name, text, int(start)) for name, text, start in rows if start != UNKNOWN]

    def _one(self, instance_id: str, text: str, start: int) -> Asked:
        wishes = self.grounding.reader.read(text)
        near = Near(
            self.grounding.plane[self.grounding.ground.v[start]],
            self._away_m,
            self.segments(wishes.beside) if wishes.beside else np.empty(0, np.int32),
        )
        # Where no destination is read, or none of its words is known, the whole text is asked.
        spots = self.grounding.spots(wishes.destination, near) if wishes.destination else []
        spots = spots or self.grounding.spots(text, near) or [np.array([start], np.int32)]
        return Asked(instance_id, text, start, wishes, spots)

    def segments(self, phrase: str) -> I32:
        """Return all segments where a phrase holds; the same array each time."""
        if phrase not in self._known:
            self._known[phrase] = self.grounding.segments(phrase)
        return self._known[phrase]


Planned = Callable[[Asked], Iterable[Way]]


def _predicted(reader: Reader, asked: Sequence[Asked], ways: Planned) -> pl.DataFrame:
    """Route the ways of each instruction, the chosen one first, and give them as predictions."""
    routing, row = Routing(reader.grounding), []
    for number, one in enumerate(asked):
        for way in ways(one):
            routing.add(one.start, way)
            row.append(number)
    routes = pl.DataFrame(
        {"row": row, "candidates": routing.routes()},
        schema={"row": pl.Int64, "candidates": pl.List(pl.String)},
    )
    each = routes.group_by("row", maintain_order=True).agg("candidates").sort("row")
    return each.select(
        instance_id=pl.Series([one.instance_id for one in asked], dtype=pl.String),
        edge_ids=pl.col("candidates").list.first(),
        candidates="candidates",
    )


class DestSP:
    """The shortest path to the destination."""

    def __init__(self, name: str, index: Index) -> None:
        """Name the model, and say what finds the cells that a description fits."""
        self.name, self._index = name, index

    def predict(self, view: ModelView, split: str) -> pl.DataFrame:
        """Predict the routes of a split: rows of generation_prediction."""
        reader = Reader(view, self._index)

        def ways(one: Asked) -> Iterable[Way]:
            return (Way([spot]) for spot in one.spots[:CANDIDATES])

        return _predicted(reader, reader.asked(view.inputs(split)), ways)


class ConstrSP:
    """DestSP over what else the instruction asks for."""

    def __init__(self, name: str, index: Index) -> None:
        """Name the model, and say what finds the cells that a description fits."""
        self.name, self._index = name, index

    def predict(self, view: ModelView, split: str) -> pl.DataFrame:
        """Predict the routes of a split: rows of generation_prediction."""
        reader = Reader(view, self._index)
        wanted = Wanted(reader)

        def ways(one: Asked) -> Iterable[Way]:
            way = wanted.way(one.wishes)
            return (way._replace(stages=[*way.stages, spot]) for spot in one.spots[:CANDIDATES])

        return _predicted(reader, reader.asked(view.inputs(split)), ways)


class Wanted:
    """The wishes of instructions as sets of segments."""

    def __init__(self, reader: Reader) -> None:
        """Find the segments that lead off each heading."""
        self._reader = reader
        ground, plane = reader.grounding.ground, reader.grounding.plane
        segments = slice(ground.segments)
        leads = plane[ground.v[segments]] - plane[ground.u[segments]]
        bearing = np.degrees(np.arctan2(leads[:, 0], leads[:, 1]))
        self._off = {}
        for number, heading in enumerate(_COMPASS):
            apart = np.abs((bearing - number * 360 / len(_COMPASS) + 180) % 360 - 180)
            self._off[heading] = np.flatnonzero(apart > _WITHIN_DEG).astype(np.int32)

    def way(self, wishes: Wishes) -> Way:
        """Return the way asked for, without its destination."""
        soft = [
            *((phrase, ALONG) for phrase in wishes.roads if phrase not in wishes.stay_on),
            *((phrase, STAYED_ON) for phrase in wishes.stay_on),
            *((phrase, PREFERRED) for phrase in wishes.prefer),
            *((phrase, AVOIDED) for phrase in wishes.avoid),
        ]
        found = [(self._reader.segments(phrase), factor) for phrase, factor in soft]
        if wishes.heading:
            found.append((self._off[wishes.heading], TURNED_AWAY))
        return Way(
            self._all(wishes.roads),
            self._all([*wishes.stops, *wishes.through]),
            [one for one in found if len(one[0])],
        )

    def _all(self, phrases: Iterable[str]) -> list[I32]:
        found = [self._reader.segments(phrase) for phrase in phrases]
        return [one for one in found if len(one)]


class TrajAnchor:
    """ConstrSP beside training trips whose instructions are most alike."""

    def __init__(self, name: str, index: Index) -> None:
        """Name the model, and say what tells how alike texts are."""
        self.name, self._index = name, index

    def predict(self, view: ModelView, split: str) -> pl.DataFrame:
        """Predict the routes of a split: rows of generation_prediction."""
        reader = Reader(view, self._index)
        wanted, anchors = Wanted(reader), Anchors(reader, self._index)

        def ways(one: Asked) -> Iterable[Way]:
            way = wanted.way(one.wishes)
            for spot, skeleton in anchors.ranked(one)[:CANDIDATES]:
                yield Way([*way.stages, spot], way.anywhere, [*way.soft, *skeleton])

        return _predicted(reader, reader.asked(view.inputs(split)), ways)


class Anchors:
    """The training trips that instructions are anchored to."""

    def __init__(self, reader: Reader, index: Index) -> None:
        """Index the instructions of train."""
        self._reader, self._index = reader, index(reader.texts)
        starts = reader.paths.starts
        self._paths = np.split(reader.paths.values, starts[1:-1]) if len(starts) > 1 else []
        self._places = reader.grounding.plane[reader.grounding.ground.v]

    def ranked(self, one: Asked) -> list[tuple[I32, list[tuple[I32, float]]]]:
        """Return the spots of an instruction, those that alike trips went to first.

        Returns:
            Each with its skeleton: the ways of its anchors from the start on, and a factor.
        """
        scores = self._index.scores(one.text)
        alike = np.argsort(-scores, kind="stable")[:ANCHORS]
        alike = alike[scores[alike] > 0]
        start = self._places[one.start]
        apart = [np.hypot(*(self._places[self._paths[k]] - start).T) for k in alike]
        away = np.array([each.min() for each in apart])
        rest = [self._paths[k][each.argmin() :] for k, each in zip(alike, apart, strict=True)]
        ends = np.array([self._places[self._paths[k][-1]] for k in alike]).reshape(-1, 2)
        span = np.ptp(scores[alike]) if len(alike) else 0.0
        likeness = (scores[alike] - scores[alike].min(initial=np.inf)) / span if span else 1.0
        likeness = likeness * (1 + _half(away)) / 2
        ranked: list[tuple[float, I32, list[tuple[I32, float]]]] = []
        for number, spot in enumerate(one.spots):
            missed = np.hypot(*(ends - self._reader.grounding.middle(spot)).T)
            values = likeness * _half(missed)
            best = np.argsort(-values, kind="stable")[:SKELETONS]
            near = [rest[k] for k in best if missed[k] < FARTHEST_M and away[k] < FARTHEST_M]
            skeleton = [(np.unique(np.concatenate(near)), ANCHORED)] if near else []
            value = values.max(initial=0.0) + RANK_WEIGHT / (1 + number)
            ranked.append((float(value), spot, skeleton))
        ranked.sort(key=lambda found: -found[0])
        return [(spot, skeleton) for _, spot, skeleton in ranked]


def _half(metres: F64) -> F64:
    """Return 1 at no distance, one half at `HALF_M`."""
    return np.asarray(np.exp2(-metres / HALF_M))
