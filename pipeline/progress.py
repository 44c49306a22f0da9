"""Progress of long work: a bar on a terminal, a plain line now and then in a log.

for shard in progress_bar(shards, total=16, unit="shard", desc="match porto"): ...
"""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar
from weakref import WeakSet

_T = TypeVar("_T")
PLAIN_INTERVAL_S = 10.0
_bars: "WeakSet[Iterable[object]]" = WeakSet()


def progress_bar(items: Iterable[_T], *, total: int | None, unit: str, desc: str) -> Iterable[_T]:
    """Wrap an iterable so that its progress shows on standard error.

    Args:
        items: What is worked through.
        total: How many there are, or None when unknown.
        unit: Name of one item, such as `trip`.
        desc: What is being done, such as `match porto`.
    """
    if not sys.stderr.isatty():
        return _told(items, total=total, unit=unit, desc=desc)
    from tqdm import tqdm  # noqa: PLC0415 - keeps the command line quick to start

    bar = tqdm(items, total=total, unit=f" {unit}", desc=desc, mininterval=0.2)
    _bars.add(bar)
    return bar


def _told(items: Iterable[_T], *, total: int | None, unit: str, desc: str) -> Iterator[_T]:
    """Print a line now and then; what is done within the first interval has none."""
    of_all = f" of {total:,}" if total is not None else ""
    shown_s = time.monotonic()
    for done, item in enumerate(items):
        if time.monotonic() - shown_s > PLAIN_INTERVAL_S:
            print(f"{desc}: {unit} {done:,}{of_all}", file=sys.stderr, flush=True)
            shown_s = time.monotonic()
        yield item


class ProgressLine:
    """Progress whose words the caller finds: a bar on a terminal, plain lines elsewhere.

    The last words always show, those before now and then or when they are marked.
    """

    def __init__(self, *, total: int, desc: str) -> None:
        from tqdm import tqdm  # noqa: PLC0415 - as above

        self._total, self._desc = total, desc
        self._words, self._printed, self._shown_s = "", "", time.monotonic()
        self._bar = None
        if sys.stderr.isatty():
            form = "{desc}: {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt}{postfix}"
            self._bar = tqdm(total=total, desc=desc, bar_format=form, mininterval=0.2)
            _bars.add(self._bar)

    def show(self, done: int, words: str, *, at_once: bool) -> None:
        """Tell how many are done, and the rest in words; `at_once` does not wait for its turn."""
        self._words = f"{done:,} of {self._total:,}, {words}"
        if self._bar is not None:
            self._bar.set_postfix_str(words, refresh=False)
            self._bar.update(done - self._bar.n)
            if at_once:
                self._bar.refresh()
        elif at_once or time.monotonic() - self._shown_s > PLAIN_INTERVAL_S:
            self._print()

    def close(self) -> None:
        """Show the last words and end the line."""
        if self._bar is not None:
            self._bar.refresh()
            self._bar.close()
        elif self._words != self._printed:
            self._print()

    def _print(self) -> None:
        print(f"{self._desc}: {self._words}", file=sys.stderr, flush=True)
        self._printed, self._shown_s = self._words, time.monotonic()


def end_bars() -> None:
    """End the lines of bars that work was torn away from, so that what is said next has its own."""
    for bar in list(_bars):
        bar.close()  # type: ignore[attr-defined]
