"""Put the agreement of models and people into one record, with chance beside and intervals.

    report = AgreementReport(panels, settings, seed=7)
    report.means   of each rater and criterion: 4.53 [4.49, 4.57], histogram [2, 10, 88, 720, 1180]
    report.pairs   of each two raters: within one .884 [.87, .90], by chance .897,
                   kappa .04 [-.01, .09], confusion 5 x 5
    report.groups  of models, of people, of both: mean of their pairs, ordinal alpha of all

A panel is a set of items and those who scored them: models on the random sample, people and models
on what people looked at. Paper: Tables 13 and 14.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import numpy as np
import polars as pl
from msgspec import Meta

from pipeline.quality.agreement import (
    Counts,
    Floats,
    ScoreTable,
    exact,
    interval,
    mean_score,
    ordinal_alpha,
    weighted_kappa,
    within_one,
    within_one_by_chance,
)
from pipeline.quality.rubric import CRITERIA, SCORES
from pipeline.seeds import rng_for

Kind = Literal["model", "person", "rules"]
_PAIR_MEASURES: dict[str, Callable[[Counts], Floats]] = {
    "exact": exact,
    "within_one": within_one,
    "within_one_by_chance": within_one_by_chance,
    "kappa": weighted_kappa,
}


class AgreeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Section `agree` of params.yaml.

    Attributes:
        resamples: How often the items are resampled for the intervals.
        confidence: Share of the resamples an interval holds.
    """

    resamples: Annotated[int, Meta(ge=100, le=100_000)]
    confidence: Annotated[float, Meta(gt=0, lt=1)]


class Rater(NamedTuple):
    """Someone who scored.

    Attributes:
        name: A model's name, a person's code, or `rules`.
        kind: What it is; the rules are no model.
        scores: trip_id and a column for each criterion, null where it gave none; one row a trip.
    """

    name: str
    kind: Kind
    scores: pl.DataFrame


class Panel(NamedTuple):
    """Items and those who scored them.

    Attributes:
        name: `sample` or `people`.
        items: Trip ids, each once.
        raters: Who scored them.
        kinds: Pairs of kinds whose agreement is told, each sorted.
    """

    name: str
    items: pl.Series
    raters: list[Rater]
    kinds: frozenset[tuple[str, str]]


class AgreementReport:
    """The figures of some panels."""

    def __init__(self, panels: Sequence[Panel], settings: AgreeSettings, *, seed: int) -> None:
        """Count and resample.

        Args:
            panels: The panels.
            settings: How the intervals are made.
            seed: The data set's seed; the resamples come from it.
        """
        self.means: list[dict[str, Any]] = []
        self.pairs: list[dict[str, Any]] = []
        self.groups: list[dict[str, Any]] = []
        for panel in panels:
            matrix = score_matrix(panel)
            for place, code in enumerate(CRITERIA):
                table = ScoreTable(matrix[:, :, place])
                rng = rng_for(seed, "agree", f"{panel.name}/{code}")
                figures = _Figures(
                    panel, code, table, table.draws(rng, settings.resamples), settings.confidence
                )
                self.means += figures.means()
                self.pairs += figures.pairs()
                self.groups += figures.groups()

    def plot_of_agreement(self) -> pl.DataFrame:
        """Return agreement within one beside chance: criterion, series, share."""
        rows = [
            (group["criterion"], f"{group['kinds']} {series}", group[measure]["value"])
            for group in self.groups
            for series, measure in (
                ("observed", "within_one"),
                ("by chance", "within_one_by_chance"),
            )
        ]
        columns = {"criterion": pl.String, "series": pl.String, "share": pl.Float64}
        return pl.DataFrame(rows, schema=columns, orient="row")

    def plot_of_scores(self) -> pl.DataFrame:
        """Return how often each rater gave each score: criterion, rater, score, share."""
        rows = [
            (
                one["criterion"],
                f"{one['rater']} ({one['panel']})",
                score,
                _share(count, one["items"]),
            )
            for one in self.means
            for score, count in zip(SCORES, one["histogram"], strict=True)
        ]
        columns = {"criterion": pl.String, "rater": pl.String, "score": pl.Int64,
                   "share": pl.Float64}  # fmt: skip
        return pl.DataFrame(rows, schema=columns, orient="row")


