"""One offline page from the reports of several models: tables, breakdowns, examples, citations.

    boarded = [Boarded(Path("one.json"), read_report(Path("one.json"))), ...]
    write_board(boarded, Path("board.html"))

A section holds one task, city and split. Reports of one section must share release, options and
instances: figures in one table may be compared. All data reach the page as text nodes.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.errors import ContractError, SourceError
from pipeline.language.vocabulary import vocabulary
from pipeline.release.instances import STYLES
from pipeline.sheet import Sheet
from pipeline.tasks.cited import cited
from pipeline.tasks.compare import expect_same
from pipeline.tasks.report import Record

_KINDS = ("floor", "guide", "ceiling")


class Boarded(NamedTuple):
    """A report and what belongs to it.

    Attributes:
        file: Where it was read, for messages.
        report: Result of `read_report`.
        examples: Result of `examples_of`; null without predictions.
    """

    file: Path
    report: Record
    examples: Record | None = None


class Shown(NamedTuple):
    """What is shown of a task until a reader asks for more.

    Attributes:
        main: Measures of the table: those of the paper's table, and the constraints met.
        charted: Measure of the breakdowns: that of the paper's Figures 7 and 8.
    """

    main: tuple[str, ...]
    charted: str


SHOWN = {
    "generation": Shown(
        ("constraints_met", "dest_hit", "hit_at_5", "dist_km", "jaccard", "dtw_km", "hausdorff_km",
         "edr"),
        "jaccard",
    ),
    "retrieval": Shown(
        ("constraints_met_at_1", "ndcg_at_10", "jaccard_best_at_1", "jaccard_best_at_5",
         "soft_recall_at_1", "soft_recall_at_5", "recall_at_1", "recall_at_10", "mrr"),
        "mrr_at_10",
    ),
    "captioning": Shown(
        ("bertscore_f1", "rouge_l", "meteor", "meteor_exact_stem", "poi_recall", "named_locations",
         "names_invented", "claims_contradicted"),
        "rouge_l",
    ),
}  # fmt: skip


def write_board(boarded: Sequence[Boarded], path: Path, *, citations: bool = False) -> None:
    """Write the page; its folder is made, a file of that name is replaced.

    Args:
        boarded: Reports with their examples, in the order shown.
        path: File to write.
        citations: Whether the paper's tables of these tasks stand below, apart.

    Raises:
        SourceError: Reports of one task, city and split differ in release, options or instances,
            or have one name; or a folder lies at `path`.
        ContractError: They define one measure in different ways.
    """
    package = files("pipeline.tasks")
    data = board_data(boarded, citations=citations)
    Sheet(
        html=package / "board.html",
        styles=[package / "board.css"],
        scripts=[package / name for name in ("board_chart.js", "board_map.js", "board.js")],
        title="Tasks: " + ", ".join(one["title"] for one in data["sections"]),
        data=data,
    ).write(path)


def board_data(boarded: Sequence[Boarded], *, citations: bool = False) -> Record:
    """Return what the page embeds: plain JSON values.

    Raises:
        SourceError: As `write_board`.
        ContractError: As `write_board`.
    """
    sections: dict[tuple[str, ...], list[Boarded]] = {}
    for one in boarded:
        key = tuple(one.report[name] for name in ("task", "city", "split"))
        sections.setdefault(key, []).append(one)
    tasks = {task for task, _, _ in sections}
    return {
        "sections": [_section(some) for some in sections.values()],
        "cited": _cited(tasks) if citations else None,
    }


def _section(some: Sequence[Boarded]) -> Record:
    first = some[0].report
    for one in some[1:]:
        expect_same(first, one.report, (str(some[0].file), str(one.file)))
    _expect_names(some)
    measures = _measures(some)
    rows = [*map(_model_row, some), *_reference_rows(some)]
    _mark(measures, [row for row in rows if row["kind"] == "model"])
    names = [one["name"] for one in measures]
    charted = SHOWN[first["task"]].charted
    return {
        "task": first["task"],
        "title": f"{first['task']} of {first['city']}, {first['split']}",
        "release": first["release"],
        "options": [f"{key}: {value}" for key, value in sorted(first["options"].items())],
        "seed": first["seed"],
        "instances": len(first["instances"]["instance_id"]),
        "trips": len(set(first["instances"]["trip_id"])),
        "measures": measures,
        "charted": charted if charted in names else next(iter(names), None),
        "rows": rows,
        "groups": list(_groups(some, names)),
        "examples": [
            {"model": number, **one.examples} for number, one in enumerate(some) if one.examples
        ],
    }


def _expect_names(some: Sequence[Boarded]) -> None:
    """Refuse two models of one name: no reader could tell them apart."""
    seen: dict[str, Path] = {}
    for one in some:
        name = one.report["name"]
        if name in seen:
            raise SourceError(
                f"{seen[name]} and {one.file}: expected models of different names, found"
                f" {name!r} in both; name the report once, or score one anew with --name"
            )
        seen[name] = one.file


def _measures(some: Sequence[Boarded]) -> list[Record]:
    """Return the measures of all reports: definitions, and for whom they do not separate."""
    found: dict[str, Record] = {}
    for number, one in enumerate(some):
        for measure in one.report["measures"]:
            defined = {key: measure[key] for key in ("name", "unit", "better", "sentence")}
            known = found.setdefault(measure["name"], {**defined, "overlapping": []})
            if any(known[key] != value for key, value in defined.items()):
                raise ContractError(
                    f"{one.file}: measures: expected {measure['name']} as in {some[0].file},"
                    " found another definition; score the predictions anew with one version"
                )
            if measure["separates"] is False:
                known["overlapping"].append([number, measure["overlaps"]])
    main = [name for name in SHOWN[some[0].report["task"]].main if name in found]
    others = [name for name in found if name not in main]
    return [{**found[name], "main": name in main or not main} for name in (*main, *others)]


def _model_row(one: Boarded) -> Record:
    report = one.report
    return {
        "name": report["name"],
        "kind": "model",
        "sentence": f"predictions {report['predictions'][:12]}",
        "coverage": report["coverage"],
        "figures": {measure["name"]: _figure(measure) for measure in report["measures"]},
        "marks": {},
    }


def _figure(means: Mapping[str, Any]) -> list[Any]:
    return [means[key] for key in ("mean", "low", "high", "instances")]


def _reference_rows(some: Sequence[Boarded]) -> Iterator[Record]:
    """Yield floors, guides and ceilings: one row for all models where their figures agree.

    Some depend on the model (its own answer to another text): then each model has its row.
    """
    for kind in _KINDS:
        rows: dict[str, list[tuple[str, Record]]] = {}
        for one in some:
            for reference in one.report["references"]:
                if reference["kind"] == kind:
                    rows.setdefault(reference["name"], []).append((one.report["name"], reference))
        for name, found in rows.items():
            merged: dict[str, Any] = {}
            for _, reference in found:
                merged = {**reference["means"], **merged}
            alike = all(
                merged[measure] == means
                for _, reference in found
                for measure, means in reference["means"].items()
            )
            shared = [("", {**found[0][1], "means": merged})] if alike else found
            for model, reference in shared:
                yield {
                    "name": f"{name} of {model}" if model else name,
                    "kind": kind,
                    "sentence": reference["sentence"],
                    "coverage": None,
                    "figures": {key: _figure(means) for key, means in reference["means"].items()},
                    "marks": {},
                }


def _mark(measures: Sequence[Record], models: Sequence[Record]) -> None:
    """Mark best and second best means of the models; equal means share a mark.

    Nothing is best of one, nor second best of two.
    """
    for measure in measures:
        name, better = measure["name"], measure["better"]
        means = [row["figures"][name][0] for row in models if name in row["figures"]]
        known = [mean for mean in means if mean is not None]
        if not better or len(known) < 2:
            continue
        order = sorted(set(known), reverse=better == "higher")
        for row in models:
            mean = row["figures"].get(name, [None])[0]
            if mean == order[0] and mean is not None:
                row["marks"][name] = "best"
            elif len(known) > 2 and len(order) > 1 and mean == order[1]:
                row["marks"][name] = "second"


def _groups(some: Sequence[Boarded], names: Sequence[str]) -> Iterator[Record]:
    """Yield each breakdown: its values, and by measure a list per model of a figure per value."""
    parts: dict[str, dict[str, Record]] = {}
    figures: dict[tuple[int, str, str], Mapping[str, Any]] = {}
    for number, one in enumerate(some):
        for part in one.report["groups"]:
            group, value = part["group"], part["value"]
            parts.setdefault(group, {}).setdefault(value, part)
            figures[number, group, value] = part["means"]
    for group, values in parts.items():
        order = sorted(values, key=lambda value: (_place(group, value), value))
        yield {
            "name": group,
            "values": [
                {
                    "label": _label(group, value),
                    "instances": values[value]["instances"],
                    "trips": values[value]["trips"],
                }
                for value in order
            ],
            "figures": {
                name: [
                    [
                        _figure(means[name])
                        if (means := figures.get((number, group, value), {})) and name in means
                        else None
                        for value in order
                    ]
                    for number in range(len(some))
                ]
                for name in names
            },
        }


def _place(group: str, value: str) -> int:
    return STYLES.index(value) if group == "style" and value in STYLES else 0


def _label(group: str, value: str) -> str:
    """Return a value with its name, where it is a code of the vocabulary."""
    words = vocabulary()
    named: dict[str, str] = {}
    if group == "scenario":
        named = {one.code: one.name for one in words.scenarios}
    elif group == "dimension":
        named = {str(one.code): one.name for one in words.dimensions}
    return f"{value} {named[value]}" if value in named else value


def _cited(tasks: set[str]) -> Record:
    found = cited(tasks)
    return {
        "source": found.source,
        "tables": [
            {
                "title": f"{one.table}: {one.title}",
                "columns": one.columns,
                "rows": [
                    [city, method, *values]
                    for city, methods in one.cities.items()
                    for method, values in methods.items()
                ],
            }
            for one in found.tables
        ],
    }
