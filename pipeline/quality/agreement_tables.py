"""Tell a city's agreement as the paper's Tables 13 and 14 do: a criterion a row, a judge a column.

    agreement_tables(record)
    ->  Table("Mean scores, 1 to 5, with intervals of 95 %: sample of 2,000 trips",
              ["criterion", "A", "B", "rules"],
              [["instructions", ""], ["  correctness", "4.31 [4.28, 4.34]", ...], ...,
               ["Mean", "4.74", ...]])
        Table("Agreement of models with models, mean of 3 pairs, ...", ["criterion", "within 1", ...

Models have letters, which `names_of` resolves; people have their codes. A mean over criteria leaves
out those without a figure and has no interval: the criteria are of the same trips. Paper: Tables 13
and 14.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pipeline.quality.rubric import CRITERIA, TASKS, task_of

MEASURES = ("within_one", "within_one_by_chance", "kappa", "alpha")
# More pairs than these are told by their mean alone, as the paper's nine of people and models.
_MOST_PAIRS = 3
_MOST_RATERS = 4
_NONE = "-"
_HEADS = {
    "within_one": "within 1",
    "within_one_by_chance": "by chance",
    "kappa": "weighted kappa",
    "alpha": "alpha",
}
_PANELS = {"sample": "sample of {trips} trips", "people": "{trips} trips that people rated"}
_KINDS = {
    "model-model": "models with models",
    "model-rules": "models with rules",
    "person-person": "people with people",
    "model-person": "models with people",
    "person-rules": "people with rules",
}


class Table(NamedTuple):
    """A table of text: a title, a head for each column, and rows."""

    title: str
    heads: list[str]
    rows: list[list[str]]


class Group(NamedTuple):
    """The agreement of raters of two kinds, over all criteria.

    Attributes:
        panel: `sample` or `people`.
        kinds: Both kinds, such as `model-person`.
        pairs: How many pairs of raters; the most of any criterion.
        means: By measure the mean over criteria; None where no criterion has one.
    """

    panel: str
    kinds: str
    pairs: int
    means: dict[str, float | None]


def agreement_tables(record: dict[str, Any]) -> list[Table]:
    """Return the tables of a record of `agreement`: means, then agreement; none without scores."""
    letters = {name: letter for letter, name in names_of(record).items()}
    tables = []
    for panel in _different(record["means"], "panel"):
        of = f"intervals of {100 * record['confidence']:g} %: "
        of += _PANELS[panel].format(trips=f"{record['trips'][panel]:,}")
        means = [one for one in record["means"] if one["panel"] == panel]
        tables += [
            Table(
                f"Mean scores, 1 to 5, with {of}",
                ["criterion", *(letters.get(one, one) for one in raters)],
                _rows([_column(means, "mean", _score, rater=one) for one in raters]),
            )
            for raters in _side_by_side(means)
        ]
        groups = [one for one in record["groups"] if one["panel"] == panel]
        for kinds in _different(groups, "kinds"):
            some = [one for one in groups if one["kinds"] == kinds]
            pairs = [one for one in record["pairs"]
                     if (one["panel"], one["kinds"]) == (panel, kinds)]  # fmt: skip
            tables += _of_kinds(_KINDS[kinds], of, some, pairs, letters)
    return tables


def names_of(record: dict[str, Any]) -> dict[str, str]:
    """Return the models by the letters that stand for them: {"A": "gpt-oss-120b", ...}."""
    models = _different([one for one in record["means"] if one["kind"] == "model"], "rater")
    return {chr(ord("A") + place): name for place, name in enumerate(models)}


def mean_scores(record: dict[str, Any], panel: str) -> dict[str, dict[str, float | None]]:
    """Return by judge of a panel the mean score of each criterion, and of all under `mean`.

    None where a judge gave no score.
    """
    found: dict[str, dict[str, float | None]] = {}
    for one in record["means"]:
        if one["panel"] == panel:
            scores = found.setdefault(one["rater"], dict.fromkeys(CRITERIA))
            scores[one["criterion"]] = one["mean"]["value"]
    return {rater: scores | {"mean": _mean(scores.values())} for rater, scores in found.items()}


def groups_of(record: dict[str, Any]) -> list[Group]:
    """Return the agreement of each two kinds of raters, over all criteria."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in record["groups"]:
        found.setdefault((one["panel"], one["kinds"]), []).append(one)
    return [
        Group(panel, kinds, max(one["pairs"] for one in some),
              {name: _mean(one[name]["value"] for one in some) for name in MEASURES})
        for (panel, kinds), some in found.items()
    ]  # fmt: skip


