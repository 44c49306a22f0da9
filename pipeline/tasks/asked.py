"""What the texts of a split ask for, and how much of it routes and trips meet.

    asked = Asked.by(release, instances)
    asked.met(routes)                a row per instance: constraints_met, met_1_1, met_1_2, ...
    gains_of(asked, pool)            what each trip of a pool is worth to each query, for nDCG

Asked is what a text states (`evidence.constraints`), so a concise instruction is held to less than
a literal one. A constraint that only times could decide is left open where a route has none, and
counted. Beside the paper's measures: likeness to the one route that was driven is another question.
"""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.language.vocabulary import SCENARIOS
from pipeline.records import Target
from pipeline.tasks.constraints import CityRules, RouteFacts, share_met
from pipeline.tasks.measure import Measure
from pipeline.tasks.ranking import FIRST_RANKS
from pipeline.tasks.released import Release
from pipeline.tasks.retrieval import Gains
from pipeline.trips.phases import FIRST_S, LAST_S

_OF_TIMES = frozenset({"clock", "pace"})
MEASURES = (
    Measure(
        "constraints_met", "share", "higher",
        "Share of the constraints a text states that the route meets; undefined where it states"
        " none that can be decided.",
    ),
    Measure(
        "all_constraints_met", "share", "higher", "Share of the texts of which it meets all.",
    ),
    Measure(
        "constraints_undecided", "count", "",
        "Constraints of time and pace that a prediction without times leaves open.",
    ),
    *(
        Measure(
            f"met_{code.replace('.', '_')}", "share", "higher",
            f"The same for constraints of scenario {code}.",
        )
        for code in SCENARIOS
    ),
)  # fmt: skip


class Asked(NamedTuple):
    """The constraints of some texts.

    Attributes:
        rules: The ground, ready to look at routes.
        of: The constraints of each instance, in the order of the instances.
    """

    rules: CityRules
    of: list[list[Target]]

    @classmethod
    def by(cls, release: Release, instances: pl.DataFrame) -> "Asked":
        """Read the constraints of instances of generation or retrieval; they may be none.

        Raises:
            SourceError: A table of the ground is missing.
        """
        rules = CityRules(release.roads, release.road_cells, release.cells, release.definitions)
        stated = instances.select(of=pl.col("evidence").struct.field("constraints"))
        rows = msgspec.json.Decoder(_Stated).decode_lines(stated.write_ndjson())
        return cls(rules, [row.of for row in rows])

    def met(self, routes: pl.DataFrame) -> pl.DataFrame:
        """Return how much of what each instance asks its route meets.

        Args:
            routes: One row per instance, in their order: edge_ids (null: no route, which meets
                nothing), t_enter_s and time_spent_s (both null without times).

        Returns:
            One row per instance, columns as `MEASURES`.
        """
        facts = self._facts(routes)
        rows = [self._row(targets, seen) for targets, seen in zip(self.of, facts, strict=True)]
        return pl.DataFrame(
            rows, schema={one.name: pl.Float64 for one in MEASURES}, orient="row"
        )  # fmt: skip

    def _facts(self, routes: pl.DataFrame) -> Iterable[RouteFacts | None]:
        """Look at each distinct route once."""
        keyed = routes.with_columns(
            route_id=pl.concat_str(
                pl.col("edge_ids").list.join("\t"),
                pl.col("t_enter_s").list.eval(pl.element().cast(pl.String)).list.join("\t"),
                pl.col("time_spent_s").cast(pl.String),
                separator="\n",
                ignore_nulls=True,
            )
        )
        there = keyed.filter(pl.col("edge_ids").is_not_null())
        found = self.rules.facts(there.unique("route_id", maintain_order=True))
        return [
            found[key] if edges is not None else None
            for key, edges in keyed.select("route_id", "edge_ids").iter_rows()
        ]

    def _row(self, targets: list[Target], seen: RouteFacts | None) -> list[float | None]:
        verdicts = [self._verdict(target, seen) for target in targets]
        share = share_met(verdicts)
        by_scenario: list[float | None] = []
        for code in SCENARIOS:
            of_it = zip(targets, verdicts, strict=True)
            by_scenario.append(share_met(one for target, one in of_it if target.scenario == code))
        every = None if share is None else float(share == 1)
        return [share, every, float(verdicts.count(None)), *by_scenario]

    def _verdict(self, target: Target, seen: RouteFacts | None) -> bool | None:
        if seen is None:
            return None if target.kind in _OF_TIMES else False
        return self.rules.is_met(target, seen)


