"""Put the texts of paired trips into figures: how long, how many ask, how varied.

    text_measures(pairs, name="monaco")
    ->  Measure("length", "literal", "words", n=651, before=14.2, after=15.0, ...)
        Measure("questions", "chatty", "share", n=651, before=0.27, after=0.25, lost=20, ...)

One city, or several together: the trip is the unit either way. A word is what white space
separates. p-values are adjusted for their number (Holm) over all measures of a city at once.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
import polars as pl

from pipeline.audit.report import Family, Measure
from pipeline.audit.variety import compare_openers, compare_pairs
from pipeline.paired import Comparison, Ratio, compare_ratios, compare_shares, holm
from pipeline.seeds import rng_for

# The texts a figure is of; the three queries of a trip are one kind of text.
KINDS = {
    "literal": ("instruction_literal",),
    "concise": ("instruction_concise",),
    "chatty": ("instruction_chatty",),
    "query": ("retrieval_query_1", "retrieval_query_2", "retrieval_query_3"),
    "caption": ("trajectory_caption",),
}
STYLES = ("literal", "concise", "chatty")
# More trips make word pairs slower, and the answer no clearer.
MOST_FOR_VARIETY = 5000
_AFTER = "_after"
SEED = 0


def text_measures(pairs: pl.DataFrame, *, name: str) -> list[Measure]:
    """Return the figures of the texts.

    Args:
        pairs: The paired trips, as `paired_rows` lays them out.
        name: What is audited; decides the random draws.
    """
    return [*_lengths(pairs, name), *_questions(pairs), *_variety(pairs, name)]


def _lengths(pairs: pl.DataFrame, name: str) -> list[Measure]:
    sides = [
        Ratio(
            pairs.select(_words(fields, suffix).alias(kind) for kind, fields in KINDS.items()),
            np.tile([float(len(fields)) for fields in KINDS.values()], (pairs.height, 1)),
        )
        for suffix in ("", _AFTER)
    ]
    compared = compare_ratios(sides[0], sides[1], rng_for(SEED, "audit", f"{name} length"))
    return measures("length", list(KINDS), "words", compared)


def _words(fields: Sequence[str], suffix: str) -> pl.Expr:
    return pl.sum_horizontal(
        pl.col(field + suffix).str.count_matches(r"\S+") for field in fields
    ).cast(pl.Float64)


def _questions(pairs: pl.DataFrame) -> list[Measure]:
    sides = [
        pairs.select(
            pl.col(f"instruction_{style}{suffix}").str.contains("?", literal=True)
            for style in STYLES
        ).cast(pl.Float64)
        for suffix in ("", _AFTER)
    ]
    return measures("questions", STYLES, "share", compare_shares(sides[0], sides[1]))


def _variety(pairs: pl.DataFrame, name: str) -> list[Measure]:
    rng = rng_for(SEED, "audit", f"{name} variety")
    if pairs.height > MOST_FOR_VARIETY:
        some = rng.choice(pairs.height, MOST_FOR_VARIETY, replace=False)
        pairs = pairs[np.sort(some)]
    before, after = (
        [list(pairs.select(f + suffix for f in fields).iter_rows()) for fields in KINDS.values()]
        for suffix in ("", _AFTER)
    )
    openers = [compare_openers(*both, rng) for both in zip(before, after, strict=True)]
    word_pairs = [compare_pairs(*both, rng) for both in zip(before, after, strict=True)]
    return [
        *measures("openers", list(KINDS), "share", openers),
        *measures("word_pairs", list(KINDS), "share", word_pairs),
    ]


def measures(
    family: Family, names: Sequence[str], unit: str, compared: Sequence[Comparison]
) -> list[Measure]:
    """Name comparisons, and round them: the last digits of sums are the machine's.

    Their p-values are adjusted by `adjusted` once all of a city are known.
    """
    return [
        Measure(
            family=family,
            name=name,
            unit=unit,
            test="swap" if one.lost is None else "mcnemar",
            n=one.n,
            before=_rounded(one.before),
            after=_rounded(one.after),
            difference=_rounded(one.difference),
            low=_rounded(one.low),
            high=_rounded(one.high),
            p=None if one.p is None else float(f"{one.p:.6g}"),
            p_holm=None,
            lost=one.lost,
            gained=one.gained,
        )
        for name, one in zip(names, compared, strict=True)
    ]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6) + 0.0  # + 0.0: no minus zero


def adjusted(found: Sequence[Measure]) -> list[Measure]:
    """Return measures with p-values adjusted for how many they are (Holm)."""
    return [
        msgspec.structs.replace(one, p_holm=p)
        for one, p in zip(found, holm([one.p for one in found]), strict=True)
    ]
