"""What quality control found on both sides, over all annotated trips: those it let pass or refused.

    read_checks(checked, refused)      ->  trip_id, passed, reason, rules, ungrounded, bad_texts
    check_measures(pairs, name="...")  ->  Measure("check", "invented_name", "share", n=700, ...)

A passing trip is kept with all that was found in it, a refused one with what it was refused for. So
a rule that refuses is known of every trip. A rule that only flags or mends is known of a refused
trip only where it speaks in the refusal; else the trip is left out of the figure of that rule.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from pipeline.audit.measures import SEED, measures
from pipeline.audit.report import Measure
from pipeline.audit.rows import BRING_ANEW, FIELDS
from pipeline.paired import Ratio, compare_ratios, compare_shares
from pipeline.quality.rules import Rule
from pipeline.seals import sound_files
from pipeline.seeds import rng_for

# Rules on names that rest on nothing, or on nothing at that place.
UNGROUNDED = (Rule.INVENTED_NAME.value, Rule.OFF_ROUTE_NAME.value, Rule.WRONG_PHASE.value)
REFUSED = "refused"
_AFTER = "_after"
# How a refusal names its findings: `<text>: <rule>: <detail>`, joined by `; `. Only rules of today
# are looked for, as a detail may quote anything; another version's own are known as reasons alone.
_FINDING = rf"(?:^|; )({'|'.join(FIELDS)}): ({'|'.join(Rule)}): "


def read_checks(checked: Path, refused: Path) -> pl.DataFrame:
    """Return what one side's quality control says of each annotated trip.

    Args:
        checked: Folder of the trips that passed.
        refused: Table of those that did not.

    Returns:
        trip_id; passed; reason of a refusal, "" else; rules that found something; ungrounded, the
        number of names that are not grounded; bad_texts, how many of the seven have such a name;
        and, of trips that passed, names and grounded names (null else).
    """
    passed = pl.concat(
        pl.read_parquet(file, columns=["trip_id", "mentions", "findings"]).select(_of_passed())
        for file in sound_files(checked, remedy=BRING_ANEW)
    )
    (file,) = sound_files(refused, remedy=BRING_ANEW)
    rejections = pl.read_parquet(file, columns=["item_id", "reason", "detail"])
    return pl.concat([passed, rejections.select(_of_refused())]).unique("trip_id", keep="first")


def _of_passed() -> list[pl.Expr]:
    verdict = pl.element().struct.field("verdict") != "grounded"
    bad = pl.col("mentions").list.eval(pl.element().filter(verdict).struct.field("field"))
    names = pl.col("mentions").list.len().cast(pl.Int64)
    ungrounded = bad.list.len().cast(pl.Int64)
    rules = pl.col("findings").list.eval(pl.element().struct.field("rule")).list.unique()
    return [
        pl.col("trip_id"),
        pl.lit(value=True).alias("passed"),
        pl.lit("").alias("reason"),
        rules.list.sort().alias("rules"),
        ungrounded.alias("ungrounded"),
        bad.list.n_unique().cast(pl.Int64).alias("bad_texts"),
        names.alias("names"),
        (names - ungrounded).alias("grounded"),
    ]


def _of_refused() -> list[pl.Expr]:
    found = pl.col("detail").str.extract_all(_FINDING)
    rule = pl.element().str.extract(_FINDING, 2)
    bad = found.list.eval(pl.element().filter(rule.is_in(UNGROUNDED)).str.extract(_FINDING, 1))
    rules = pl.concat_list(found.list.eval(rule), pl.concat_list("reason")).list.unique()
    return [
        pl.col("item_id").alias("trip_id"),
        pl.lit(value=False).alias("passed"),
        pl.col("reason"),
        rules.list.sort().alias("rules"),
        bad.list.len().cast(pl.Int64).alias("ungrounded"),
        bad.list.n_unique().cast(pl.Int64).alias("bad_texts"),
        pl.lit(None, dtype=pl.Int64).alias("names"),
        pl.lit(None, dtype=pl.Int64).alias("grounded"),
    ]


def check_measures(pairs: pl.DataFrame, *, name: str) -> list[Measure]:
    """Compare what was found in paired trips that were checked on both sides.

    Args:
        pairs: The columns of `read_checks` of both sides, those after with the suffix `_after`.
        name: What is audited; decides the random draws.
    """
    both = pairs.filter(pl.col("passed").is_not_null() & pl.col("passed_after").is_not_null())
    return [*_grounding(both, name), *_rules(both)]


def _grounding(both: pl.DataFrame, name: str) -> list[Measure]:
    ratios, trips = [], []
    for suffix in ("", _AFTER):
        known = _known(both, UNGROUNDED, suffix)
        texts = _numbers(both, f"bad_texts{suffix}", known)
        whole = np.column_stack(
            [np.full(both.height, float(len(FIELDS))), _numbers(both, f"names{suffix}")]
        )
        good = np.column_stack([len(FIELDS) - texts, _numbers(both, f"grounded{suffix}")])
        ratios.append(Ratio(good, whole))
        trips.append(np.where(np.isnan(texts), np.nan, texts == 0))
    rng = rng_for(SEED, "audit", f"{name} grounding")
    parts = ["texts with every name grounded", "names grounded, of trips that pass on both sides"]
    return [
        *measures("grounding", ["trips with every name grounded"], "share", compare_shares(*trips)),
        *measures("grounding", parts, "share", compare_ratios(ratios[0], ratios[1], rng)),
    ]


def _rules(both: pl.DataFrame) -> list[Measure]:
    seen = {
        rule
        for suffix in ("", _AFTER)
        for rule in both[f"rules{suffix}"].explode().drop_nulls().unique()
    }
    known = [rule.value for rule in Rule]
    rules = [*(rule for rule in known if rule in seen), *sorted(seen - set(known))]
    sides = [
        np.column_stack(
            [
                1 - _numbers(both, f"passed{suffix}"),
                *(_has(both, rule, suffix) for rule in rules),
            ]
        )
        for suffix in ("", _AFTER)
    ]
    return measures("check", [REFUSED, *rules], "share", compare_shares(sides[0], sides[1]))


def _has(both: pl.DataFrame, rule: str, suffix: str) -> np.ndarray:
    """Return 1 for trips in which a rule found something, 0 for others, NaN where unknown."""
    has: np.ndarray = both[f"rules{suffix}"].list.contains(rule).cast(pl.Float64).to_numpy()
    return np.where((has == 1) | _known(both, [rule], suffix), has, np.nan)


def _known(both: pl.DataFrame, rules: Sequence[str], suffix: str) -> np.ndarray:
    """Tell of which trips it is known whether these rules found something.

    Of refused ones only if none of the rules ever spoke without refusing.
    """
    passed: np.ndarray = both[f"passed{suffix}"].to_numpy()
    flags = both.filter(f"passed{suffix}")[f"rules{suffix}"].explode().is_in(list(rules)).any()
    return passed if flags else np.ones(both.height, dtype=bool)


def _numbers(both: pl.DataFrame, column: str, known: np.ndarray | None = None) -> np.ndarray:
    """Return a column as floats; NaN where it is null, or not known."""
    numbers: np.ndarray = both[column].cast(pl.Float64).fill_null(np.nan).to_numpy()
    return numbers if known is None else np.where(known, numbers, np.nan)
