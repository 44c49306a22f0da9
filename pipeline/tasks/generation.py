"""Score predicted routes against the driven ones (paper 3.1, A.1.1; Tables 3, 6, 7).

    scorer = GenerationScorer(release, "test", settings, near=0.8)
    scorer.score(read_predictions(file, "generation"), file=file)   ->  Scored

All instances of a split are scored at once. What is missing or invalid has hit, Jaccard, joints and
one-ways 0, EDR 1, and the distances of a prediction that stays on the start segment. Of a file with
candidates, `oracle_*` scores the route, of the chosen one and its candidates, that ends nearest the
true end.
"""

from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.city.projection import geodesic
from pipeline.errors import ContractError, SourceError
from pipeline.tasks import asked, drivable
from pipeline.tasks.asked import Asked, told_times
from pipeline.tasks.distances import jaccard_of_lists, point_distances
from pipeline.tasks.ground import F64, I32, Ground, Ragged
from pipeline.tasks.groups import known_routes
from pipeline.tasks.hops import hops
from pipeline.tasks.measure import MISSING, OK, Measure, Scored, coverage_of
from pipeline.tasks.predictions import Matched, matched
from pipeline.tasks.released import Release
from pipeline.tasks.routes import (
    Points,
    Routes,
    chosen,
    first_number_of,
    ids_of,
    last_of,
    lengths_m,
    points_of,
    routes_of,
    stacked,
)
from pipeline.tasks.settings import GenerationSettings

KS = (1, 3, 5, 10)
GROUPS = {"style": "style", "scenario": "scenario", "known_route": "known_route"}
ORACLE = "oracle_"
_OF_THE_END = (
    Measure("dest_hit", "share", "higher", "Share of routes that end in the true last H3 cell."),
    Measure("dist_km", "km", "lower", "Geodesic from the end of the route to the true end."),
    *(
        Measure(
            f"hit_at_{k}", "share", "higher",
            f"Share of routes whose last segment is within {k} hops of the true one, streets in any"
            " direction; 0 hops is the segment itself, 1 one that touches it.",
        )
        for k in KS
    ),
    *(
        Measure(
            f"hit_directed_at_{k}", "share", "higher",
            f"Share of routes from whose last segment the true one is reached within {k} hops in"
            " driving direction; 0 hops is the segment itself.",
        )
        for k in KS
    ),
)  # fmt: skip
_OF_THE_ROUTE = (
    Measure("jaccard", "share", "higher", "Jaccard similarity of the sets of H3 cells driven in."),
    Measure(
        "dtw_km", "km", "lower",
        "Dynamic time warping: least sum of point distances over all alignments, without a window.",
    ),
    Measure(
        "hausdorff_km", "km", "lower",
        "Greatest distance from a point of either route to the nearest point of the other.",
    ),
    Measure(
        "edr", "share", "lower",
        "Edits that turn one sequence of points into the other, over the length of the longer.",
    ),
    Measure("over_routing", "share", "lower", "Share of routes much longer than the true one."),
    Measure("under_routing", "share", "lower", "Share of routes much shorter than the true one."),
)  # fmt: skip
_SCORED = (*_OF_THE_END, *_OF_THE_ROUTE)
START = Measure(
    "start_kept",
    "share",
    "higher",
    "Share of routes that begin on the start segment that is given.",
)
MEASURES = (*_SCORED, START, *drivable.MEASURES, *asked.MEASURES)
# Of these, what is missing or invalid gets the worst value; of all others, that of staying at the
# start.
_WORST = {
    "dest_hit": 0.0,
    **{f"{name}_at_{k}": 0.0 for name in ("hit", "hit_directed") for k in KS},
    "jaccard": 0.0,
    "edr": 1.0,
    "start_kept": 0.0,
    "joints_touching": 0.0,
    "one_ways_obeyed": 0.0,
}


