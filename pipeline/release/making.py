"""Tell in the card how the texts were written, checked, selected and judged.

making(cities)  ->  a row a question, a column a city: shots, sampling, refusals, the cut, its ties
scores(cities)  ->  a row a criterion, a column a judge, the mean below: the paper's Table 13
agreed(cities)  ->  a row each two kinds of judges: the paper's Table 14 over all criteria
"""

from typing import Any

from pipeline.quality.agreement_tables import (
    MEASURES,
    criterion_in_words,
    groups_of,
    kinds_in_words,
    mean_scores,
)
from pipeline.quality.rubric import CRITERIA, task_of
from pipeline.release.markdown import grid

Record = dict[str, Any]


def making(cities: list[Record]) -> str:
    """Return the table of how the texts of each city came about."""
    rows = {
        "seed examples in a prompt": _shots,
        "sampling of the writer": _sampling,
        "quality control": _quality,
        "refused, by rule": _rules,
        "selection": _selection,
        "the cut": _cut,
    }
    body = [[name, *(tell(one) for one in cities)] for name, tell in rows.items()]
    return grid(["", *(one["city"] for one in cities)], body)


def scores(cities: list[Record]) -> str:
    """Return the mean scores of all judges, people among them, by criterion."""
    columns = [
        (f"{one['city']}: {rater}", means, one["agreement"]["trips"][panel])
        for one in cities
        for panel, rater, means in _raters(one["agreement"])
    ]
    if not columns:
        return "No trip was judged."
    rows: list[list[Any]] = [["trips", *(trips for *_, trips in columns)]]
    for code in (*CRITERIA, "mean"):
        name = "**mean**" if code == "mean" else f"{task_of(code)}: {criterion_in_words(code)}"
        rows.append([name, *(_score(means[code]) for _, means, _ in columns)])
    return grid(["", *(name for name, *_ in columns)], rows)


def agreed(cities: list[Record]) -> str:
    """Return how far judges agree, beside chance."""
    rows: list[list[Any]] = []
    for one in cities:
        for group in groups_of(one["agreement"]):
            within, chance, kappa, alpha = (group.means[name] for name in MEASURES)
            rows.append(
                [one["city"], kinds_in_words(group.kinds), group.pairs,
                 one["agreement"]["trips"][group.panel], _share(within), _share(chance),
                 _score(kappa), _score(alpha)]
            )  # fmt: skip
    if not rows:
        return "No two judges scored the same trips, so there is no agreement to tell."
    heads = ["city", "who", "pairs", "trips", "within 1", "by chance", "weighted kappa", "alpha"]
    return grid(heads, rows)


def _raters(agreement: Record) -> list[tuple[str, str, dict[str, float | None]]]:
    """Return panel, judge and means: everybody by the sample, people by what they rated."""
    people = {one["rater"] for one in agreement["means"] if one["kind"] == "person"}
    return [
        (panel, rater, means)
        for panel in ("sample", "people")
        for rater, means in mean_scores(agreement, panel).items()
        if panel == "sample" or rater in people
    ]


def _shots(city: Record) -> str:
    shots = city["writing"]["shots"]
    return "no model is asked" if shots is None else str(shots)


def _sampling(city: Record) -> str:
    sampling = city["writing"]["sampling"]
    if sampling is None:
        return "no model is asked"
    return (
        f"temperature {sampling['temperature']:g}, top-p {sampling['top_p']:g}, at most"
        f" {sampling['max_tokens']:,} tokens"
    )


def _quality(city: Record) -> str:
    control = city["quality_control"]
    return f"{control['rejected']:,} of {control['trips']:,} trips refused"


def _rules(city: Record) -> str:
    refused = city["quality_control"]["rejected_by_rule"].items()
    most_first = sorted(refused, key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{rule} {trips:,}" for rule, trips in most_first) or "none"


def _selection(city: Record) -> str:
    selection = city["selection"]
    return (
        f"{selection['selected']:,} of {selection['trips']:,} judged trips, at most"
        f" {selection['top']:,}"
    )


def _cut(city: Record) -> str:
    cut = city["selection"]["cut"]
    why = {"top": "the score of the last trip taken", "least_score": "the least score taken"}
    tied = f"{cut['tied']:,} trips have it, {cut['tied_taken']:,} of them are taken"
    return f"{cut['score']:g}, {why[cut['by']]}; {tied}"


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.1%}"
