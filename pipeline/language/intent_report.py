"""Count what was drawn and what was kept, beside what the paper reports.

metrics/intents.json            counts, shares of replaced scenarios, queries without a dimension
plots/scenarios.csv             Figure 10: share of each scenario within its dimension
plots/scenario_counts.csv       Figure 12: share of trips by number of scenarios
plots/personas.csv              Figure 11: share of trips by persona

Series: `drawn` before the evidence was looked at, `kept` after, `paper`. The paper prints no
numbers in Figure 10; its caption calls the coverage even, so `paper` is even within a dimension.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from pipeline.language.vocabulary import DIMENSIONS, SCENARIOS, vocabulary
from pipeline.records import Intents
from pipeline.store import StageIO

# Figure 12: shares of trips with one to five scenarios.
PAPER_COUNTS = (0.15, 0.35, 0.30, 0.15, 0.05)
SERIES = ("drawn", "kept", "paper")


class IntentCounts:
    """Counts of one city, filled shard by shard."""

    def __init__(self) -> None:
        self.planned = self.rejected = self.places = 0
        self.streets = self.waypoints = self.times = self.shrunk = 0
        self.drawn: Counter[str] = Counter()
        self.kept: Counter[str] = Counter()
        self.replaced = 0
        self.drawn_count: Counter[int] = Counter()
        self.kept_count: Counter[int] = Counter()
        self.personas: Counter[str] = Counter()
        self.kinds: Counter[tuple[str, str]] = Counter()
        self.uncovered: Counter[int] = Counter()

    def add(self, places: pl.Series, intents: Sequence[Intents], *, rejected: int) -> None:
        """Count some trips.

        Args:
            places: Column `places` of `planned_trip`.
            intents: The trips' plans, as many.
            rejected: Number of trips that were refused beside them.
        """
        self.planned += len(intents)
        self.rejected += rejected
        self.places += int(places.list.len().sum())
        for plan in intents:
            self._add_plan(plan)

    def _add_plan(self, plan: Intents) -> None:
        self.drawn.update(plan.drawn)
        self.kept.update(plan.scenarios)
        self.replaced += len(set(plan.drawn) - set(plan.scenarios))
        self.drawn_count[len(plan.drawn)] += 1
        self.kept_count[len(plan.scenarios)] += 1
        self.shrunk += len(plan.scenarios) < len(plan.drawn)
        self.personas[plan.persona] += 1
        self.kinds.update((target.scenario, target.kind) for target in plan.targets)
        asked = {number for query in plan.queries for number in query.dimensions}
        self.uncovered.update(set(DIMENSIONS) - asked)
        self.streets += plan.street is not None
        self.waypoints += plan.waypoint is not None
        self.times += plan.time_context is not None

    def metrics(self) -> dict[str, Any]:
        """Return the record of metrics/intents.json."""
        most = max([*self.drawn_count, len(PAPER_COUNTS)])
        drawn = sum(self.drawn.values())
        return {
            "trips": self.planned + self.rejected,
            "planned": self.planned,
            "rejected": {"no_destination": self.rejected},
            "scenarios_per_trip": [
                {"scenarios": k, "drawn": self.drawn_count[k], "kept": self.kept_count[k]}
                for k in range(1, most + 1)
            ],
            "scenarios": [
                {"scenario": code, "drawn": self.drawn[code], "kept": self.kept[code]}
                for code in SCENARIOS
            ],
            "replaced_share": _share(self.replaced, drawn),
            "trips_with_fewer_scenarios": self.shrunk,
            "target_kinds": [
                {"scenario": code, "kind": kind, "trips": count}
                for (code, kind), count in sorted(self.kinds.items())
            ],
            "trips_without_dimension_in_queries": [
                {"dimension": number, "trips": self.uncovered[number]} for number in DIMENSIONS
            ],
            "trips_with_waypoint": self.waypoints,
            "trips_with_street": self.streets,
            "trips_with_time_context": self.times,
            "places_per_trip": _share(self.places, self.planned),
        }

    def scenario_shares(self) -> pl.DataFrame:
        """Return the rows of Figure 10."""
        rows = []
        for dimension in DIMENSIONS:
            codes = [code for code in SCENARIOS if code[0] == str(dimension)]
            for code in codes:
                shares = (
                    _share(self.drawn[code], sum(self.drawn[c] for c in codes)),
                    _share(self.kept[code], sum(self.kept[c] for c in codes)),
                    round(1 / len(codes), 4),
                )
                name = f"{code} {vocabulary().scenario(code).name}"
                rows += [(name, s, share) for s, share in zip(SERIES, shares, strict=True)]
        return _frame("scenario", rows)

    def count_shares(self) -> pl.DataFrame:
        """Return the rows of Figure 12."""
        rows = []
        for k in range(1, max([*self.drawn_count, len(PAPER_COUNTS)]) + 1):
            shares = (
                _share(self.drawn_count[k], self.planned),
                _share(self.kept_count[k], self.planned),
                PAPER_COUNTS[k - 1] if k <= len(PAPER_COUNTS) else 0.0,
            )
            rows += [(str(k), s, share) for s, share in zip(SERIES, shares, strict=True)]
        return _frame("scenarios", rows)

    def persona_shares(self) -> pl.DataFrame:
        """Return the rows of Figure 11; what is drawn is kept."""
        personas = vocabulary().personas
        rows = []
        for persona in personas:
            rows.append((persona.name, "drawn", _share(self.personas[persona.code], self.planned)))
            rows.append((persona.name, "paper", round(1 / len(personas), 4)))
        return _frame("persona", rows)


def _share(part: int, whole: int) -> float | None:
    """Return a share to four digits, null of nothing."""
    return round(part / whole, 4) if whole else None


def _frame(what: str, rows: Iterable[tuple[str, str, float | None]]) -> pl.DataFrame:
    columns = {what: pl.String, "series": pl.String, "share": pl.Float64}
    return pl.DataFrame(list(rows), schema=columns, orient="row")


def write_report(io: StageIO, counts: IntentCounts) -> None:
    """Write the metrics and the plots of a city."""
    io.write_json("intents_metrics", counts.metrics())
    io.write_csv("scenarios_plot", counts.scenario_shares())
    io.write_csv("scenario_counts_plot", counts.count_shares())
    io.write_csv("personas_plot", counts.persona_shares())
