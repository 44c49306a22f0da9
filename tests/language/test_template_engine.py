"""The template engine answers each request once, the same way whatever the prompt or the order."""

import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from pipeline.language.engines import engine_for
from pipeline.language.engines.settings import LocalExecutor, TemplateSettings
from pipeline.language.engines.template import BANKS, WINDOW, TemplateEngine, template_revision
from pipeline.language.engines.template.planning import LIMIT
from pipeline.language.engines.template.reading import revision_of
from pipeline.language.narrate import ShownCell
from pipeline.language.requests import Answer, Message, ModelId, Request, Sampling
from tests.language.template_trips import trip_number

ROOT = Path(__file__).resolve().parents[2]
MODEL = ModelId("template", "template", template_revision())


def request(number: int, *, prompt: str = "p", key: str | None = None) -> Request:
    trip = trip_number(number)
    return Request(
        item_id=trip.trip_id,
        task="annotate",
        messages=(Message("user", prompt),),
        schema={},
        model=MODEL,
        sampling=Sampling(temperature=0.0, top_p=1.0, max_tokens=1),
        facts=trip,
        key=key or f"key-{number}",
    )


def answered(requests: list[Request]) -> list[Answer]:
    with TemplateEngine() as engine:
        return [answer for some in engine.answers(requests) for answer in some]


def test_every_request_gets_one_answer_named_template_and_counts_no_tokens():
    requests = [request(number) for number in range(2 * WINDOW + 3)]
    answers = answered(requests)
    assert [answer.key for answer in answers] == [each.key for each in requests]
    assert {(a.status, a.reason, a.finish_reason) for a in answers} == {("ok", "", "stop")}
    assert {answer.model for answer in answers} == {MODEL}
    assert {(a.prompt_tokens, a.output_tokens) for a in answers} == {(None, None)}


def test_requests_are_pulled_a_window_at_a_time():
    pulled = []

    def endless():
        for number in range(10_000):
            pulled.append(number)
            yield request(number)

    with TemplateEngine() as engine:
        assert len(next(engine.answers(endless()))) == WINDOW
    assert len(pulled) == WINDOW


def test_neither_prompt_nor_key_nor_order_nor_attempt_changes_a_text():
    plain = {a.item_id: a.text for a in answered([request(number) for number in range(20)])}
    other = [request(number, prompt="another", key=f"k{number}") for number in range(20)]
    other = [msgspec.structs.replace(each, attempt=2) for each in reversed(other)]
    assert {a.item_id: a.text for a in answered(other)} == plain


def test_the_same_trip_gets_the_same_bytes_in_another_process():
    script = (
        "from tests.language.test_template_engine import answered, request\n"
        "import sys; sys.stdout.write('\\n'.join(a.text for a in answered("
        "[request(n) for n in range(40)])))"
    )
    here = "\n".join(answer.text for answer in answered([request(n) for n in range(40)]))
    told = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": "1234"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == here


def test_the_nine_fields_stand_in_the_order_of_the_paper():
    (answer,) = answered([request(1)])
    assert re.findall(r'"(\w+)":"', answer.text) == [
        "_intent_planning", "_retrieval_planning",
        "instruction_literal", "instruction_concise", "instruction_chatty",
        "retrieval_query_1", "retrieval_query_2", "retrieval_query_3",
        "trajectory_caption",
    ]  # fmt: skip


ENTRY = re.compile(r'"(?:[^"\\]|\\.)*"')


def test_every_name_in_a_text_is_traced_to_its_phase_by_the_planning_fields():
    name = re.compile(r"(?:Gata [A-Z]|Bistrot Q)(\d+)[xz]")
    for number in range(400):
        (answer,) = answered([request(number)])
        fields = msgspec.json.decode(answer.text)
        planned = fields["_intent_planning"] + " | " + fields["_retrieval_planning"]
        if max(len(fields[f]) for f in ("_intent_planning", "_retrieval_planning")) > LIMIT - 60:
            continue  # cut off at its limit
        traced = {msgspec.json.decode(entry) for entry in ENTRY.findall(planned)}
        for field, text in fields.items():
            if not field.startswith("_"):
                assert {found[0] for found in name.finditer(text)} <= traced, text


def test_planning_entries_name_phases_that_hold_what_they_name():
    for number in range(200):
        trip = trip_number(number)
        (answer,) = answered([request(number)])
        planned = msgspec.json.decode(answer.text)["_intent_planning"]
        for entry in planned.split(" | "):
            road = re.search(r'"(Gata [A-Z]\d+x)" phases? ([\d,]+)$', entry)
            if road and "," not in road[2]:
                assert road[1] in trip.phases[int(road[2])].road_names, entry


def test_engine_for_gives_the_template_engine():
    engine = engine_for(TemplateSettings(), LocalExecutor())
    assert isinstance(engine, TemplateEngine)


def test_the_revision_is_of_banks_and_vocabulary(tmp_path):
    folder = copy_of_banks(tmp_path)
    assert revision_of(folder) == template_revision()
    for file in (folder / "zones.yaml", folder.parent / "vocabulary.yaml"):
        file.write_text(file.read_text("utf-8") + "# a word\n", "utf-8")
        assert revision_of(folder) != template_revision()
        file.write_text(file.read_text("utf-8").removesuffix("# a word\n"), "utf-8")
    assert revision_of(folder) == template_revision()


def copy_of_banks(tmp_path: Path) -> Path:
    folder = tmp_path / "template"
    folder.mkdir()
    for file in (*BANKS.glob("*.yaml"), BANKS.parent / "vocabulary.yaml"):
        place = folder.parent if file.stem == "vocabulary" else folder
        (place / file.name).write_bytes(file.read_bytes())
    return folder


CELL = ShownCell(
    kind="GREEN/PARK",
    natural=["park", "tree"],
    commercial=["dining"],
    public_facilities=[],
    residential="none",
    district="Kluuvi",
    places=[{"name": "Kiasma", "kind": "museum"}, {"name": "A; B", "kind": "cafe"}],
    road_metres={"residential": 120},
)


def narrative(cell: ShownCell, item: str = "8a1126d06cb7fff") -> str:
    asked = msgspec.structs.replace(request(1), task="narrate", item_id=item, facts=cell)
    (answer,) = answered([asked])
    return msgspec.json.decode(answer.text)["narrative"]


@pytest.mark.parametrize("item", ["a", "b", "c", "d", "e"])
def test_a_narrative_tells_what_the_cell_holds_and_names_what_can_be_named(item):
    text = narrative(CELL, item)
    assert "green" in text
    assert "a park, trees, a museum and a cafe" in text
    assert "Kiasma" in text
    assert ";" not in text
    assert "GREEN/PARK" not in text


@pytest.mark.parametrize("item", ["a", "b", "c", "d", "e"])
def test_a_cell_with_nothing_in_it_gets_one_short_sentence(item):
    bare = ShownCell("", [], [], [], "none", None, [], {})
    assert narrative(bare, item) == "Little is known of this spot."
