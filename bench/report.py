"""Lay the figures of a comparison out as tables of plain text.

{"ours": {"f1": 0.97, "points_per_cpu_s": 61000, ...}, "fastmm k16": {...}}
->  | matcher | pts/CPU-s | ours is | F1 | ...
"""

from collections.abc import Callable
from math import isnan
from typing import Any

# Below this many points a set tells how long a call takes to begin, not how fast points pass.
TIMED_POINTS = 5000

Scores = dict[str, Any]
Column = tuple[str, Callable[[Scores], Any]]


def render(results: dict[str, Any]) -> str:
    """Return the whole report: one table a set, start-up, scaling, what was not available."""
    blocks = [set_table(name, scores) for name, scores in results["sets"].items()]
    blocks.append(startup_table(results["startup"]))
    if results["scaling"]:
        one, two = (results["scaling"][f"wall_s_{n}"] for n in (1, 2))
        blocks.append(
            f"Two workers: {one:.2f} s -> {two:.2f} s wall, {results['scaling']['gain']:.2f} x\n"
        )
    blocks += [f"{tool}: not available ({why})\n" for tool, why in results["missing"].items()]
    return "\n".join(blocks)


def set_table(name: str, scores: dict[str, Scores]) -> str:
    """Return the table of one set; the speed ratio is ours over theirs."""
    first = next(iter(scores.values()))
    speed = scores.get("ours", first)["points_per_cpu_s"]
    columns: list[Column] = []
    if first["points"] >= TIMED_POINTS:
        columns = [
            ("pts/CPU-s", lambda s: f"{s['points_per_cpu_s']:,.0f}"),
            ("ours is", lambda s: f"{speed / s['points_per_cpu_s']:.1f} x"),
        ]
    columns += PLAUSIBLE if "over_1.5" in first else TRUE + _classes(first) + JOINTS
    head = ["matcher", *(title for title, _ in columns)]
    rows = [[label, *(get(s) for _, get in columns)] for label, s in scores.items()]
    return f"### {name}: {first['trips']} trips, {first['points']:,} points\n\n" + table(head, rows)


def startup_table(startup: dict[str, dict[str, Scores]]) -> str:
    """Return CPU seconds and peak memory of preparing a network, for the first network only."""
    if not startup:
        return ""
    network, tools = next(iter(startup.items()))
    rows = [
        [tool, f"{cost['cpu_s']:.1f}", f"{cost['wall_s']:.1f}", f"{cost['peak_mb']:,.0f}"]
        for tool, cost in tools.items()
    ]
    return f"### Start-up on {network}\n\n" + table(["matcher", "CPU s", "wall s", "peak MB"], rows)


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table with columns as wide as their widest cell."""
    width = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]

    def line(cells: list[str]) -> str:
        padded = [
            cell.ljust(w) if i == 0 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(cells, width, strict=True))
        ]
        return "| " + " | ".join(padded) + " |"

    rule = (
        "|" + "|".join("-" * (w + 1) + ("-" if i == 0 else ":") for i, w in enumerate(width)) + "|"
    )
    return "\n".join([line(head), rule, *(line(row) for row in rows)]) + "\n"


def _share(key: str, digits: int = 4) -> Callable[[Scores], str]:
    def read(scores: Scores) -> str:
        value = scores.get(key, float("nan"))
        return "-" if isnan(value) else f"{value:.{digits}f}"

    return read


def _classes(scores: Scores) -> list[Column]:
    kinds = sorted(
        scores.get("by_class", {}), key=lambda kind: ("sigma" not in kind, len(kind), kind)
    )
    if len(kinds) < 2:
        return []
    return [(kind, lambda s, kind=kind: f"{s['by_class'][kind]['f1']:.4f}") for kind in kinds]


TRUE: list[Column] = [
    ("F1", _share("f1")),
    ("P", _share("precision")),
    ("R", _share("recall")),
    ("RMF", _share("rmf")),
    ("exact", _share("exact", 3)),
]
JOINTS: list[Column] = [
    ("points", _share("point_edge", 3)),
    ("entry p50 s", _share("entry_s_p50", 2)),
    ("p90 s", _share("entry_s_p90", 2)),
    ("parts", _share("parts_per_trip", 2)),
    ("jumps", lambda s: f"{s['jumps']}"),
]
PLAUSIBLE: list[Column] = [
    ("parts", _share("parts_per_trip", 2)),
    ("jumps/trips", lambda s: f"{s['jumps']}/{s['trips_with_jump']}"),
    ("length p10", _share("length_p10", 2)),
    ("p50", _share("length_p50", 2)),
    ("p90", _share("length_p90", 2)),
    (">1.5", _share("over_1.5")),
    ("points", _share("points_matched", 3)),
    ("near a road", _share("near_matched", 3)),
    ("explained", _share("points_explained", 3)),
    ("U-turns/trip", lambda s: f"{s['u_turns'] / s['trips']:.2f}"),
]