def told_times(predictions: pl.DataFrame) -> pl.DataFrame:
    """Return the entry times of predicted routes, null where they cannot be times of the route.

    Args:
        predictions: Columns edge_ids and, if any, t_enter_s.

    Returns:
        Column t_enter_s: as many as segments, none missing or before the one before, of a date.
    """
    if "t_enter_s" not in predictions.columns:
        nothing = pl.lit(None, pl.List(pl.Float64)).alias("t_enter_s")
        return predictions.with_columns(nothing).select("t_enter_s")
    times = pl.col("t_enter_s").list
    steps = times.eval(pl.element().diff().drop_nulls())
    sound = (
        (times.len() == pl.col("edge_ids").list.len())
        & (times.drop_nulls().list.len() == times.len())
        & (steps.list.min().fill_null(0.0) >= 0)
        & times.min().is_between(FIRST_S, LAST_S)
        & times.max().is_between(FIRST_S, LAST_S)
    )
    return predictions.select(t_enter_s=pl.when(sound).then("t_enter_s"))


class _Stated(msgspec.Struct, frozen=True):
    of: list[Target]


def gains_of(asked: Asked, pool: pl.DataFrame) -> Gains:
    """Return what trips are worth to queries: the share of a query's constraints they meet.

    Args:
        asked: What the queries ask.
        pool: Candidates of their split.
    """
    trips = pool.select("edge_ids", "t_enter_s", "time_spent_s", route_id="trip_id")
    facts = list(asked.rules.facts(trips).values())
    distinct = {target: k for k, target in enumerate(_distinct(asked.of))}
    pairs = _pairs_met(asked.rules, list(distinct), facts)
    number = [[distinct[_key(target)] for target in targets] for targets in asked.of]
    starts = np.concatenate(([0], np.cumsum([len(one) for one in number]))).astype(np.int64)
    flat = np.array([k for one in number for k in one], np.int64)
    return _gains(pairs, starts, flat, trips=len(facts), distinct=len(distinct))


_Key = tuple[str, str, tuple[str, ...], tuple[str, ...], str, str]


def _key(target: Target) -> _Key:
    """Return what decides a target: not in which phases of its own trip it was true."""
    return (
        target.scenario, target.kind, tuple(target.names), tuple(target.ids), target.feature,
        target.polarity,
    )  # fmt: skip


def _distinct(asked: Iterable[Iterable[Target]]) -> dict[_Key, None]:
    return dict.fromkeys(_key(target) for targets in asked for target in targets)


def _pairs_met(
    rules: CityRules, keys: list[_Key], facts: list[RouteFacts]
) -> npt.NDArray[np.int64]:
    """Return the pairs of constraint and trip that are met, as constraint * trips + trip, rising.

    Whoever meets a constraint with a name shows this name, so only those are asked.
    """
    shown: dict[str, list[int]] = {}
    for trip, seen in enumerate(facts):
        districts = {area.district for area in seen.areas if area.district is not None}
        for name in {*seen.roads, *seen.places, *districts}:
            shown.setdefault(name, []).append(trip)
    everyone = range(len(facts))
    found = []
    for number, (scenario, kind, names, ids, feature, polarity) in enumerate(keys):
        target = Target(scenario, kind, [], list(names), list(ids), feature, polarity)  # type: ignore[arg-type]
        wanted = ids or names
        some = sorted({t for one in wanted for t in shown.get(one, ())}) if wanted else everyone
        found += [number * len(facts) + trip for trip in some if rules.is_met(target, facts[trip])]
    return np.array(found, np.int64)


def _gains(
    pairs: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    flat: npt.NDArray[np.int64],
    *,
    trips: int,
    distinct: int,
) -> Gains:
    sizes = np.diff(starts)
    whole = np.where(sizes > 0, sizes, np.nan)
    bounds = np.searchsorted(pairs, np.arange(distinct + 1) * trips)
    ideal = np.zeros((len(sizes), FIRST_RANKS))
    mean = np.full(len(sizes), np.nan)
    for query in np.flatnonzero(sizes):
        asked = flat[starts[query] : starts[query + 1]]
        met = np.concatenate([pairs[bounds[k] : bounds[k + 1]] - k * trips for k in asked])
        worth = np.bincount(met, minlength=trips) / sizes[query]
        most = -np.sort(-np.partition(worth, -min(trips, FIRST_RANKS))[-FIRST_RANKS:])
        ideal[query, : len(most)] = most
        mean[query] = worth.mean()

    def of(
        queries: npt.NDArray[np.int64], candidates: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        each = sizes[queries]
        row = np.repeat(np.arange(len(queries)), each)
        within = np.arange(len(row)) - np.repeat(np.cumsum(each) - each, each)
        asked = flat[starts[queries][row] + within]
        wanted = asked * trips + candidates[row]
        at = np.searchsorted(pairs, wanted)
        met = at < len(pairs)
        met[met] = pairs[at[met]] == wanted[met]
        total: npt.NDArray[np.float64] = np.bincount(row, met, len(queries)) / whole[queries]
        return total

    return Gains(of, ideal, mean)