def kinds_in_words(kinds: str) -> str:
    """Return both kinds in words: `model-person` as "models with people"."""
    return _KINDS[kinds]


def criterion_in_words(code: str) -> str:
    """Return a criterion's name within its task: "no hallucination"."""
    return code.partition("_")[2].replace("_", " ")


def _side_by_side(means: list[dict[str, Any]]) -> list[list[str]]:
    """Return the raters that share a table: all, or people and models each if they are many."""
    raters = _different(means, "rater")
    if len(raters) <= _MOST_RATERS:
        return [raters]
    people = _different([one for one in means if one["kind"] == "person"], "rater")
    return [some for some in (people, [one for one in raters if one not in people]) if some]


def _of_kinds(
    words: str,
    of: str,
    groups: list[dict[str, Any]],
    pairs: list[dict[str, Any]],
    letters: dict[str, str],
) -> list[Table]:
    """Return a table of the means over pairs, and, of a few pairs, tables of each."""
    names = list(dict.fromkeys((one["first"], one["second"]) for one in pairs))
    shown = [" - ".join(letters.get(name, name) for name in pair) for pair in names]
    whose = shown[0] if len(shown) == 1 else f"mean of {len(shown)} pairs"
    columns = [_column(groups, name, _FORMS[name]) for name in MEASURES]
    tables = [
        Table(
            f"Agreement of {words}, {whose}, with {of}",
            ["criterion", *(_HEADS[name] for name in MEASURES)],
            _rows(columns),
        )
    ]
    if not 1 < len(names) <= _MOST_PAIRS:
        return tables
    for measure in MEASURES[:3]:
        columns = [
            _column(pairs, measure, _FORMS[measure], first=first, second=second)
            for first, second in names
        ]
        title = f"{_HEADS[measure].capitalize()}, {words} by pair, with {of}"
        tables.append(Table(title, ["criterion", *shown], _rows(columns)))
    return tables


def _column(
    figures: list[dict[str, Any]], measure: str, form: Callable[[float], str], **wanted: str
) -> list[str]:
    """Return the cells of one column: a criterion each, and the mean of all."""
    by_criterion = {
        one["criterion"]: one[measure]
        for one in figures
        if all(one[key] == value for key, value in wanted.items())
    }
    values = [by_criterion[code]["value"] for code in CRITERIA if code in by_criterion]
    mean = _mean(values)
    cells = [_cell(by_criterion.get(code), form) for code in CRITERIA]
    return [*cells, _NONE if mean is None else form(mean)]


def _rows(columns: Sequence[list[str]]) -> list[list[str]]:
    cells = [list(row) for row in zip(*columns, strict=True)]
    rows = []
    for task in TASKS:
        rows.append([task, *("" for _ in columns)])
        rows += [
            [f"  {criterion_in_words(code)}", *cells[place]]
            for place, code in enumerate(CRITERIA)
            if task_of(code) == task
        ]
    return [*rows, ["Mean", *cells[-1]]]


def _cell(figure: dict[str, float | None] | None, form: Callable[[float], str]) -> str:
    value, low, high = (figure[key] if figure else None for key in ("value", "low", "high"))
    if value is None:
        return _NONE
    if low is None or high is None:
        return form(value)
    return f"{form(value)} [{form(low)}, {form(high)}]".replace("%,", ",").replace("%]", "]")


def _mean(values: Any) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _different(records: Sequence[dict[str, Any]], key: str) -> list[str]:
    return list(dict.fromkeys(one[key] for one in records))


def _score(value: float) -> str:
    return f"{value:.2f}"


def _share(value: float) -> str:
    return f"{value:.1%}"


_FORMS = {"within_one": _share, "within_one_by_chance": _share, "kappa": _score, "alpha": _score}