class _Figures:
    """The figures of one criterion in one panel."""

    def __init__(
        self, panel: Panel, criterion: str, table: ScoreTable, draws: Counts, confidence: float
    ) -> None:
        self._panel, self._criterion, self._table = panel, criterion, table
        self._draws, self._confidence = draws, confidence
        self._confusions = {
            pair: (table.confusion(*pair), table.confusion(*pair, draws)) for pair in self._wanted()
        }

    def means(self) -> Iterator[dict[str, Any]]:
        """Yield the mean and the histogram of every rater."""
        for place, rater in enumerate(self._panel.raters):
            histogram = self._table.histogram(place)
            drawn = mean_score(self._table.histogram(place, self._draws))
            yield {
                "panel": self._panel.name,
                "rater": rater.name,
                "kind": rater.kind,
                "criterion": self._criterion,
                "items": int(histogram.sum()),
                "mean": self._measured(mean_score(histogram), drawn),
                "histogram": histogram.tolist(),
            }

    def pairs(self) -> Iterator[dict[str, Any]]:
        """Yield every measure of each two raters whose kinds are wanted."""
        for (first, second), (confusion, drawn) in self._confusions.items():
            yield {
                "panel": self._panel.name,
                "kinds": "-".join(self._kinds(first, second)),
                "first": self._panel.raters[first].name,
                "second": self._panel.raters[second].name,
                "criterion": self._criterion,
                "items": int(confusion.sum()),
                **{
                    name: self._measured(measure(confusion), measure(drawn))
                    for name, measure in _PAIR_MEASURES.items()
                },
                "confusion": confusion.tolist(),
            }

    def groups(self) -> Iterator[dict[str, Any]]:
        """Yield the means over the pairs of each two kinds, and the alpha of all their raters."""
        for kinds in sorted(self._panel.kinds):
            pairs = [pair for pair in self._confusions if self._kinds(*pair) == kinds]
            if not pairs:
                continue
            raters = sorted({place for pair in pairs for place in pair})
            alpha = ordinal_alpha(self._table.coincidences(raters=raters))
            drawn = ordinal_alpha(self._table.coincidences(self._draws, raters=raters))
            yield {
                "panel": self._panel.name,
                "kinds": "-".join(kinds),
                "criterion": self._criterion,
                "pairs": len(pairs),
                **{name: self._mean_of(pairs, measure) for name, measure in _PAIR_MEASURES.items()},
                "alpha": self._measured(alpha, drawn),
            }

    def _wanted(self) -> Iterator[tuple[int, int]]:
        for first, second in combinations(range(len(self._panel.raters)), 2):
            if self._kinds(first, second) in self._panel.kinds:
                yield first, second

    def _kinds(self, first: int, second: int) -> tuple[str, str]:
        one, other = sorted(self._panel.raters[place].kind for place in (first, second))
        return one, other

    def _mean_of(
        self, pairs: Sequence[tuple[int, int]], measure: Callable[[Counts], Floats]
    ) -> dict[str, float | None]:
        """Return the mean of a measure over pairs, without those in which it is not defined."""
        found = [self._confusions[pair] for pair in pairs]
        value = _mean_of_defined(np.stack([measure(confusion) for confusion, _ in found]))
        drawn = _mean_of_defined(np.stack([measure(drawn) for _, drawn in found]))
        return self._measured(value, drawn)

    def _measured(self, value: Floats, drawn: Floats) -> dict[str, float | None]:
        low, high = interval(drawn, self._confidence)
        return {"value": _number(value), "low": _number(low), "high": _number(high)}


def score_matrix(panel: Panel) -> Counts:
    """Return items by raters by criteria: scores from 1 to 5, 0 where there is none."""
    items = panel.items.to_frame("trip_id")
    layers = [
        items.join(rater.scores, on="trip_id", how="left", maintain_order="left")
        .select(pl.col(CRITERIA).fill_null(0).cast(pl.Int64))
        .to_numpy()
        for rater in panel.raters
    ]
    if not layers:
        return np.zeros((items.height, 0, len(CRITERIA)), dtype=np.int64)
    return np.stack(layers, axis=1)


def _mean_of_defined(values: Floats) -> Floats:
    """Return the mean over the first axis of what is defined; NaN where nothing is."""
    defined = ~np.isnan(values)
    number = defined.sum(axis=0)
    total = np.where(defined, values, 0.0).sum(axis=0)
    mean: Floats = np.where(number > 0, total / np.maximum(number, 1), np.nan)
    return mean


def _number(value: Floats | float) -> float | None:
    return None if math.isnan(value) else round(float(value), 4)


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
