"""The formats that recordings and simulations come in, each with its reader.

read_recording(Path("obsmat.txt"), "eth_obsmat", options=ImportOptions(fps=15.0, ...))  ->  Imported
"""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from pipeline.errors import SourceError
from pipeline.stride.importers.eth_ucy import read_four_columns, read_obsmat
from pipeline.stride.importers.jupedsim import read_jupedsim
from pipeline.stride.importers.mot import PixelOrder, read_mot
from pipeline.stride.importers.pedpy_text import Unit, read_pedpy_text
from pipeline.stride.importers.rows import Imported
from pipeline.stride.importers.table import read_table
from pipeline.stride.importers.trajnetpp import read_trajnetpp


class ImportOptions(NamedTuple):
    """What a format does not say itself; each reader takes what it needs.

    Attributes:
        radius_m: Radius of everybody, metres.
        fps: Frame numbers a second.
        unit: Of x and y.
        homography: File of a 3 x 3 matrix from pixels to metres.
        pixel_order: What that matrix takes.
        columns: Names of a table's columns.
    """

    radius_m: float
    fps: float | None = None
    unit: Unit | None = None
    homography: Path | None = None
    pixel_order: PixelOrder | None = None
    columns: Mapping[str, str] | None = None


def _fps(options: ImportOptions, path: Path) -> float:
    if options.fps is None:
        raise SourceError(f"{path}: expected --fps, found none; this format does not say it")
    return options.fps


def _obsmat(path: Path, options: ImportOptions) -> Imported:
    return read_obsmat(path, fps=_fps(options, path), radius_m=options.radius_m)


def _four_columns(path: Path, options: ImportOptions) -> Imported:
    return read_four_columns(path, fps=_fps(options, path), radius_m=options.radius_m)


def _trajnetpp(path: Path, options: ImportOptions) -> Imported:
    return read_trajnetpp(path, fps=options.fps, radius_m=options.radius_m)


def _pedpy(path: Path, options: ImportOptions) -> Imported:
    return read_pedpy_text(path, fps=options.fps, unit=options.unit, radius_m=options.radius_m)


def _jupedsim(path: Path, options: ImportOptions) -> Imported:
    return read_jupedsim(path, fps=options.fps, radius_m=options.radius_m)


def _mot(path: Path, options: ImportOptions) -> Imported:
    if options.homography is None or options.pixel_order is None:
        raise SourceError(
            f"{path}: expected --homography and --pixel-order, found none; boxes are in pixels"
        )
    return read_mot(
        path,
        homography=options.homography,
        pixel_order=options.pixel_order,
        fps=_fps(options, path),
        radius_m=options.radius_m,
    )


def _table(path: Path, options: ImportOptions) -> Imported:
    return read_table(
        path, columns=options.columns or {}, fps=options.fps, radius_m=options.radius_m
    )


FORMATS: dict[str, Callable[[Path, ImportOptions], Imported]] = {
    "eth_obsmat": _obsmat,
    "four_columns": _four_columns,
    "trajnetpp": _trajnetpp,
    "pedpy_text": _pedpy,
    "jupedsim": _jupedsim,
    "mot": _mot,
    "table": _table,
}


def read_recording(path: Path, form: str, *, options: ImportOptions) -> Imported:
    """Read a recording of a format of `FORMATS`.

    Raises:
        SourceError: It is not of that format, or an option it needs is missing or no radius.
    """
    if not 0 < options.radius_m < math.inf:
        raise SourceError(f"--radius: expected metres above 0, found {options.radius_m}")
    return FORMATS[form](path, options)
