"""Give each cell one of four settings: by rules where land use and water are clear, else by graph.

    coast 0 m away, green share 0.05             -> COASTAL/BEACH, rule, confidence 1.0
    green share 0.22 (between weak and strong)   -> the classifier on the cell graph decides

The classifier is a simplified graph convolution: features are averaged over k rings of H3
neighbours, then a multinomial logistic regression is fitted on the clearly ruled cells. Its test
is against the rules on held-out cells, which shares inputs with them: an upper bound, not the
accuracy against a person's judgement. Paper: Table 9, "Geo-tag: GNN classifier".
"""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt

from pipeline.city.hexgrid import cell_name, neighbours
from pipeline.city.projection import Floats
from pipeline.city.surroundings import Surroundings
from pipeline.seeds import rng_for

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
GEO_TAGS = ("URBAN/INLAND", "WATERFRONT", "GREEN/PARK", "COASTAL/BEACH")
URBAN, WATERFRONT, GREEN, COASTAL = range(4)
# Of rules that are clear together the first decides: a seaside park is first of all seaside.
PRECEDENCE = (COASTAL, WATERFRONT, GREEN)
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Metres = Annotated[float, msgspec.Meta(ge=0, le=100_000)]


class ShareBand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two shares of a cell's area: below `weak` a rule is silent, from `strong` on it is clear."""

    weak: Share
    strong: Share

    def __post_init__(self) -> None:
        if self.weak > self.strong:
            raise ValueError(f"weak: expected at most strong {self.strong:g}, found {self.weak:g}")


class DistanceBand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two distances in metres: beyond `weak` a rule is silent, within `strong` it is clear."""

    strong: Metres
    weak: Metres

    def __post_init__(self) -> None:
        if self.strong > self.weak:
            raise ValueError(f"strong: expected at most weak {self.weak:g}, found {self.strong:g}")


class GeoTagRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Thresholds of the geo-tag rules.

    Attributes:
        green_share: Share of the cell under parks, woods, grass for GREEN/PARK.
        coast_m: Distance from the cell to sea, beach or marina for COASTAL/BEACH.
        water_m: Distance from the cell to a lake, river or canal for WATERFRONT.
        smallest_water_m2: Water areas below this make no waterfront, square metres.
        built_places: Places in a cell from which on it counts as built without any land use.
    """

    green_share: ShareBand
    coast_m: DistanceBand
    water_m: DistanceBand
    smallest_water_m2: Annotated[float, msgspec.Meta(ge=0)]
    built_places: Annotated[int, msgspec.Meta(ge=1)]


