"""Texts written without a look at the rules: no rule gets worse than its row.

The README of each set says how its texts were made, what the rules did on them at first, and how
far they were tuned on them since; each row of its tables is what a rule finds, wrongly finds and
misses. `pytest -s` prints them as they are now.
"""

import json
import re
from collections import Counter
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pipeline.quality.check_report import Score, precision_and_recall
from pipeline.quality.inspection import FIELDS
from pipeline.quality.rules import STAGE_OF, Rule
from tests.quality.real_towns import NAMES, settings, town_of

HERE = Path(__file__).parent
# Diversity is a matter of many texts, a repair that was taken back is no fault of a text, and only
# a model lists what is `unsupported`.
ELSEWHERE = {rule for rule in Rule if STAGE_OF[rule] == "diversity"} | {
    Rule.UNSAFE_REPAIR,
    Rule.UNSUPPORTED,
}
# Labelled where it stands since it is a rule; of its own are the texts of test_unrecorded.py.
NEWER = {Rule.UNRECORDED.value}
MEASURED = sorted({rule.value for rule in Rule} - ELSEWHERE)
Z = 1.959964  # of the normal distribution, for 95 %


class TextSet(NamedTuple):
    """Labelled texts and the table of what the rules do on them.

    Attributes:
        folder: Where the texts, their trips and their README are.
        table: What the table is called in the README.
        left_out: The kind of texts that do not count, "" for none.
        wrongly_refused: How many texts, at most.
        wrongly_passed: How many texts, at most.
    """

    folder: str
    table: str
    left_out: str
    wrongly_refused: int
    wrongly_passed: int

    def __str__(self) -> str:
        return f"{self.folder} {self.table}"


SETS = [
    TextSet("held_out", "figures", "", 0, 2),
    TextSet("blind", "figures", "", 26, 14),
    TextSet("blind", "figures without suspicious texts", "suspicious", 7, 14),
    TextSet("blind", "figures now", "", 20, 9),
    TextSet("written", "figures now", "", 2, 6),
    TextSet("written_again", "figures now", "", 1, 9),
    TextSet("written_thrice", "figures now", "", 1, 10),
]
# What was found at first where one rule misses more by now, since others refuse less.
AT_FIRST = [
    TextSet("written", "figures at first", "", 10, 13),
    TextSet("written_again", "figures at first", "", 6, 13),
    TextSet("written_thrice", "figures at first", "", 8, 13),
]
# The sets in the order they were made.
FOLDERS = ["held_out", "blind", "written", "written_again", "written_thrice"]
# Of these about half is wrong, and every rule is labelled somewhere.
BALANCED = ["held_out", "blind"]
of_each_set = pytest.mark.parametrize("texts", SETS, ids=str)
of_each_table = pytest.mark.parametrize("texts", [*SETS, *AT_FIRST], ids=str)
of_each_folder = pytest.mark.parametrize("folder", FOLDERS)
of_each_rule = pytest.mark.parametrize("rule", MEASURED)


def read(file: str) -> list[dict[str, Any]]:
    """Return the lines of a file of labelled texts."""
    return [json.loads(line) for line in (HERE / file).read_text("utf-8").splitlines()]


@cache
def found_in(folder: str) -> dict[str, list[str]]:
    """Return the rules that find something in each text of a folder."""
    return {
        one["id"]: town_of(folder, one["city"]).rules(one["trip_id"], one["field"], one["text"])
        for one in read(f"{folder}/texts.jsonl")
    }


@cache
def wanted(texts: TextSet) -> dict[str, list[str]]:
    """Return the labels of the texts that count."""
    return {
        one["id"]: one["rules"]
        for one in read(f"{texts.folder}/texts.jsonl")
        if not texts.left_out or one["kind"] != texts.left_out
    }


def found(texts: TextSet) -> dict[str, list[str]]:
    """Return the rules that find something in each text that counts."""
    return {name: found_in(texts.folder)[name] for name in wanted(texts)}


@cache
def scores(texts: TextSet) -> dict[str, Score]:
    return precision_and_recall(found(texts), wanted(texts))


def wilson(part: int, whole: int) -> tuple[float, float]:
    """Return the 95 % interval of a share, by Wilson."""
    share = part / whole
    width = Z * sqrt(share * (1 - share) / whole + Z * Z / (4 * whole * whole))
    middle = share + Z * Z / (2 * whole)
    scale = 1 + Z * Z / whole
    return max(0.0, (middle - width) / scale), min(1.0, (middle + width) / scale)


def told(part: int, whole: int) -> str:
    """Return a share with its interval, as the table has it; a dash where there is none."""
    if not whole:
        return "-"
    low, high = wilson(part, whole)
    return f"{part / whole:.2f} ({low:.2f} to {high:.2f})"


def row(rule: str, score: Score) -> str:
    """Return one row of the table."""
    precision = told(score.right, score.right + score.wrong)
    recall = told(score.right, score.right + score.missed)
    return f"| {rule} | {score.right} | {score.wrong} | {score.missed} | {precision} | {recall} |"


