"""The README's table of crowd generators is that of the committed metrics."""

import json
import re
from pathlib import Path

from pipeline.stride.maps import CARFREE
from pipeline.stride.table import markdown

ROOT = Path(__file__).resolve().parents[2]


def test_the_scores_are_those_of_the_committed_metrics():
    readme = (ROOT / "README.md").read_text("utf-8")
    block = re.search(r"<!-- scores:.*?-->\n(.*?)\n<!-- end of scores -->", readme, re.DOTALL)
    assert block is not None
    scores = json.loads((ROOT / "data/stride/metrics/scores.json").read_text("utf-8"))
    whole = markdown(scores["generators"])
    table = "\n".join(line for line in whole.split("As published")[0].splitlines() if "|" in line)
    assert block[1] == table, f"paste this table:\n{table}"


def test_the_published_means_are_in_the_table_file_and_not_in_ours():
    text = (ROOT / "data/stride/metrics/scores.md").read_text("utf-8")
    ours, theirs = text.split("As published")
    assert "Text-Crowd" not in ours
    assert "| Text-Crowd | 0.645 ± 0.233 |" in theirs


def test_the_numbers_of_places_texts_and_questions_are_those_of_the_committed_metrics():
    readme = (ROOT / "README.md").read_text("utf-8")
    lint = json.loads((ROOT / "data/stride/metrics/lint.json").read_text("utf-8"))
    counts = f"{lint['released']} texts on the 11 kinds of crowd, {lint['questions']} questions"
    assert counts in " ".join(readme.split())
    made = json.loads((ROOT / "data/stride/metrics/scenarios.json").read_text("utf-8"))
    places = {name.removesuffix(CARFREE) for name in made["by_map"]}
    assert len(places) == 10
    assert "on ten real places of Helsinki and Monaco" in " ".join(readme.split())
