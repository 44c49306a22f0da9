"""How fast the response ledger is beside diskcache and one JSON file per key.

    python bench/ledger.py --rows 50000 --rounds 3

Answers with 3 kB of text are written in batches, looked up (half of the keys are unknown) and read
whole. Each figure is the median of interleaved rounds, on fresh stores in bench/work/ledger. "cpu"
is what the process itself spent; wall also waits for the disk. Only ratios within one run count.
"""

import argparse
import hashlib
import random
import shutil
import string
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import diskcache
import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pipeline.language.asking import ask
from pipeline.language.ledger import Ledger
from pipeline.language.requests import Answer, Engine, Message, ModelId, Request, Sampling

WORK = Path(__file__).resolve().parent / "work" / "ledger"
MODEL = ModelId("vllm", "toy", "1")
BATCH = 256
TEXT_BYTES = 3000


class LedgerStore:
    """The ledger itself."""

    name = "ledger"

    def __init__(self, folder: Path) -> None:
        self._ledger = Ledger(folder).__enter__()

    def write(self, answers: Sequence[Answer]) -> None:
        """Keep a batch of answers."""
        self._ledger.record(answers)

    def known(self, keys: Sequence[str]) -> int:
        """Count the keys that have an answer."""
        return sum(state.ok is not None for state in self._ledger.states(keys).values())

    def read(self, keys: Sequence[str]) -> int:
        """Read the answers of keys; return how many there are."""
        return sum(map(len, self._ledger.answers(keys).values()))

    def close(self) -> None:
        """Leave the store."""
        self._ledger.__exit__(None, None, None)


class DiskCacheStore:
    """diskcache as its manual has it: a batch of sets in one transaction."""

    name = "diskcache"

    def __init__(self, folder: Path) -> None:
        self._cache = diskcache.Cache(str(folder), eviction_policy="none")

    def write(self, answers: Sequence[Answer]) -> None:
        """Keep a batch of answers, the first one of a key."""
        with self._cache.transact():
            for answer in answers:
                self._cache.add(answer.key, msgspec.json.encode(answer))

    def known(self, keys: Sequence[str]) -> int:
        """Count the keys that are there."""
        return sum(key in self._cache for key in keys)

    def read(self, keys: Sequence[str]) -> int:
        """Read the answers of keys; return how many there are."""
        values = (self._cache.get(key) for key in keys)
        return sum(isinstance(msgspec.json.decode(v, type=Answer), Answer) for v in values if v)

    def close(self) -> None:
        """Leave the store."""
        self._cache.close()