def table(texts: TextSet) -> dict[str, str]:
    """Return the rows of a set's table in its README, by rule."""
    readme = (HERE / texts.folder / "README.md").read_text("utf-8")
    block = re.search(rf"<!-- {texts.table} -->\n(.*?)\n<!-- end of figures -->", readme, re.DOTALL)
    assert block is not None
    return {line.split("|")[1].strip(): line for line in block[1].splitlines()[2:]}


def floor(texts: TextSet, rule: str) -> Score:
    """Return what a rule does, as the table has it; a rule that is not there finds nothing."""
    if rule not in table(texts):
        return Score(0, 0, 0)
    right, wrong, missed = (int(cell) for cell in table(texts)[rule].split("|")[2:5])
    return Score(right, wrong, missed)


def flat(file: Path) -> str:
    """Return the words of a file, whatever its lines."""
    return " ".join(file.read_text("utf-8").split())


@of_each_folder
def test_the_texts_are_new_on_trips_that_no_earlier_set_uses(folder):
    texts = read(f"{folder}/texts.jsonl")
    before = [f"{one}/texts.jsonl" for one in FOLDERS[: FOLDERS.index(folder)]]
    earlier = [one for file in ("labelled.jsonl", *before) for one in read(file)]
    assert len(texts) == len({one["text"] for one in texts}) == len({one["id"] for one in texts})
    assert not {one["text"] for one in earlier} & {one["text"] for one in texts}
    assert not {one["trip_id"] for one in earlier} & {one["trip_id"] for one in texts}
    assert {one["field"] for one in texts} == set(FIELDS)
    assert {one["city"] for one in texts} == set(NAMES)


@pytest.mark.parametrize("folder", BALANCED)
def test_about_half_of_the_texts_are_wrong_and_every_rule_on_single_texts_is_labelled(folder):
    policies = settings().rules
    texts = read(f"{folder}/texts.jsonl")
    wrong = [
        one for one in texts if any(policies.action(Rule(rule)) != "flag" for rule in one["rules"])
    ]
    assert 0.4 <= len(wrong) / len(texts) <= 0.6
    labelled = {rule for one in texts for rule in one["rules"]}
    assert labelled <= set(MEASURED) <= labelled | NEWER


def test_a_blind_text_is_called_faulty_where_a_label_stands():
    texts = read("blind/texts.jsonl")
    assert all((one["kind"] == "faulty") == bool(one["rules"]) for one in texts)
    counts = Counter(one["kind"] for one in texts)
    said = f"({counts['faulty']}), else `ordinary` ({counts['ordinary']},"
    assert said in flat(HERE / "blind/README.md")
    assert set(counts) == {"faulty", "ordinary", "suspicious"}


def test_a_share_of_forty_four_in_fifty_seven_has_the_interval_that_wilson_gives():
    low, high = wilson(44, 57)
    assert (round(low, 3), round(high, 3)) == (0.648, 0.862)
    assert wilson(3, 3)[1] == 1.0
    assert told(0, 0) == "-"


@of_each_table
@of_each_rule
def test_the_table_follows_from_its_counts_and_from_the_labels(texts, rule):
    measured = floor(texts, rule)
    assert table(texts).get(rule, row(rule, measured)) == row(rule, measured)
    labels = wanted(texts).values()
    assert measured.right + measured.missed == sum(rule in rules for rules in labels)


@of_each_set
@of_each_rule
def test_no_rule_gets_worse_than_its_row(texts, rule):
    now = scores(texts).get(rule, Score(0, 0, 0))
    print(row(rule, now))
    assert now.missed <= floor(texts, rule).missed
    assert now.wrong <= floor(texts, rule).wrong


@of_each_set
def test_no_more_texts_are_wrongly_refused_or_passed_than_the_readme_says(texts):
    policies = settings().rules

    def refused(rules):
        return any(policies.action(Rule(rule)) == "reject" for rule in rules)

    right, now = wanted(texts), found(texts)
    hard = [name for name in right if refused(now[name]) and not refused(right[name])]
    soft = [name for name in right if refused(right[name]) and not refused(now[name])]
    assert len(hard) <= texts.wrongly_refused, hard
    assert len(soft) <= texts.wrongly_passed, soft
    refusals = texts.wrongly_refused
    were = "was" if refusals == 1 else "were"
    said = f"{refusals} {were} wrongly refused and {texts.wrongly_passed} wrongly passed"
    assert said in flat(HERE / texts.folder / "README.md")


@of_each_table
def test_the_main_readme_has_the_figures_of_names(texts):
    cells = []
    for rule in ("invented_name", "off_route_name"):
        score = floor(texts, rule)
        precision = told(score.right, score.right + score.wrong)
        recall = told(score.right, score.right + score.missed)
        cells.append(f"{precision} and {recall}")
    assert f"| {' | '.join(cells)} |" in flat(HERE.parents[1] / "README.md")
