"""What an outage of a model's server costs: nothing but its time.

    python bench/outage.py --seconds 600 --requests 80 --concurrency 64

A real server on the loopback answers a third of the requests, says 503 for so many seconds, then
answers again; then the same requests are asked of a server without an outage. Prints how many were
answered and turned away, how long after its end the last came, and whether the bytes are the same.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pipeline.language.asking import ask, results
from pipeline.language.engines import engine_for
from pipeline.language.engines.settings import LocalExecutor
from pipeline.language.ledger import Ledger
from pipeline.language.outcome import responses_frame
from tests.language.engine_requests import openai_settings, requests_to
from tests.language.odd_server import OddServer


class Outage:
    """Turns requests away for some seconds, once so many have come."""

    def __init__(self, *, after: int, seconds: float) -> None:
        self._after, self._seconds = after, seconds
        self.turned_away, self.ends_s = 0, 0.0

    def __call__(self, count: int, body: dict[str, Any]) -> tuple[int, dict[str, Any]] | None:
        """Say 503 while the outage lasts."""
        del body
        now_s = time.monotonic()
        if count > self._after and not self.ends_s:
            self.ends_s = now_s + self._seconds
        if count <= self._after or now_s >= self.ends_s:
            return None
        self.turned_away += 1
        return 503, {"message": "down"}


def answered(outage: Outage, folder: Path, *, count: int, concurrency: int) -> tuple[int, bytes]:
    """Ask everything; return how many were answered, and the bytes of all attempts."""
    with OddServer(outage) as server, Ledger(folder) as ledger:
        settings = openai_settings(server.url, concurrency=concurrency, patience_s=7200.0)
        requests = requests_to(settings, count)
        summary = ask(
            lambda: iter(requests),
            total=count,
            ledger=ledger,
            engine=lambda: engine_for(settings, LocalExecutor()),
            attempts=1,
            most_failed_share=0.0,
            desc="outage",
        )
        every = [one for _, attempts in results(requests, ledger) for one in attempts]
    file = folder / "responses.parquet"
    responses_frame(every).write_parquet(file)
    return summary.ok, file.read_bytes()


def main() -> None:
    """Ask with the outage and without."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="how long the server is down")
    parser.add_argument("--requests", type=int, default=80)
    parser.add_argument("--concurrency", type=int, default=64)
    given = parser.parse_args()
    sizes = {"count": given.requests, "concurrency": given.concurrency}
    with tempfile.TemporaryDirectory() as folder:
        outage = Outage(after=given.requests // 3, seconds=given.seconds)
        count, disturbed = answered(outage, Path(folder, "outage"), **sizes)
        late_s = time.monotonic() - outage.ends_s
        none = Outage(after=given.requests, seconds=0.0)
        _, smooth = answered(none, Path(folder, "smooth"), **sizes)
    print(
        f"down for {given.seconds:g} s: {count} of {given.requests} answered in one run, all by"
        f" {late_s:.0f} s after its end, {outage.turned_away} requests turned away; bytes of all"
        f" attempts {'the same' if disturbed == smooth else 'DIFFERENT'}"
    )


if __name__ == "__main__":
    main()
