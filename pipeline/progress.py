"""Progress bars on long work: a bar on a terminal, a plain line now and then elsewhere.

for shard in progress_bar(shards, total=16, unit="shard", desc="match porto"): ...
"""

import sys
from collections.abc import Iterable
from typing import TypeVar
from weakref import WeakSet

_T = TypeVar("_T")
_bars: "WeakSet[Iterable[object]]" = WeakSet()


def progress_bar(items: Iterable[_T], *, total: int | None, unit: str, desc: str) -> Iterable[_T]:
    """Wrap an iterable so that its progress shows on standard error.

    Args:
        items: What is worked through.
        total: How many there are, or None when unknown.
        unit: Name of one item, such as `trip`.
        desc: What is being done, such as `match porto`.
    """
    from tqdm import tqdm  # noqa: PLC0415 - keeps the command line quick to start

    # A log file gets one line every few seconds instead of a redrawn bar.
    interval = 0.2 if sys.stderr.isatty() else 10.0
    bar = tqdm(items, total=total, unit=f" {unit}", desc=desc, mininterval=interval)
    _bars.add(bar)
    return bar


def end_bars() -> None:
    """End the lines of bars that work was torn away from, so that what is said next has its own."""
    for bar in list(_bars):
        bar.close()  # type: ignore[attr-defined]
