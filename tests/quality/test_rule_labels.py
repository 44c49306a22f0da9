"""People's labels of findings: read line by line, and held against one another."""

import pytest

from pipeline.errors import SourceError
from pipeline.quality.rule_labels import read_labels

LINE = '{"trip_id": "t1", "field": "trajectory_caption", "rule": "off_route_name", "right": %s}\n'


def test_a_city_without_labels_has_none(tmp_path):
    assert read_labels(tmp_path / "toy.jsonl") == {}


def test_a_label_is_found_by_trip_text_and_rule(tmp_path):
    (tmp_path / "toy.jsonl").write_text(LINE % "false", "utf-8")
    labels = read_labels(tmp_path / "toy.jsonl")
    assert labels == {("t1", "trajectory_caption", "off_route_name"): False}


def test_the_same_label_twice_is_one(tmp_path):
    (tmp_path / "toy.jsonl").write_text(LINE % "true" * 2, "utf-8")
    assert len(read_labels(tmp_path / "toy.jsonl")) == 1


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (LINE % "true" + LINE % "false", "toy.jsonl line 2: expected one judgement of"),
        (
            LINE.replace("off_route_name", "off_topic") % "true",
            "toy.jsonl line 1: expected a label",
        ),
        (
            LINE.replace("trajectory_caption", "caption") % "true",
            "toy.jsonl line 1: expected one of instruction_literal, .*, found the field 'caption'",
        ),
        ("no JSON\n", "toy.jsonl line 1: expected a label"),
    ],
)
def test_a_broken_label_is_one_line_that_names_the_place(tmp_path, lines, message):
    (tmp_path / "toy.jsonl").write_text(lines, "utf-8")
    with pytest.raises(SourceError, match=message):
        read_labels(tmp_path / "toy.jsonl")
