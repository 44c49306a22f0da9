"""Print what the rules find in every labelled text as it stands and spoilt, one text a line.

    python -m tests.quality.every_finding

The first line is the file of the module that grounds names: a reader sees whether it was compiled.
"""

import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from pipeline.quality import grounding
from tests.quality.real_towns import real_town, town_of

HERE = Path(__file__).parent
FIELDS = ("trajectory_caption", "instruction_concise", "retrieval_query_1")
# As it stands; without and with all capitals, with too many blanks, without commas, back to front.
SPOILT: tuple[Callable[[str], str], ...] = (
    str,
    str.lower,
    str.upper,
    lambda text: text.replace(" ", "  "),
    lambda text: text.replace(",", ""),
    lambda text: text[::-1],
)


def findings() -> Iterator[bytes]:
    """Yield what is found in each text, as JSON, for its own trip and for another."""
    draw = random.Random(0)
    for folder in ("", "held_out", "blind"):
        file = HERE / folder / "texts.jsonl" if folder else HERE / "labelled.jsonl"
        for line in file.read_text("utf-8").splitlines():
            one = json.loads(line)
            town = town_of(folder, one["city"]) if folder else real_town(one["city"])
            for trip_id in (one["trip_id"], draw.choice(sorted(town.trips))):
                for spoil in SPOILT:
                    for field in FIELDS:
                        found = town.inspect(trip_id, field, spoil(one["text"]))
                        yield msgspec.json.encode(
                            (found.reading.text, found.mentions, found.claims, found.repairs,
                             found.findings)
                        )  # fmt: skip


if __name__ == "__main__":
    sys.stdout.write(f"{grounding.__file__}\n")
    for found in findings():
        sys.stdout.write(f"{found.decode()}\n")
