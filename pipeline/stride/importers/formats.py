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
from pipeline.stride.importers.pedpy_text import read_pedpy_text
from pipeline.stride.importers.rows import Imported, Recording, imported
from pipeline.stride.importers.table import read_table
from pipeline.stride.importers.trajnetpp import read_trajnetpp
from pipeline.stride.importers.units import Unit


class ImportOptions(NamedTuple):
    """What a format does not say itself; each reader takes what it needs.

    Attributes:
        radius_m: Radius of everybody, metres.
        resample_dt_s: Seconds wanted from one frame to the next; None = the recording's own.
        fps: Frame numbers a second.
        unit: Of x and y.
        homography: File of a 3 x 3 matrix from pixels to metres.
        pixel_order: What that matrix takes.
        columns: Names of a table's columns.
    """

    radius_m: float
    resample_dt_s: float | None = None
    fps: float | None = None
    unit: Unit | None = None
    homography: Path | None = None
    pixel_order: PixelOrder | None = None
    columns: Mapping[str, str] | None = None


class Format(NamedTuple):
    """A format: its reader, and which of the options from `fps` on it takes."""

    read: Callable[[Path, ImportOptions], Recording]
    takes: frozenset[str]


def _fps(options: ImportOptions, path: Path) -> float:
    if options.fps is None:
        raise SourceError(f"{path}: expected --fps, found none; this format does not say it")
    return options.fps


def _obsmat(path: Path, options: ImportOptions) -> Recording:
    return read_obsmat(path, fps=_fps(options, path))


def _four_columns(path: Path, options: ImportOptions) -> Recording:
    return read_four_columns(path, fps=_fps(options, path))


def _trajnetpp(path: Path, options: ImportOptions) -> Recording:
    return read_trajnetpp(path, fps=options.fps)


def _pedpy(path: Path, options: ImportOptions) -> Recording:
    return read_pedpy_text(path, fps=options.fps, unit=options.unit)


def _jupedsim(path: Path, options: ImportOptions) -> Recording:
    return read_jupedsim(path, fps=options.fps)


def _mot(path: Path, options: ImportOptions) -> Recording:
    if options.homography is None or options.pixel_order is None:
        raise SourceError(
            f"{path}: expected --homography and --pixel-order, found none; boxes are in pixels"
        )
    return read_mot(
        path,
        homography=options.homography,
        pixel_order=options.pixel_order,
        fps=_fps(options, path),
    )


def _table(path: Path, options: ImportOptions) -> Recording:
    return read_table(path, columns=options.columns or {}, fps=options.fps, unit=options.unit)


FORMATS: dict[str, Format] = {
    "eth_obsmat": Format(_obsmat, frozenset({"fps"})),
    "four_columns": Format(_four_columns, frozenset({"fps"})),
    "trajnetpp": Format(_trajnetpp, frozenset({"fps"})),
    "pedpy_text": Format(_pedpy, frozenset({"fps", "unit"})),
    "jupedsim": Format(_jupedsim, frozenset({"fps"})),
    "mot": Format(_mot, frozenset({"fps", "homography", "pixel_order"})),
    "table": Format(_table, frozenset({"fps", "unit", "columns"})),
}
# What people have and we do not read: ending or name, what it is, what to take instead.
_UNREAD = {
    "vsp": ("UCY's control points of splines, in pixels", "take the scene's obsmat or 4 columns"),
    "mat": ("a MATLAB file", "export a table"),
    "h5": ("an HDF5 file", "export a table or the text of PedPy"),
    "hdf5": ("an HDF5 file", "export a table or the text of PedPy"),
    "xls": ("a spreadsheet", "save it as CSV"),
    "xlsx": ("a spreadsheet", "save it as CSV"),
    "ods": ("a spreadsheet", "save it as CSV"),
    "xml": ("markup", "export a table"),
    "npz": ("an array of states", "score it as it is"),
    "sdd": ("Stanford Drone boxes in pixels", "bring them to metres and take a table"),
}


def read_recording(path: Path, form: str, *, options: ImportOptions) -> Imported:
    """Read a recording of a format of `FORMATS`.

    Raises:
        SourceError: It is not of that format, or an option is missing, not of this format, or no
            radius or time.
    """
    if form not in FORMATS or path.suffix.lower()[1:] in _UNREAD:
        _refuse(path, form)
    if not 0 < options.radius_m < math.inf:
        raise SourceError(f"--radius: expected metres above 0, found {options.radius_m}")
    for name in ImportOptions._fields[2:]:
        if getattr(options, name) and name not in FORMATS[form].takes:
            raise SourceError(
                f"--{name.replace('_', '-')}: expected none for {form}, found one; leave it out,"
                " or name the format that needs it"
            )
    recording = FORMATS[form].read(path, options)
    return imported(
        recording,
        radius_m=options.radius_m,
        resample_dt_s=options.resample_dt_s,
        where=str(path),
    )


def _refuse(path: Path, form: str) -> None:
    known = ", ".join(FORMATS)
    ending = form if form not in FORMATS else path.suffix.lower()[1:]
    what, mend = _UNREAD.get(ending, ("", "name one of them"))
    is_it = f": {what}" if what else ""
    if form not in FORMATS:
        raise SourceError(f"FORMAT: expected one of {known}, found {form!r}{is_it}; {mend}")
    raise SourceError(f"{path}: expected one of {known}, found .{ending}{is_it}; {mend}")
