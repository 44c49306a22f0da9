"""How `stride compile` without a model reads plain texts: sensible, refused, or silently wrong.

python -m bench.stride_compile                 the labelled sets of tests/stride, with figures
python -m bench.stride_compile --texts         and what each text was read as

A label says which ways of moving are right for a text (none: it must be refused), the numbers it
states, and values of measures that such a crowd can have. Sensible: one of these ways with these
numbers and ranges that hold these values, or refused where that is right. Silently wrong: any other
answer. The rest is refused where an answer was possible.
"""

import argparse
import math
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from pipeline.stride.cues import DENSE
from pipeline.stride.patterns import PatternBank, patterns
from pipeline.stride.spec_records import Bound

HERE = Path(__file__).resolve().parents[1] / "tests" / "stride"
SETS = (
    "plain_texts.yaml",
    "plain_texts_blind.yaml",
    "plain_texts_denied.yaml",
    "plain_texts_denied_blind.yaml",
)


def labelled(name: str) -> list[dict[str, Any]]:
    """Return the texts of a set with their labels; empty where there is no such set."""
    file = HERE / name
    return yaml.safe_load(file.read_text("utf-8"))["texts"] if file.exists() else []


def outcome(one: dict[str, Any], bank: PatternBank) -> tuple[str, str]:
    """Return how a text was read (sensible, refused or wrong), and as what."""
    reading = bank.read(one["text"])
    if reading.pattern is None:
        right = not one["patterns"] or "none" in one["patterns"]
        return ("sensible" if right else "refused"), reading.refused
    said = f"{reading.pattern}: " + ", ".join(sign.words for sign in reading.decided)
    if reading.pattern not in one["patterns"]:
        return "wrong", said
    for fault in _faults(one, bank):
        return "wrong", f"{said}; {fault}"
    return "sensible", said


def _faults(one: dict[str, Any], bank: PatternBank) -> list[str]:
    """Return which numbers of a text were not read as its label has them, and which ranges."""
    reading = bank.read(one["text"])
    asked = bank.specification(str(reading.pattern), reading).questions
    bounds = {bound.function: bound for question in asked for bound in question.measurements}
    people, faults = reading.stated.people, []
    wanted = one.get("people")
    least, most = wanted if isinstance(wanted, list) else (wanted, wanted)
    if (people is None) != (wanted is None) or (people and not least <= people.middle <= most):
        faults.append(f"people {people}, expected {wanted}")
    pace, speed = one.get("speed_mps"), bounds["mean_speed"]
    if pace and not (
        speed.min and speed.max and 0.5 * pace <= speed.min <= pace <= speed.max <= 1.5 * pace
    ):
        faults.append(f"mean_speed {speed.min} to {speed.max}, expected around {pace}")
    dense = bounds.get("physical_density")
    if one.get("dense") and not (dense and dense.min and dense.min >= 2.5):
        faults.append("not bound to be dense")
    if not one.get("dense") and DENSE in reading.also:
        faults.append("read as body to body")
    for function, value in one.get("allows", {}).items():
        bound = bounds.get(function)
        if bound and not _holds(bound, value):
            faults.append(f"{function} {bound.min} to {bound.max}, expected to hold {value}")
    return faults


def _holds(bound: Bound, value: float) -> bool:
    low = -math.inf if bound.min is None else bound.min
    high = math.inf if bound.max is None else bound.max
    return low - bound.delta_value <= value <= high + bound.delta_value


def main() -> int:
    """Print the figures of every set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", action="store_true", help="print every text")
    arguments = parser.parse_args()
    bank = patterns()
    for name in SETS:
        texts = labelled(name)
        found = [(*outcome(one, bank), one) for one in texts]
        if arguments.texts:
            for kind, said, one in found:
                wanted = ", ".join(one["patterns"]) or "none"
                print(f"{kind:8} | {one['text']} | {said} | expected {wanted}")
        count = Counter(kind for kind, _, _ in found)
        if texts:
            print(
                f"{name}: {len(texts)} texts; sensible {count['sensible']}, refused"
                f" {count['refused']}, silently wrong {count['wrong']}"
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