class GeoTagClassifier(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of the classifier on the cell graph.

    Attributes:
        rings: How many times features are averaged over a cell and its neighbours, 0-5.
        holdout_share: Share of the clear cells held out for the test.
        fewest_cells: Fewer clear cells than this train no classifier.
        regularisation: Inverse strength of the L2 penalty (C); smaller is smoother.
        iterations: Most iterations of the optimiser.
    """

    rings: Annotated[int, msgspec.Meta(ge=0, le=5)]
    holdout_share: Annotated[float, msgspec.Meta(gt=0, lt=1)]
    fewest_cells: Annotated[int, msgspec.Meta(ge=2)]
    regularisation: Annotated[float, msgspec.Meta(ge=1e-6, le=1e6)]
    iterations: Annotated[int, msgspec.Meta(ge=10, le=100_000)]


@dataclass(frozen=True)
class GeoTags:
    """Geo-tags of C cells.

    Attributes:
        tag: Index into `GEO_TAGS`, (C,).
        by_rule: True where the rules decided, False where the classifier did, (C,).
        confidence: 0-1, (C,): see `apply_rules`; the classifier's is its probability.
        metrics: Counts and held-out accuracy (schemas/geotag_metrics.schema.json).
    """

    tag: Ints
    by_rule: Bools
    confidence: Floats
    metrics: dict[str, Any]


@dataclass(frozen=True)
class _Ruled:
    """What the rules say: the tag, whether that is clear, and how sure, all (C,)."""

    tag: Ints
    clear: Bools
    confidence: Floats


def rule_strengths(around: Surroundings, rules: GeoTagRules) -> Floats:
    """Return how strongly each rule speaks, (C, 4) in [0, 1], column order of `GEO_TAGS`.

    0 below the weak threshold, 1 from the strong one on, linear between; URBAN's column is 0.
    """
    strength = np.zeros((len(around.coast_m), len(GEO_TAGS)))
    green = rules.green_share
    strength[:, GREEN] = _ramp(around.share["green"], green.weak, green.strong)
    strength[:, COASTAL] = _ramp(-around.coast_m, -rules.coast_m.weak, -rules.coast_m.strong)
    strength[:, WATERFRONT] = _ramp(-around.water_m, -rules.water_m.weak, -rules.water_m.strong)
    return strength


def _ramp(value: Floats, weak: float, strong: float) -> Floats:
    if strong <= weak:  # a band without width is a step
        return np.where(value >= strong, 1.0, 0.0)
    return np.clip((value - weak) / (strong - weak), 0.0, 1.0)


def apply_rules(strength: Floats, built: Bools) -> _Ruled:
    """Decide by rules alone.

    Args:
        strength: From `rule_strengths`, (C, 4).
        built: Whether the cell shows buildings: built land, or enough places, (C,).

    A cell is clear when some rule has strength 1 (the first of `PRECEDENCE`), or when all are
    silent and it is built (URBAN/INLAND). Confidence of a clear cell: 1 less half the strength of
    the next best rule. Of others: the strongest rule from 0.5 on, else URBAN/INLAND, with that
    strength or its complement; 0.5 where nothing is known.
    """
    ordered = strength[:, PRECEDENCE]
    best = ordered.argmax(axis=1)  # the first of equals
    top = ordered.max(axis=1)
    second = np.sort(ordered, axis=1)[:, -2]
    named = np.array(PRECEDENCE)[best]
    silent = top == 0.0
    clear = (top == 1.0) | (silent & built)
    tag = np.where(top >= 0.5, named, URBAN)
    unsure = np.where(silent, 0.5, np.maximum(top, 1.0 - top))
    confidence = np.where(clear, 1.0 - second / 2, unsure)
    return _Ruled(tag=tag, clear=clear, confidence=confidence)


def tag_cells(
    cells: list[int],
    *,
    around: Surroundings,
    built: Bools,
    features: Floats,
    settings: tuple[GeoTagRules, GeoTagClassifier],
    seed: int,
) -> GeoTags:
    """Tag every cell, by rule where clear, else by the classifier where one can be trained.

    Args:
        cells: H3 cells as integers, C of them.
        around: Their measured surroundings.
        built: Whether each shows buildings, (C,).
        features: Further features of each cell, (C, F), any scale.
        settings: Rules and classifier.
        seed: The data set's seed; decides which cells are held out.
    """
    rules, classifier = settings
    strength = rule_strengths(around, rules)
    ruled = apply_rules(strength, built)
    smooth = propagate(np.column_stack((strength, features)), cells, classifier.rings)
    held = np.array([_held_out(cell, classifier.holdout_share, seed) for cell in cells], dtype=bool)
    train, test = ruled.clear & ~held, ruled.clear & held
    trained = bool(ruled.clear.sum() >= classifier.fewest_cells and test.any())
    trained = trained and len(np.unique(ruled.tag[train])) > 1
    tag, confidence, by_rule = ruled.tag.copy(), ruled.confidence.copy(), np.ones(len(cells), bool)
    scores: dict[str, float | None] = dict.fromkeys(_SCORES)
    if trained:
        scores = _test(smooth, ruled.tag, train, test, classifier)
        if not ruled.clear.all():
            guess, sure = _fit(smooth, ruled.tag, ruled.clear, classifier)(smooth[~ruled.clear])
            tag[~ruled.clear], confidence[~ruled.clear] = guess, sure
            by_rule = ruled.clear
    metrics = {
        "cells": len(cells),
        "ruled": int(ruled.clear.sum()),
        "classified": int((~by_rule).sum()),
        "undecided": int((by_rule & ~ruled.clear).sum()),
        "tags": _counts(tag),
        "ruled_tags": _counts(ruled.tag[ruled.clear]),
        "trained": trained,
        "training_cells": int(train.sum()),
        "held_out_cells": int(test.sum()),
        **scores,
    }
    return GeoTags(tag=tag, by_rule=by_rule, confidence=confidence, metrics=metrics)


def propagate(features: Floats, cells: list[int], rings: int) -> Floats:
    """Average each cell's features with those of its neighbours in the table, `rings` times.

    Features are first scaled to mean 0 and deviation 1; constant ones become 0. (C, F) to (C, F).
    """
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow import

    deviation = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    index = {cell: i for i, cell in enumerate(cells)}
    pairs = [
        (i, index[other])
        for i, cell in enumerate(cells)
        for other in (cell, *neighbours(cell))
        if other in index
    ]
    row, column = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    weight = 1.0 / np.bincount(row, minlength=len(cells))[row]
    mean = csr_array((weight, (row, column)), shape=(len(cells), len(cells)))
    for _ in range(rings):
        scaled = mean @ scaled
    return np.asarray(scaled)


def _held_out(cell: int, share: float, seed: int) -> bool:
    return bool(rng_for(seed, "cells", cell_name(cell)).random() < share)


def _fit(features: Floats, tag: Ints, rows: Bools, settings: GeoTagClassifier) -> Any:
    """Return a function from (N, F) features to N tags and their probabilities."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - slow import

    model = LogisticRegression(C=settings.regularisation, max_iter=settings.iterations)
    model.fit(features[rows], tag[rows])

    def decide(wanted: Floats) -> tuple[Ints, Floats]:
        probability = model.predict_proba(wanted)
        return model.classes_[probability.argmax(axis=1)], probability.max(axis=1)

    return decide


_SCORES = ("held_out_accuracy", "majority_accuracy", "held_out_balanced_accuracy")


def _test(
    features: Floats,
    tag: Ints,
    train: Bools,
    test: Bools,
    settings: GeoTagClassifier,
) -> dict[str, float | None]:
    """Train on one part of the clear cells, score on the other, beside the commonest tag."""
    guess, _ = _fit(features, tag, train, settings)(features[test])
    truth = tag[test]
    commonest = np.bincount(tag[train]).argmax()
    recall = [float((guess[truth == t] == t).mean()) for t in np.unique(truth)]
    scores = (
        float((guess == truth).mean()),
        float((truth == commonest).mean()),
        sum(recall) / len(recall),
    )
    return {name: round(score, 4) for name, score in zip(_SCORES, scores, strict=True)}


def _counts(tag: Ints) -> list[dict[str, Any]]:
    found = Counter(tag.tolist())
    return [{"geo_tag": name, "cells": found[i]} for i, name in enumerate(GEO_TAGS)]
