"""The rubric is one: in the file, the prompt, the answer's schema, the columns, the ratings."""

import json
import re

import pytest

from pipeline.errors import ParameterError
from pipeline.language.prompts import PROMPTS
from pipeline.quality.judge_prompt import JudgePrompt, shown_order
from pipeline.quality.rubric import CRITERIA, RUBRIC_FILE, TASKS, read_rubric, rubric, task_of
from pipeline.records import Scores
from pipeline.schemas import schema_document
from tests.quality.judged import checked_trip


def test_ten_criteria_belong_to_three_tasks_as_in_table_12():
    numbers = [sum(task_of(code) == task for code in CRITERIA) for task in TASKS]
    assert numbers == [4, 3, 3]


def test_the_columns_and_the_ratings_have_the_rubrics_criteria():
    assert Scores.__struct_fields__ == CRITERIA
    judged = schema_document("judged_trip")["properties"]["scores"]["properties"]
    assert tuple(judged) == CRITERIA
    assert tuple(schema_document("rating")["properties"]["criterion"]["enum"]) == CRITERIA


def test_the_answer_is_asked_for_by_the_rubrics_keys_reasons_first():
    schema = json.loads((PROMPTS / "judge/answer.schema.json").read_text("utf-8"))
    for task in rubric().tasks:
        keys = list(schema["properties"][task.code]["properties"])
        assert keys == ["rationale", *(one.key for one in task.criteria)]
        assert schema["properties"][task.code]["required"] == keys


def test_the_prompt_shows_every_question_every_anchor_and_the_scale():
    trip = checked_trip()
    system, _ = JudgePrompt(PROMPTS).messages(trip, shown_order(7, trip.trip_id))
    for task in rubric().tasks:
        for criterion in task.criteria:
            assert criterion.question in system.content
            for score, words in criterion.marks:
                assert f"- {score}: {words}\n" in system.content
    for score, words in rubric().marks:
        assert f"- {score}: {words}\n" in system.content


def test_an_anchor_is_found_by_its_score():
    criterion = rubric().criterion("caption_objectivity")
    assert criterion.anchor(5) == "Facts alone."
    assert criterion.anchor(1) == "A story more than a description."
    with pytest.raises(KeyError):
        rubric().criterion("caption_beauty")


def test_every_word_that_is_edited_gives_it_another_hash_and_a_remark_does_not(tmp_path):
    text = RUBRIC_FILE.read_text("utf-8")
    file = tmp_path / "rubric.yaml"
    hashes = {rubric().hash}
    for before, after in (
        ("- perfect or excellent", "- excellent"),
        ("name: Correctness", "name: Rightness"),
        ("- Facts alone.", "- Facts."),
        ("trip's record does not hold?", "trip's record has not?"),
    ):
        file.write_text(text.replace(before, after, 1), "utf-8")
        hashes.add(read_rubric(file).hash)
    assert len(hashes) == 5
    file.write_text("# a remark\n" + text, "utf-8")
    assert read_rubric(file).hash == rubric().hash


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("key: correctness", "key: rightness", r"tasks: expected instructions_correctness, .*"),
        ("code: queries", "code: searches", "tasks: expected instructions, queries, caption"),
        ("[trajectory_caption]", "[caption]", "tasks: expected instruction_literal, .*"),
        ("          - Facts alone.\n", "", r"tasks\[2\].criteria\[2\].anchors: .*length 5"),
        ("scale:\n", 'version: "1"\nscale:\n', "unknown field `version`"),
    ],
)
def test_a_rubric_that_code_does_not_know_is_refused(tmp_path, before, after, fault):
    text = RUBRIC_FILE.read_text("utf-8")
    assert before in text
    file = tmp_path / "rubric.yaml"
    file.write_text(text.replace(before, after), "utf-8")
    with pytest.raises(ParameterError, match=fault) as refused:
        read_rubric(file)
    assert re.match("rubric.yaml: rubric", str(refused.value))
