"""Hold a benchmark's specifications to the rules, and keep what breaks them out of the release.

    record = lint(read_benchmark(Path("bench.json")))
    record["errors"]                       ->  3
    record["findings"][0]["code"]          ->  "unsatisfiable"
    released(benchmark, record)            ->  the same without the scenarios that have an error

Rules: lint_rules.py; arrays beside the benchmark: lint_states.py; walkers that read nothing:
lint_walkers.py. A question that all three of them pass tells nothing, and is warned of as
`toothless`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from pipeline.errors import ParameterError
from pipeline.store import StageIO
from pipeline.stride.benchmark import Benchmark, document_of
from pipeline.stride.lint_rules import Finding, findings_of, trends_of
from pipeline.stride.lint_walkers import WALKERS, pass_table
from pipeline.stride.maps import maps_of
from pipeline.stride.scenario_records import scenarios_of
from pipeline.stride.spec_records import benchmark_of_specs, specs_of

STAGE = "stride_lint"
_SHOWN = 12


def run(io: StageIO) -> None:
    """Lint the benchmark's specifications and release those without an error.

    Raises:
        ParameterError: None is left.
    """
    maps = {one.map_id: one for one in maps_of(io.read("stride_maps"))}
    scenarios = {one.scene_id: one for one in scenarios_of(io.read("stride_scenarios"))}
    whole = benchmark_of_specs(specs_of(io.read("stride_specs")), scenarios, maps)
    record = lint(whole)
    kept = released(whole, record)
    if not kept.scenarios:
        raise ParameterError(
            "stride_lint: expected a specification without an error, found none among"
            f" {len(scenarios)} scenarios and {len(whole.scenarios)} specifications; see"
            " data/stride/rejected/, or let somebody else write (params.yaml:"
            " stride_scenarios.writer, stride_specs.writer)"
        )
    io.write_json("stride_benchmark", document_of(kept))
    io.write_json("stride_lint", record)
    io.write_json("stride_lint_metrics", figures_of(record, released=len(kept.scenarios)))
    rows = [
        {"item_id": one["scene"], "stage": STAGE, "reason": one["code"], "detail": one["detail"]}
        for one in _first_errors(record["findings"])
    ]
    columns = dict.fromkeys(("item_id", "stage", "reason", "detail"), pl.String)
    io.reject(pl.DataFrame(rows, schema=columns))


def lint(benchmark: Benchmark, *, more: Iterable[Finding] = ()) -> dict[str, Any]:
    """Return what the rules find, as a record of schemas/stride_lint.schema.json.

    Args:
        benchmark: What is held to the rules.
        more: What was found by looking at something beside it, such as arrays of states.
    """
    walkers = list(pass_table(benchmark))
    findings = [*findings_of(benchmark), *_toothless(walkers), *more]
    place = {scenario.id: number for number, scenario in enumerate(benchmark.scenarios)}
    findings.sort(key=lambda one: (one.level, place.get(one.scene, -1)))
    checks = sum(len(q.measurements) for s in benchmark.scenarios for q in s.questions)
    return {
        "model": benchmark.model,
        "scenarios": len(benchmark.scenarios),
        "questions": sum(len(scenario.questions) for scenario in benchmark.scenarios),
        "checks": checks,
        "errors": sum(one.level == "error" for one in findings),
        "warnings": sum(one.level == "warn" for one in findings),
        "by_code": [
            {"level": level, "code": code, "count": count}
            for (level, code), count in sorted(Counter((f.level, f.code) for f in findings).items())
        ],
        "findings": [one._asdict() for one in findings],
        "trends": trends_of(benchmark),
        "walkers": walkers,
        "walker_means": {name: _mean_of(name, walkers) for name in WALKERS},
        "passed_by_none": sum(not any(row[name] for name in WALKERS) for row in walkers),
    }


def _toothless(walkers: Iterable[dict[str, Any]]) -> Iterable[Finding]:
    for row in walkers:
        if all(row[name] == 1.0 for name in WALKERS):
            yield Finding(
                "warn", "toothless", row["scene"], row["question"], "",
                "Stop, Random and Straight pass all of it",
            )  # fmt: skip


def _mean_of(name: str, walkers: Sequence[dict[str, Any]]) -> float | None:
    """Return the mean scenario score of a walker; null without a question."""
    by_scene: dict[str, list[float]] = {}
    for row in walkers:
        by_scene.setdefault(row["scene"], []).append(row[name])
    means = [sum(one) / len(one) for one in by_scene.values()]
    return sum(means) / len(means) if means else None


def released(benchmark: Benchmark, record: dict[str, Any]) -> Benchmark:
    """Return the benchmark without the scenarios in which there is an error."""
    faulty = {one["scene"] for one in record["findings"] if one["level"] == "error"}
    kept = tuple(one for one in benchmark.scenarios if one.id not in faulty)
    return benchmark._replace(scenarios=kept)


def _first_errors(findings: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    first: dict[str, dict[str, Any]] = {}
    for one in findings:
        if one["level"] == "error" and one["scene"]:
            first.setdefault(one["scene"], one)
    return list(first.values())


def figures_of(record: dict[str, Any], *, released: int) -> dict[str, Any]:
    """Return the figures that stand in the metrics."""
    keys = ("scenarios", "questions", "checks", "errors", "warnings", "by_code", "passed_by_none")
    return {
        **{key: record[key] for key in keys},
        "released": released,
        "walker_means": {
            name: None if mean is None else round(mean, 4)
            for name, mean in record["walker_means"].items()
        },
    }


def lint_lines(record: dict[str, Any]) -> list[str]:
    """Return the record in words for a screen: counts by rule, then the first findings."""
    means = record["walker_means"]
    said = {
        key: f"{record[key]} {key.removesuffix('s') if record[key] == 1 else key}"
        for key in ("scenarios", "questions", "checks", "errors", "warnings")
    }
    lines = [
        "{scenarios}, {questions}, {checks}: {errors}, {warnings}".format_map(said),
        "walkers that read nothing score "
        + ", ".join(f"{name} {0.0 if means[name] is None else means[name]:.3f}" for name in WALKERS)
        + f"; {record['passed_by_none']} questions no walker passes any of",
    ]
    lines += [f"{one['level']:<5} {one['code']:<22} {one['count']:>5}" for one in record["by_code"]]
    for one in record["findings"][:_SHOWN]:
        where = " ".join(part for part in (one["scene"], one["question"], one["function"]) if part)
        lines.append(f"{one['level']}: {where}: {one['detail']} ({one['code']})")
    more = len(record["findings"]) - _SHOWN
    return [*lines, f"... and {more} more; --json prints all"] if more > 0 else lines
