"""The best, the middling and the worst prediction of a model, drawn among the streets around.

    examples_of(report, release, Path("routes.parquet"))
    ->  {"by": "jaccard", "scored": 402, "instances": 414, "examples": [{"rank": "best", ...}, ...]}

As in the paper's Figure 6. Lines are flat lists of x, y: whole metres east and south of the middle
of the map, as a picture has them.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from pipeline.city.projection import Floats, LocalPlane
from pipeline.errors import SourceError
from pipeline.hashes import sha256_of
from pipeline.schemas import describe_fault, fits
from pipeline.tasks.ground import Ground, Ragged
from pipeline.tasks.measure import OK
from pipeline.tasks.predictions import matched, read_predictions
from pipeline.tasks.released import Release, open_release
from pipeline.tasks.report import Record
from pipeline.tasks.routes import routes_of

# Measures that decide which is best, the later ones among equals, and are shown with the example.
RANKED_BY = {
    "generation": ("jaccard", "dtw_km"),
    "retrieval": ("mrr", "jaccard_best_at_1"),
    "captioning": ("rouge_l", "bertscore_f1"),
}
MARGIN_M = 150.0
MARGIN_SHARE = 0.12  # of the routes' extent: long routes are looked at from further away
MOST_STREETS = 1500
SIMPLIFY_M = 1.0
METRES_PER_DEGREE = 111_000.0
WIDE = 4 / 3  # width over height of a map


class Answer(NamedTuple):
    """What an example shows.

    Attributes:
        asked: What the model was given, in words; "" for a caption, which is given the trip.
        wanted: The reference caption; "" for the other tasks.
        given: The predicted caption; "" for the other tasks.
        true: The true route, segment ids.
        predicted: The predicted or first retrieved route; empty for captions.
        note: What the map leaves out.
    """

    asked: str
    wanted: str
    given: str
    true: list[str]
    predicted: list[str]
    note: str


def examples_of(report: Record, release: Release, predictions: Path) -> Record:
    """Return the examples of a model.

    Only instances with a valid prediction are taken: of the others there is nothing to show.

    Args:
        report: The report of these predictions, on this release.
        release: The release, of the hash that the report holds.
        predictions: The file that was scored, of the hash that the report holds.

    Raises:
        SourceError: A table of the release is missing, or its contents cannot be read.
        ContractError: The predictions do not fit their schema.
    """
    task, columns = report["task"], report["instances"]
    names = [name for name in RANKED_BY[task] if name in columns["values"]]
    found = read_predictions(predictions, task)
    rows = matched(release, task, report["split"], found, file=predictions).rows
    draw = _Drawer(release)
    pool = _pool(release, report) if task == "retrieval" else {}
    places = _picked(report, names)
    return {
        "by": names,
        "scored": columns["status"].count(OK),
        "instances": len(columns["status"]),
        "credit": _credit(release.folder),
        "examples": [
            {
                "rank": rank,
                "instance_id": columns["instance_id"][at],
                "figures": [columns["values"][name][at] for name in names],
                **_shown(_answer(task, rows.row(at, named=True), pool, draw, report), draw),
            }
            for rank, at in places
        ],
    }


def _credit(folder: Path) -> str:
    """Return what the source of the streets asks to be said."""
    file = folder / "contents.json"
    if not file.is_file():  # a built release: its account lies elsewhere
        return "Streets: ground/roads of the release; its card names source and licence."
    try:
        contents = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as fault:
        raise SourceError(
            f"{file}: expected the contents of a release, found {fault}; get it with `dvc pull`"
        ) from fault
    if not fits("release_contents", contents):
        raise SourceError(
            f"{file}: {describe_fault('release_contents', contents)}; get it with `dvc pull`"
        )
    roads = [one["attribution"] for one in contents["sources"] if one["what"] == "roads"]
    return f"Streets: {'; '.join(dict.fromkeys(roads))}"


def _picked(report: Record, names: Sequence[str]) -> list[tuple[str, int]]:
    """Return the places of the best, the middling and the worst valid prediction, each once."""
    better = {one["name"]: one["better"] for one in report["measures"]}
    columns = report["instances"]

    def order(at: int) -> tuple[Any, ...]:
        values = [columns["values"][name][at] for name in names]
        signed = [
            (value is None, -(value or 0.0) if better[name] == "higher" else value or 0.0)
            for name, value in zip(names, values, strict=True)
        ]
        return (*signed, columns["instance_id"][at])

    valid = sorted((k for k, status in enumerate(columns["status"]) if status == OK), key=order)
    if not valid:
        return []
    wanted = {"best": valid[0], "middling": valid[len(valid) // 2], "worst": valid[-1]}
    once: dict[int, str] = {}
    for rank, at in wanted.items():
        once.setdefault(at, rank)
    return [(rank, at) for at, rank in once.items()]


def _pool(release: Release, report: Record) -> dict[str, list[str]]:
    pool = release.candidates(report["split"])
    return dict(zip(pool["trip_id"], pool["edge_ids"], strict=True))


def _answer(
    task: str, row: dict[str, Any], pool: dict[str, list[str]], draw: "_Drawer", report: Record
) -> Answer:
    if task == "captioning":
        wanted, true = row["target"]["caption"], row["input"]["edge_ids"]
        return Answer("", wanted, row["caption"] or "", true, [], "")
    true = row["target"]["edge_ids"]
    if task == "retrieval":
        first = _first(row["trip_ids"], row["scores"])
        note = f"The first of the ranking is trip {first}."
        return Answer(row["input"]["query"], "", "", true, pool[first], note)
    asked = f"{row['input']['instruction']} ({row['input']['start_time']})"
    kept = draw.scored(row["edge_ids"], report["options"]["gaps"])
    left = len(row["edge_ids"]) - len(kept)
    note = f"Cut at its first gap: segments neither scored nor drawn: {left}." if left else ""
    return Answer(asked, "", "", true, kept, note)


def _first(trips: Sequence[str], scores: Sequence[float] | None) -> str:
    """Return the first trip of a ranking; of those tied for it, the one whose id comes first."""
    if scores is None:
        return trips[0]
    return min(zip(trips, scores, strict=True), key=lambda one: (-one[1], one[0]))[0]


class _Drawer:
    """Lays routes and streets of a release out in metres."""

    def __init__(self, release: Release) -> None:
        self._ground = Ground.of(release)
        self._roads = release.roads

    def scored(self, edge_ids: list[str], gaps: Any) -> list[str]:
        """Return the segments of a route that are scored."""
        lists = pl.Series([edge_ids], dtype=pl.List(pl.String))
        kept = len(routes_of(lists, self._ground, gaps=gaps).scored.values)
        return edge_ids[:kept]

    def pieces(self, edge_ids: Sequence[str]) -> list[Floats]:
        """Return a route as lines of (N, 2) longitudes and latitudes, broken at its gaps."""
        import shapely  # noqa: PLC0415 - slow import

        found: Ragged = self._ground.numbered(pl.Series([list(edge_ids)], dtype=pl.List(pl.String)))
        lines: list[Floats] = []
        before = None
        for number in found.values.tolist():
            shape = shapely.from_wkb(self._ground.geometry[int(self._ground.drawn[number])])
            points = shapely.get_coordinates(shape)
            if number >= self._ground.segments:  # a one-way driven against its direction
                points = points[::-1]
            if before is not None and self._ground.u[number] == before:
                lines[-1] = np.concatenate((lines[-1], points[1:]))
            else:
                lines.append(points)
            before = self._ground.v[number]
        return lines

    def streets(self, box: Sequence[float]) -> pl.DataFrame:
        """Return the roads that touch a box of degrees (west, south, east, north), each once."""
        west, south, east, north = box
        near = self._roads.filter(
            (pl.min_horizontal("u_lon", "v_lon") <= east)
            & (pl.max_horizontal("u_lon", "v_lon") >= west)
            & (pl.min_horizontal("u_lat", "v_lat") <= north)
            & (pl.max_horizontal("u_lat", "v_lat") >= south)
        ).with_columns(
            lower=pl.min_horizontal("u", "v"),
            upper=pl.max_horizontal("u", "v"),
            whole_m=pl.col("length_m").round(),
        )
        # The two directions of a street are one line on the map.
        street = ["way_id", "lower", "upper", "whole_m"]
        return near.unique(street, keep="first", maintain_order=True)


def _shown(answer: Answer, draw: _Drawer) -> Record:
    """Return an example's texts and its map."""
    true = draw.pieces(answer.true)
    predicted = draw.pieces(answer.predicted)
    corners = np.concatenate([*true, *predicted])
    west, south = corners.min(axis=0)
    east, north = corners.max(axis=0)
    plane = LocalPlane((float(west + east) / 2, float(south + north) / 2))
    size = np.ptp(plane.metres(corners), axis=0)
    margin = max(MARGIN_M, MARGIN_SHARE * float(size.max()))
    height = max(size[1] + 2 * margin, (size[0] + 2 * margin) / WIDE)
    width = height * WIDE
    streets, left_out = _streets(draw, plane, corners, (float(width), float(height)))
    note = f"{left_out} streets further away are not drawn." if left_out else ""
    return {
        "asked": answer.asked,
        "wanted": answer.wanted,
        "given": answer.given,
        "note": " ".join(filter(None, (answer.note, note))),
        "map": {
            "width": round(float(width)),
            "height": round(float(height)),
            "streets": streets,
            "true": [_flat(plane.metres(one)) for one in true],
            "predicted": [_flat(plane.metres(one)) for one in predicted],
        },
    }


