"""What the actions of `stride` do: read files, measure or score, write files, print a summary.

python -m pipeline stride score ...  ->  report.json, and on the screen
    mean_scene_score 0.459 (95 %: 0.392-0.524), 31 of 61 scenarios scored
"""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pipeline.errors import SourceError
from pipeline.progress import progress_bar
from pipeline.replacing import replace_text
from pipeline.stride.benchmark import Benchmark, Scenario, folded, read_benchmark
from pipeline.stride.checks import registry_of
from pipeline.stride.importers.formats import ImportOptions, read_recording
from pipeline.stride.importers.states import (
    BESIDES,
    KEY,
    StatesFile,
    read_obstacles,
    write_states,
)
from pipeline.stride.measured import measured
from pipeline.stride.placement import Ground, read_map_ground
from pipeline.stride.report import Scored, read_report, report_of, write_report
from pipeline.stride.report_page import PageParts, write_page
from pipeline.stride.scoring import no_ground, score_benchmark
from pipeline.stride.sources import (
    Mode,
    Settings,
    Source,
    check_settings,
    only_key,
    open_source,
    read_file,
)
from pipeline.stride.tables import (
    CHECK_COLUMNS,
    check_rows,
    comparison,
    csv_text,
    table_lines,
)
from pipeline.stride.traps import traps_of

_SHOWN_WARNINGS = 5


def measure(arguments: argparse.Namespace) -> int:
    """Print all measures of one array."""
    settings = _settings(arguments)
    check_settings(settings)
    with StatesFile(arguments.states) as file:
        key = arguments.key or only_key(file)
        read = read_file(file, key, settings=settings)
        shape = list(file.array(key).shape)
    records = measured(
        read,
        mode=settings.mode,
        asked=_asked(arguments.param, settings.mode),
        obstacles=read_obstacles(arguments.map) if arguments.map else None,
    )
    if arguments.json:
        document = {
            "states": str(arguments.states), "key": key, "mode": settings.mode, "shape": shape,
            "dt_s": read.walk.dt_s, "agents": read.walk.ever_present,
            "warnings": [trap.text for trap in read.traps], "measures": records,
        }  # fmt: skip
        print(json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False))
        return 0
    for record in records:
        value = record["error"] if record["value"] is None else f"{record['value']:.6g}"
        unit = "" if record["value"] is None or record["unit"] == "1" else f" {record['unit']}"
        print(f"{record['axis']} {record['function']:<32} {value}{unit}")
    _print_warnings([trap.text for trap in read.traps])
    return 0


def score(arguments: argparse.Namespace) -> int:
    """Score a generator and write its report."""
    settings = _settings(arguments)
    benchmark = read_benchmark(arguments.benchmark)
    with open_source(arguments.states, settings=settings, only=arguments.id) as source:
        _check_matched(source, benchmark, arguments)
        one_by_one = score_benchmark(
            benchmark, source, mode=settings.mode, ground=_grounds_of(arguments.maps)
        )
        total = len(benchmark.scenarios)
        scores = list(progress_bar(one_by_one, total=total, unit="scenario", desc="stride score"))
        name = arguments.generator or arguments.states.resolve().stem
        report = report_of(
            Scored(name, arguments.benchmark, benchmark, settings, source.ids, scores)
        )
    write_report(report, arguments.out)
    if arguments.csv:
        replace_text(arguments.csv, csv_text(check_rows(report), CHECK_COLUMNS))
    for line in summary_lines(report):
        print(line)
    faults = [one["fault"] for one in report["scenarios"] if one["state"] == "unreadable"]
    if faults:
        print(
            f"note: states of {len(faults)} of {total} scenarios cannot be read, the first:"
            f" {faults[0]}; see {arguments.out}"
        )
    return 0


def _check_matched(source: Source, benchmark: Benchmark, arguments: argparse.Namespace) -> None:
    """Raise SourceError where no trajectory is of any scenario of the benchmark."""
    known = [folded(one.id) for one in benchmark.scenarios]
    if known and set(known).isdisjoint(source.ids):
        raise SourceError(
            f"{arguments.states}: expected trajectories of scenarios of {arguments.benchmark}"
            f" ({_some(known)}), found {_some(source.ids)}; name each array or folder by its"
            " scenario, or give --id ID for a file of one"
        )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def summary_lines(report: dict[str, Any]) -> list[str]:
    """Return a report in a few lines."""
    own, coverage, counts = report["score"], report["coverage"], report["counts"]
    mean = "none" if own["mean"] is None else f"{own['mean']:.4f}"
    interval = "" if own["low"] is None else f" (95 %: {own['low']:.3f}-{own['high']:.3f})"
    left_out = {name: len(ids) for name, ids in coverage.items() if isinstance(ids, list) and ids}
    scored = f"{coverage['scored']} of {coverage['scenarios']} scenarios scored"
    checks = ", ".join(
        f"{counts[key]} {words}"
        for key, words in (("passed", "passed"), ("failed", "failed"), ("uncounted", "not counted"))
    )
    lines = [
        f"{report['mode']}: mean_scene_score {mean}{interval}, {scored}",
        f"checks: {checks}",
    ]
    seen = {name: one for name, one in report["plausibility"].items() if one is not None}
    told = ", ".join(f"{name} {one:.3g}" for name, one in seen.items())
    lines.append(f"plausibility, in no score: {told}")
    for title, found in (
        ("scenarios apart", left_out), ("causes", counts["causes"]), ("warnings", counts["traps"]),
    ):  # fmt: skip
        if found:
            lines.append(f"{title}: {', '.join(f'{name} {n}' for name, n in found.items())}")
    return lines