class GenerationScorer:
    """The truth of a split, made ready once for any number of prediction files."""

    def __init__(
        self, release: Release, split: str, settings: GenerationSettings, *, near: float
    ) -> None:
        """Read the instances and the ground.

        Args:
            release: The release.
            split: Its split that is scored.
            settings: How routes are scored.
            near: Least Jaccard similarity that makes a route of train near.

        Raises:
            SourceError: A table of the release is missing, or the split has no instances.
            ContractError: An instance names a segment that the ground does not have.
        """
        self.release, self.split, self.settings, self._near = release, split, settings, near
        self.ground = Ground.of(release)
        self.instances = release.instances("generation", split)
        if self.instances.is_empty():
            raise SourceError(
                f"{release.folder}/generation/{split}.parquet: expected instances, found none; name"
                " another split with --split"
            )
        routes = self.instances.select(
            truth=pl.col("target").struct.field("edge_ids"),
            start=pl.concat_list(pl.col("input").struct.field("start_edge")),
        )
        self.truth = self._known(routes["truth"])
        self.start = first_number_of(self._known(routes["start"]))

    def _known(self, lists: pl.Series) -> Ragged:
        found = self.ground.numbered(lists)
        if (found.values < 0).any():
            raise ContractError(
                f"{self.release.folder}/generation/{self.split}.parquet: expected segments of"
                " ground/roads.parquet, found others; take both tables from one release"
            )
        return found

    def score(self, predictions: pl.DataFrame, *, file: Path) -> Scored:
        """Score the predictions of a file.

        Args:
            predictions: Result of `read_predictions`.
            file: Where they come from, for messages.

        Raises:
            SourceError: As `matched`.
        """
        return self.scored(matched(self.release, "generation", self.split, predictions, file=file))

    def scored(self, found: Matched, *, oracle: bool = False) -> Scored:
        """Score predictions that are matched with the instances.

        Args:
            found: Columns edge_ids and candidates beside those of the instances.
            oracle: Whether there are oracle measures without candidates too: of a route alone.
        """
        routes = routes_of(found.rows["edge_ids"], self.ground, gaps=self.settings.gaps)
        status = self._status(found.rows, routes)
        wrong = (status != OK).to_numpy()
        scored = self._filled(routes.scored, wrong)
        chosen_one = self._measured(scored)
        columns = chosen_one | {
            "start_kept": (first_number_of(scored) == self.start).astype(np.float64),
            "joints_touching": routes.touching,
            "one_ways_obeyed": routes.obeyed,
            "length_over_shortest": drivable.length_over_shortest(scored, self.ground),
            **self._met(scored, found.rows, wrong),
        }
        measures = list(MEASURES)
        candidates = found.rows["candidates"]
        if candidates.null_count() < len(candidates) or oracle:
            best = chosen_one
            if candidates.null_count() < len(candidates):
                best = self._measured(self._nearest(scored, candidates, wrong))
            columns |= {ORACLE + name: values for name, values in best.items()}
            measures += [
                one._replace(
                    name=ORACLE + one.name,
                    sentence=f"{one.sentence} Of the candidate that ends nearest the true end.",
                )
                for one in _SCORED
            ]
        for name, worst in _WORST.items():
            for column in {name, ORACLE + name} & columns.keys():
                columns[column] = np.where(wrong, worst, columns[column])
        return Scored(
            rows=self._heads.with_columns(
                status,
                *(pl.Series(one.name, columns[one.name], nan_to_null=True) for one in measures),
            ),
            measures=tuple(measures),
            groups=GROUPS,
            coverage=coverage_of(status, other=found.other),
            options=msgspec.to_builtins(self.settings),
        )

    @cached_property
    def _asked(self) -> Asked:
        return Asked.by(self.release, self.instances)

    def _met(
        self, routes: Ragged, rows: pl.DataFrame, wrong: npt.NDArray[Any]
    ) -> dict[str, npt.NDArray[Any]]:
        """Return how much of what the texts ask the routes meet.

        A one-way driven backwards lies on the street it reverses.
        """
        on_streets = Ragged(self.ground.drawn[routes.values], routes.starts)
        whole = lengths_m(routes, self.ground)
        table = pl.DataFrame(
            {
                "edge_ids": ids_of(on_streets, self.ground),
                "wrong": wrong,
                # Nobody says when the last segment is left: it is driven as fast as those before.
                "longer": whole / (whole - self.ground.length_m[last_of(routes)]).clip(1e-9),
            }
        ).hstack(told_times(rows))
        table = table.with_columns(
            edge_ids=pl.when(~pl.col("wrong")).then("edge_ids"),
            t_enter_s=pl.col("t_enter_s").list.head(pl.col("edge_ids").list.len()),
        )
        spent = pl.col("t_enter_s").list.last() - pl.col("t_enter_s").list.first()
        found = self._asked.met(
            table.select(
                "edge_ids",
                "t_enter_s",
                time_spent_s=pl.when(spent > 0).then(spent * pl.col("longer")),
            )
        )
        return {name: found[name].to_numpy() for name in found.columns}

    @cached_property
    def _heads(self) -> pl.DataFrame:
        train = self.release.candidates("train")
        driven = self.instances.select("trip_id", pl.col("target").struct.unnest())
        trips = driven.unique("trip_id", maintain_order=True)
        known = trips.select("trip_id", known_routes(trips, train, near=self._near))
        draws = pl.col("provenance").struct.field("draws").struct
        return self.instances.select(
            "instance_id", "trip_id", "style", draws.field("scenarios").alias("scenario")
        ).join(known, on="trip_id", how="left", maintain_order="left")

    @staticmethod
    def _status(rows: pl.DataFrame, routes: Routes) -> pl.Series:
        told = pl.when("predicted").then(pl.col("fault").fill_null(OK)).otherwise(pl.lit(MISSING))
        return rows.select("predicted").with_columns(routes.fault).select(status=told)["status"]

    def _filled(self, routes: Ragged, wrong: npt.NDArray[Any]) -> Ragged:
        """Put the start segment where there is no route."""
        rows = len(wrong)
        both = stacked(routes, Ragged(self.start, np.arange(rows + 1)))
        return chosen(both, np.where(wrong, np.arange(rows) + rows, np.arange(rows)))

    @cached_property
    def _true_points(self) -> Points:
        return self._points(self.truth)

    def _points(self, routes: Ragged) -> Points:
        settings = self.settings
        return points_of(routes, self.ground, points=settings.points, step_m=settings.step_m)

    def _from_true_end_m(self, ends: I32, rows: npt.NDArray[Any]) -> F64:
        """Return the geodesic from the ends of segments to the true ends of instances."""
        there = self.ground.place[self.ground.v[ends]]
        true = self.ground.place[self.ground.v[last_of(self.truth)[rows]]]
        if not len(there):
            return np.empty(0)
        return geodesic(there[:, 0], there[:, 1], true[:, 0], true[:, 1])[1]

    def _nearest(self, routes: Ragged, candidates: pl.Series, wrong: npt.NDArray[Any]) -> Ragged:
        """Return of each instance the route or candidate that ends nearest the true end.

        Candidates that cannot be scored are passed over; of equally near ones the first counts.
        """
        frame = pl.DataFrame({"row": np.arange(len(wrong)), "one": candidates}).filter(~wrong)
        flat = frame.explode("one").drop_nulls("one")
        others = routes_of(flat["one"], self.ground, gaps=self.settings.gaps)
        sound = others.fault.is_null().to_numpy()
        kept = chosen(others.scored, np.flatnonzero(sound))
        every = stacked(routes, kept)
        rows = np.concatenate((np.arange(len(wrong)), flat["row"].to_numpy()[sound]))
        away = self._from_true_end_m(last_of(every), rows)
        order = np.lexsort((np.arange(len(rows)), away, rows))
        first = np.unique(rows[order], return_index=True)[1]
        return chosen(every, order[first])

    def _measured(self, routes: Ragged) -> dict[str, F64]:
        """Return the measures of `_SCORED` for one route per instance, none empty."""
        ground, settings, truth = self.ground, self.settings, self.truth
        ends, true_ends = last_of(routes), last_of(truth)
        points, true_points = self._points(routes), self._true_points
        apart = point_distances(*points, *true_points, edr_m=settings.edr_m)
        away = hops(ground, ends, true_ends)
        ratio = lengths_m(routes, ground) / lengths_m(truth, ground)
        return {
            "dest_hit": (ground.cell[ends] == ground.cell[true_ends]).astype(np.float64),
            "dist_km": self._from_true_end_m(ends, np.arange(len(ends))) / 1000,
            **{f"hit_at_{k}": (away.undirected <= k).astype(np.float64) for k in KS},
            **{f"hit_directed_at_{k}": (away.directed <= k).astype(np.float64) for k in KS},
            "jaccard": jaccard_of_lists(
                ground.cell[routes.values], routes.starts, ground.cell[truth.values], truth.starts
            ),
            "dtw_km": apart.dtw_m / 1000,
            "hausdorff_km": apart.hausdorff_m / 1000,
            "edr": apart.edr,
            "over_routing": (ratio > settings.over_length).astype(np.float64),
            "under_routing": (ratio < settings.under_length).astype(np.float64),
        }