def _streets(
    draw: _Drawer, plane: LocalPlane, corners: Floats, size: tuple[float, float]
) -> tuple[list[list[int]], int]:
    """Return the streets of a map, nearest to the routes first, and how many the cap left out."""
    import shapely  # noqa: PLC0415 - slow import

    (west, south), (east, north) = corners.min(axis=0), corners.max(axis=0)
    dy = size[1] / 2 / METRES_PER_DEGREE * 1.02
    dx = size[0] / 2 / METRES_PER_DEGREE * 1.02 / max(0.01, float(np.cos(np.radians(north))))
    middle = ((west + east) / 2, (south + north) / 2)
    box = [middle[0] - dx, middle[1] - dy, middle[0] + dx, middle[1] + dy]
    lines = plane.shapes(shapely.from_wkb(draw.streets(box)["geometry"].to_list()))
    lines = shapely.clip_by_rect(lines, -size[0] / 2, -size[1] / 2, size[0] / 2, size[1] / 2)
    lines = shapely.get_parts(lines)
    lines = lines[shapely.length(lines) > 0]
    routes = shapely.MultiPoint(plane.metres(corners))
    nearest = np.argsort(shapely.distance(lines, routes), kind="stable")
    kept = shapely.simplify(lines[nearest[:MOST_STREETS]], SIMPLIFY_M)
    return [_flat(shapely.get_coordinates(one)) for one in kept], len(lines) - len(kept)


