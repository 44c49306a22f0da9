"""What was found in the trips of a city, kept on disk between one look at all of them and the next.

    with keeping(file) as keep:
        keep([Inspected(...), ...])   # some trips at a time
    read_found(file)  ->  the same lists, in the same order

To inspect a trip costs ten times what it costs to keep what was found and to read it again, and a
city does not fit into memory. The file is a line of JSON for some trips, compressed.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pyarrow as pa

from pipeline.quality.inspection import Inspected

_COMPRESSION = "zstd"


@contextmanager
def keeping(file: Path) -> Iterator[Callable[[Sequence[Inspected]], None]]:
    """Give a function that keeps what was found in some trips, maybe none, in a new file."""
    encoder = msgspec.json.Encoder()
    with pa.output_stream(str(file), compression=_COMPRESSION) as lines:

        def keep(found: Sequence[Inspected]) -> None:
            lines.write(encoder.encode(found) + b"\n")

        yield keep


def read_found(file: Path) -> Iterator[list[Inspected]]:
    """Return what was kept, as it was kept."""
    decoder = msgspec.json.Decoder(list[Inspected])
    with io.BufferedReader(pa.input_stream(str(file), compression=_COMPRESSION)) as lines:
        for line in lines:
            yield decoder.decode(line)
