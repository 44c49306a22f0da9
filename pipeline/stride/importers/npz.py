"""The arrays of an .npz from anywhere: nothing it states is believed before it is checked.

    with NpzFile(Path("0001/sim.npz")) as file:
        file.keys             ->  ("states", "dt_s")
        file.array("states")  ->  doubles (T, N, 7)

An .npz is a ZIP of arrays, each with a head that states type and shape. Encrypted members, heads
without an end, shapes that are absurd or do not fit the data, and data that unpack to far more than
they should are refused before memory is asked for. Nothing pickled is ever read.
"""

import ast
import lzma
import math
import struct
import zipfile
import zlib
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, NamedTuple, Self

import numpy as np

from pipeline.errors import SourceError
from pipeline.stride.arrays import Floats

_ARRAY, _MAGIC = ".npy", b"\x93NUMPY"
# What Python's readers of ZIP and of heads raise on damaged files, whatever the fault.
_FAULTS = (
    ValueError, TypeError, OSError, EOFError, LookupError, NotImplementedError, MemoryError,
    RuntimeError, OverflowError, RecursionError, SyntaxError, AttributeError,
    struct.error, zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, lzma.LZMAError,
)  # fmt: skip
_MOST_NUMBERS = 1 << 27  # one GiB of doubles; an hour of 900 people at 5 frames a second is half
_LONGEST_HEAD = 10_000
# A member may unpack to this size, or to so many times its own: agents that are absent for most of
# the time are zeros, which pack well.
_FREELY_BYTES, _MOST_TIMES = 1 << 26, 200
_MEND = "pickled objects are never read, save plain arrays with np.savez(path, states=array)"


class _Head(NamedTuple):
    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[np.generic]
    bytes: int


class NpzFile:
    """An .npz opened for its numeric members; use as a context manager.

    Attributes:
        path: The file.
        keys: Names of its members, without `.npy`.

    Raises:
        SourceError: It is no .npz, or holds a member twice.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                alone = file.read(len(_MAGIC)) == _MAGIC
            self._zip = zipfile.ZipFile(path) if not alone else None
        except _FAULTS as fault:
            raise SourceError(f"{path}: expected an .npz file, found {_said(fault)}") from fault
        if self._zip is None:
            raise SourceError(
                f"{path}: expected an .npz file, found a single array; save it with"
                " np.savez(path, states=array)"
            )
        self._members = self._zip.infolist()
        self.keys = tuple(one.filename.removesuffix(_ARRAY) for one in self._members)
        twice = sorted({key for key in self.keys if self.keys.count(key) > 1})
        if twice:
            self._zip.close()
            raise SourceError(f"{path}: expected each member once, found {twice[0]!r} again")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._zip is not None:
            self._zip.close()

    def array(self, key: str) -> Floats:
        """Return a member as doubles.

        Raises:
            SourceError: It is not there, broken, encrypted, pickled, too large, or not of numbers.
        """
        member = self._member(key)
        try:
            with self._opened(member) as file:
                head = _head(file, member.file_size)
                data = file.read(head.bytes)
                if len(data) != head.bytes or file.read(1):  # at its end the checksum is compared
                    raise ValueError(f"{len(data):,} bytes of data for the shape {head.shape}")
            array = np.frombuffer(data, head.dtype).astype(np.float64)
        except _FAULTS as fault:
            raise SourceError(
                f"{self.path}: {key}: expected an array of numbers, found {_said(fault)}; {_MEND}"
            ) from fault
        return array.reshape(head.shape, order="F" if head.fortran_order else "C")

    def holds_pickled(self, key: str) -> bool:
        """Tell whether a member is there that may not be read: pickled objects, or broken."""
        if key not in self.keys:
            return False
        member = self._member(key)
        try:
            with self._opened(member) as file:
                _head(file, member.file_size)
        except _FAULTS:
            return True
        return False

    def _member(self, key: str) -> zipfile.ZipInfo:
        if key not in self.keys:
            raise SourceError(
                f"{self.path}: expected the member {key!r}, found {', '.join(self.keys) or 'none'}"
            )
        return self._members[self.keys.index(key)]

    def _opened(self, member: zipfile.ZipInfo) -> BinaryIO:
        assert self._zip is not None  # noqa: S101 - narrows the type only
        if member.flag_bits & 1:
            raise ValueError("an encrypted member; save it without a password")
        if member.file_size > max(_FREELY_BYTES, _MOST_TIMES * member.compress_size):
            raise ValueError(
                f"{member.file_size:,} bytes packed into {member.compress_size:,}, which is no"
                " recording"
            )
        return self._zip.open(member)  # type: ignore[return-value]


def _head(file: BinaryIO, size: int) -> _Head:
    """Read the head of an array.

    Args:
        file: At its start.
        size: Bytes of head and data together.

    Raises:
        ValueError: It is no head of an array of real numbers that fits the data.
    """
    start = file.read(len(_MAGIC) + 2)
    if not start.startswith(_MAGIC) or len(start) < len(_MAGIC) + 2:
        raise ValueError("no array of numpy")
    version = (start[-2], start[-1])
    if version not in {(1, 0), (2, 0)}:
        raise ValueError(f"an array of version {version[0]}.{version[1]}")
    form = "<H" if version == (1, 0) else "<I"
    length = file.read(struct.calcsize(form))
    (count,) = struct.unpack(form, length)
    if count > _LONGEST_HEAD:
        raise ValueError(f"a head of {count:,} bytes")
    stated = ast.literal_eval(file.read(count).decode("latin-1").strip())
    if not isinstance(stated, dict) or set(stated) != {"descr", "fortran_order", "shape"}:
        raise ValueError("a head without descr, fortran_order and shape")
    descr, fortran_order, shape = stated["descr"], stated["fortran_order"], stated["shape"]
    dtype = np.dtype(descr if isinstance(descr, str) else "V1")
    if dtype.hasobject or dtype.kind not in "fiub":
        raise ValueError(f"{dtype}, expected an array of real numbers")
    if not isinstance(shape, tuple) or any(type(one) is not int or one < 0 for one in shape):
        raise ValueError(f"the shape {shape}")
    numbers = math.prod(shape)
    if numbers > _MOST_NUMBERS:
        raise ValueError(f"the shape {shape}, expected at most {_MOST_NUMBERS:,} numbers")
    data = size - len(start) - len(length) - count
    if numbers * dtype.itemsize != data:
        raise ValueError(f"{data:,} bytes of data for the shape {shape} of {dtype}")
    return _Head(shape, fortran_order is True, dtype, data)


def _said(fault: BaseException) -> str:
    lines = str(fault).splitlines()
    return f"'{lines[0][:200] if lines else type(fault).__name__}'"
