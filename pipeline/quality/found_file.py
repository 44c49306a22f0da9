"""What was found in the trips of a city, kept on disk between one look at all of them and the next.

    with FoundFile(file) as found:
        found.add([Inspected(...), ...])      # some trips at a time
    read_found(file)  ->  the same lists, in the same order

To inspect a trip costs ten times what it costs to keep what was found and to read it again, and a
city does not fit into memory.
"""

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
import pyarrow as pa

from pipeline.quality.inspection import Inspected

_COMPRESSION = "zstd"


class FoundFile:
    """A file that is being written: a line of JSON for some trips, compressed."""

    def __init__(self, file: Path) -> None:
        """Begin a file."""
        self._file = pa.output_stream(str(file), compression=_COMPRESSION)
        self._encoder = msgspec.json.Encoder()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, found: Sequence[Inspected]) -> None:
        """Add what was found in some trips, maybe none."""
        self._file.write(self._encoder.encode(found) + b"\n")


def read_found(file: Path) -> Iterator[list[Inspected]]:
    """Return what was added, as it was added."""
    decoder = msgspec.json.Decoder(list[Inspected])
    with io.BufferedReader(pa.input_stream(str(file), compression=_COMPRESSION)) as lines:
        for line in lines:
            yield decoder.decode(line)
