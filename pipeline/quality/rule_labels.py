"""What people say of findings: right or wrong, by trip, text and rule.

    labels = read_labels(LABELS / "monaco.jsonl")
    labels[("1626278", "trajectory_caption", "off_route_name")]  ->  False

The precision of a rule is the share of its judged findings that people hold right.
"""

from pathlib import Path

import msgspec

from pipeline.errors import SourceError
from pipeline.quality.rules import Rule
from pipeline.quality.tables import TABLES
from pipeline.records import Texts

LABELS = TABLES / "labels"
Labels = dict[tuple[str, str, str], bool]


class RuleLabel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a file of labels."""

    trip_id: str
    field: str
    rule: Rule
    right: bool


def read_labels(file: Path) -> Labels:
    """Return the labels of a city; none where there is no file.

    Raises:
        SourceError: A line is no label, or the same finding is judged in two ways.
    """
    if not file.exists():
        return {}
    labels: Labels = {}
    decoder = msgspec.json.Decoder(RuleLabel)
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        try:
            one = decoder.decode(line)
        except msgspec.DecodeError as fault:
            raise SourceError(
                f"{file.name} line {number}: expected a label as tables/labels/README.md shows one,"
                f" found: {fault}; mend the line"
            ) from fault
        if one.field not in Texts.__struct_fields__:
            raise SourceError(
                f"{file.name} line {number}: expected one of {', '.join(Texts.__struct_fields__)},"
                f" found the field {one.field!r}; mend the line"
            )
        key = (one.trip_id, one.field, one.rule.value)
        if labels.setdefault(key, one.right) != one.right:
            raise SourceError(
                f"{file.name} line {number}: expected one judgement of {one.rule} in {one.field}"
                f" of {one.trip_id}, found another before; leave one"
            )
    return labels
