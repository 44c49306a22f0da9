"""What a text states of its plan, held against labels that were given by reading the texts."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from pipeline.records import Target
from pipeline.release.stated import Name, stated_targets

ROOT = Path(__file__).resolve().parents[2]
LABELS = Path(__file__).with_name("stated")


class Labelled(NamedTuple):
    text: str
    mentions: list[Name]
    targets: list[Target]
    stated: list[Target | None]


def seeds() -> dict[str, dict[str, Any]]:
    files = (ROOT / "prompts" / "annotate" / "seeds").glob("*.jsonl")
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    return {seed["seed_id"]: seed for seed in map(json.loads, lines)}


def mentions_in(text: str, trip: dict[str, Any]) -> list[Name]:
    """Find the names of the trip in a text, the longest first, as quality control would."""
    ids = {place["name"]: place["id"] for place in trip["places"]}
    names = {*ids, *(name for phase in trip["phases"] for name in phase["road_names"])}
    names |= {phase["desc"].rpartition("District: ")[2] for phase in trip["phases"]} - {""}
    found, taken = [], [False] * len(text)
    for name in sorted(names, key=len, reverse=True):
        at = text.find(name)
        while at >= 0:
            if not any(taken[at : at + len(name)]):
                taken[at : at + len(name)] = [True] * len(name)
                found.append(Name(at, at + len(name), name, ids.get(name, "")))
            at = text.find(name, at + 1)
    return found


def labelled(file: str) -> list[Labelled]:
    rows, known = [], seeds()
    for line in (LABELS / file).read_text("utf-8").splitlines():
        label = json.loads(line)
        trip = known[label["seed_id"]]["trip"]
        text = known[label["seed_id"]]["answer"][label["field"]]
        plan = trip["intents"]
        if label["field"].startswith("retrieval"):
            plan = plan["queries"][int(label["field"][-1]) - 1]
        targets = msgspec.convert(plan["targets"], list[Target])
        stated: list[Target | None] = [
            None if k in label["unstated"] else target for k, target in enumerate(targets)
        ]
        for k, names in label["names"].items():
            stated[int(k)] = msgspec.structs.replace(targets[int(k)], names=names)
        rows.append(Labelled(text, mentions_in(text, trip), targets, stated))
    return rows


def faults(rows: list[Labelled]) -> tuple[int, list[str], list[str]]:
    """Return how many targets are stated, those wrongly said to be, and those missed."""
    wrong, missed, total = [], [], 0
    for row in rows:
        for target, right in zip(row.targets, row.stated, strict=True):
            (found, *_) = [*stated_targets(row.text, row.mentions, [target]), None]
            total += right is not None
            if found != right and found is not None:
                wrong.append(f"{row.text} -> {found}")
            if found != right and right is not None:
                missed.append(f"{row.text} -> {right}")
    return total, wrong, missed


@pytest.mark.parametrize("file", sorted(one.name for one in LABELS.glob("*.jsonl")))
def test_what_readers_found_stated_is_found(file):
    total, wrong, missed = faults(labelled(file))
    print(file, total, "stated; wrong:", *wrong, "missed:", *missed, sep="\n")
    assert total >= 150
    assert len(wrong) <= 0.02 * total
    assert len(missed) <= 0.05 * total