def compare(arguments: argparse.Namespace) -> int:
    """Print reports side by side."""
    rows = comparison([read_report(path) for path in arguments.reports])
    if arguments.csv:
        replace_text(arguments.csv, csv_text(rows, list(rows[0])))
    if arguments.json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
    else:
        print("\n".join(table_lines(rows)))
    return 0


def page(arguments: argparse.Namespace) -> int:
    """Write the page of one scenario."""
    reports = [read_report(path) for path in arguments.reports]
    wanted = folded(arguments.scenario)
    found = [one for one in reports[0]["scenarios"] if folded(one["id"]) == wanted]
    if not found:
        raise SourceError(
            f"{arguments.reports[0]}: expected the scenario {arguments.scenario!r}, found no such;"
            " name one of the report"
        )
    settings = Settings(**reports[0]["settings"])
    known = {folded(one["id"]) for one in reports[0]["scenarios"]}
    only = arguments.scenario if _is_of_one(arguments.states, known) else None
    with open_source(arguments.states, settings=settings, only=only) as source:
        if wanted not in source.ids:
            raise SourceError(
                f"{arguments.states}: expected the scenario {arguments.scenario!r}, found none"
            )
        walk = source.read(wanted).walk
    obstacles = read_obstacles(arguments.map) if arguments.map else None
    rows = comparison(reports) if len(reports) > 1 else []
    write_page(PageParts(reports[0], found[0], walk, obstacles, rows), arguments.out)
    print(f"wrote {arguments.out}")
    return 0


def _is_of_one(path: Path, known: set[str]) -> bool:
    """Return whether a file holds one array under no scenario's id, as `score --id` takes it."""
    if not path.is_file():
        return False
    with StatesFile(path) as file:
        keys = {folded(key) for key in file.keys if key not in BESIDES}
    return KEY in keys or (len(keys) == 1 and keys.isdisjoint(known))


def bring(arguments: argparse.Namespace) -> int:
    """Write a recording as states."""
    options = ImportOptions(
        radius_m=arguments.radius,
        resample_dt_s=arguments.resample,
        fps=arguments.fps,
        unit=arguments.unit,
        homography=arguments.homography,
        pixel_order=arguments.pixel_order,
        columns=_pairs(arguments.columns or "", "--columns"),
    )
    read = read_recording(arguments.source, arguments.format, options=options)
    walk = read.walk
    write_states(walk, arguments.out, key=arguments.id or KEY)
    print(
        f"{walk.frames} frames of {walk.dt_s:g} s, {walk.agents} agents,"
        f" {walk.frame_of_reference or 'metres'}: {arguments.out}"
    )
    _print_warnings([*read.notes, *(trap.text for trap in traps_of(walk))])
    return 0


def _settings(arguments: argparse.Namespace) -> Settings:
    return Settings(
        mode=arguments.mode,
        dt_s=arguments.dt,
        absent=arguments.absent,
        velocity=arguments.velocity,
        resample_dt_s=arguments.resample,
    )


def _asked(texts: list[str], mode: Mode) -> dict[str, dict[str, object]]:
    """Read FUNCTION.NAME=VALUE texts."""
    registry = registry_of(mode)
    asked: dict[str, dict[str, object]] = {}
    for text in texts:
        name, _, value = text.partition("=")
        function, _, parameter = name.partition(".")
        if function not in registry or parameter not in registry[function].parameters:
            raise SourceError(
                f"--param: expected FUNCTION.NAME=VALUE of a measure, found {text!r}; see `stride"
                " measure --json` for their names"
            )
        try:
            number = json.loads(value)
            json.dumps(number, allow_nan=False)
        except ValueError as fault:
            raise SourceError(f"--param: expected a number, found {value!r}") from fault
        asked.setdefault(function, {})[parameter] = number
    return asked


def _pairs(text: str, option: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",") if part]
    names = {name.strip() for name, _, _ in pairs}
    sound = all(name and sign and value for name, sign, value in pairs)
    if not sound or len(names) < len(pairs):
        raise SourceError(f"{option}: expected NAME=COLUMN pairs parted by commas, found {text!r}")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _grounds_of(folder: Path | None) -> Callable[[Scenario], Ground]:
    """Return where walls and walkable ground of a scenario's map come from."""
    if folder is None:
        return no_ground
    files = {folded(one.parent.name): one for one in sorted(folder.glob("*/map.npz"))}
    if not files:
        raise SourceError(f"{folder}: expected maps MAP/map.npz, found none; see --maps")
    kept: dict[str, Ground] = {}

    def ground(scenario: Scenario) -> Ground:
        name = folded(scenario.map_name)
        if name in files and name not in kept:
            kept[name] = read_map_ground(files[name])
        return kept.get(name, Ground())

    return ground


def _print_warnings(texts: list[str]) -> None:
    for text in texts[:_SHOWN_WARNINGS]:
        print(f"note: {text}")
    if len(texts) > _SHOWN_WARNINGS:
        print(f"note: and {len(texts) - _SHOWN_WARNINGS} more")


ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "measure": measure,
    "score": score,
    "compare": compare,
    "page": page,
    "bring": bring,
}