class FileStore:
    """One JSON file per key in 256 folders, written aside and moved into place."""

    name = "a file per key"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for number in range(256):
            (folder / f"{number:02x}").mkdir(parents=True)

    def _file(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"

    def write(self, answers: Sequence[Answer]) -> None:
        """Keep answers, each in its file."""
        for answer in answers:
            file = self._file(answer.key)
            aside = file.with_suffix(".aside")
            aside.write_bytes(msgspec.json.encode(answer))
            aside.rename(file)

    def known(self, keys: Sequence[str]) -> int:
        """Count the keys that have a file."""
        return sum(self._file(key).exists() for key in keys)

    def read(self, keys: Sequence[str]) -> int:
        """Read the answers of keys; return how many there are."""
        files = filter(Path.exists, map(self._file, keys))
        return sum(
            isinstance(msgspec.json.decode(f.read_bytes(), type=Answer), Answer) for f in files
        )

    def close(self) -> None:
        """Leave the store."""


STORES = (LedgerStore, DiskCacheStore, FileStore)


class Cost(NamedTuple):
    """Items per second, by process time and by the clock."""

    cpu: float
    wall: float


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    answers = list(_answers(asked.rows))
    costs: dict[str, dict[str, list[Cost]]] = {store.name: {} for store in STORES}
    for _ in range(asked.rounds):
        for store in STORES:
            shutil.rmtree(WORK, ignore_errors=True)
            for what, cost in _round(store, answers).items():
                costs[store.name].setdefault(what, []).append(cost)
    for what in costs["ledger"]:
        print(f"\n{what} per second: cpu, wall (ledger is so many times as fast)")
        ours = _median(costs["ledger"][what])
        for name, by_what in costs.items():
            theirs = _median(by_what[what])
            print(
                f"  {name:<15} {theirs.cpu:>10,.0f} {theirs.wall:>10,.0f}"
                f"   ({ours.cpu / theirs.cpu:.1f} x, {ours.wall / theirs.wall:.1f} x)"
            )
    shutil.rmtree(WORK, ignore_errors=True)
    print(f"\na run that finds all its answers: {_replayed(answers):,.0f} requests/s by the clock")
    shutil.rmtree(WORK, ignore_errors=True)


def _round(store: type[Any], answers: list[Answer]) -> dict[str, Cost]:
    keys = [answer.key for answer in answers]
    unknown = [hashlib.sha256(key.encode()).hexdigest() for key in keys]
    mixed = [key for pair in zip(keys, unknown, strict=True) for key in pair]
    rng = random.Random(1)
    rng.shuffle(mixed)
    rng.shuffle(keys)
    opened = store(WORK)
    writes = _timed(opened.write, answers, BATCH)
    looked = _timed(opened.known, mixed, BATCH)
    read = _timed(opened.read, keys, BATCH)
    opened.close()
    few = store(WORK / "few")
    small = _timed(few.write, answers[: len(answers) // 10], 16)
    few.close()
    return {
        f"writes in batches of {BATCH}": writes,
        "writes in batches of 16": small,
        "look-ups": looked,
        "whole answers read": read,
    }


def _timed(do: Callable[[Sequence[Any]], Any], items: Sequence[Any], size: int) -> Cost:
    cpu, wall = time.process_time(), time.perf_counter()
    found = [do(items[start : start + size]) for start in range(0, len(items), size)]
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    if found[0] is not None and sum(found) not in {len(items), len(items) // 2}:
        raise RuntimeError(f"expected all or half of {len(items)} found, found {sum(found)}")
    return Cost(len(items) / cpu, len(items) / wall)


def _median(costs: list[Cost]) -> Cost:
    return Cost(median(cost.cpu for cost in costs), median(cost.wall for cost in costs))


def _answers(count: int) -> Iterator[Answer]:
    letters = "".join(random.Random(1).choices(string.ascii_letters + "   ", k=2 * TEXT_BYTES))
    for number in range(count):
        start = number % TEXT_BYTES
        yield Answer(
            key=hashlib.sha256(str(number).encode()).hexdigest(),
            attempt=1,
            item_id=f"1372636858620{number:06d}",
            task="annotate",
            status="ok",
            reason="",
            text=f'{{"text": "{letters[start : start + TEXT_BYTES]}"}}',
            finish_reason="stop",
            model=MODEL,
            prompt_tokens=900,
            output_tokens=700,
        )


def _replayed(answers: list[Answer]) -> float:
    """Return how many requests a second a run goes through when every answer is there."""

    def requests() -> Iterator[Request]:
        for answer in answers:
            yield Request(
                answer.item_id, "annotate", (Message("user", "x"),), {}, MODEL,
                Sampling(0.0, 1.0, 100), None, answer.key,
            )  # fmt: skip

    def engine() -> Engine:
        raise RuntimeError("a model was started")

    with Ledger(WORK) as ledger:
        for batch in _batches(answers):
            ledger.record(batch)
        start = time.perf_counter()
        ask(
            requests, total=len(answers), ledger=ledger, engine=engine, attempts=1,
            most_failed_share=0.0, desc="replay",
        )  # fmt: skip
        return len(answers) / (time.perf_counter() - start)


def _batches(answers: Iterable[Answer]) -> Iterator[list[Answer]]:
    stream = iter(answers)
    while batch := list(islice(stream, BATCH)):
        yield batch


if __name__ == "__main__":
    main()