def _flat(points: Floats) -> list[int]:
    """Return (N, 2) metres as whole x, y, x, y, ...; y grows downwards."""
    whole = np.rint(points * (1.0, -1.0)).astype(np.int64)
    return [int(number) for number in whole.reshape(-1)]


def board_examples(
    reports: Sequence[Record], releases: Sequence[Path], predictions: Sequence[Path]
) -> list[Record | None]:
    """Return the examples of each report; null where its predictions are not named.

    Args:
        reports: Results of `read_report`.
        releases: Folders of releases; a report belongs to the one whose hash it holds.
        predictions: Prediction files; they belong to the reports that hold their hash.

    Raises:
        SourceError: One is named without the other, belongs to no report, or is not there; or
            the release of a file is not named.
        ContractError: As `examples_of`.
    """
    if bool(releases) != bool(predictions):
        raise SourceError(
            "--release and --pred: expected both or neither, since examples need the streets and"
            " the predictions; name the other as well"
        )
    opened = {one.hash(): one for one in map(open_release, releases)}
    hashes = {sha256_of(_existing(file)): file for file in predictions}
    for key, found, kind in (
        ("release", opened, "a release"),
        ("predictions", hashes, "predictions"),
    ):
        for hashed, named in found.items():
            if all(report[key] != hashed for report in reports):
                raise SourceError(
                    f"{getattr(named, 'folder', named)}: expected {kind} that one of the reports is"
                    f" about, found another ({hashed[:12]}); name the one that was scored"
                )
    examples: list[Record | None] = []
    for report in reports:
        file, release = hashes.get(report["predictions"]), opened.get(report["release"])
        if file and not release:
            raise SourceError(
                f"{file}: expected the release of {report['city']} that it was scored on"
                f" ({report['release'][:12]}), found none of it; name its folder with --release"
            )
        examples.append(examples_of(report, release, file) if file and release else None)
    return examples


def _existing(file: Path) -> Path:
    if not file.is_file():
        raise SourceError(
            f"{file}: expected a file of predictions, found none; name it with --pred"
        )
    return file
