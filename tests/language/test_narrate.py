"""Narrate: the wanted cells are told, cells alike share a request, places shown are bounded."""

import json

import pytest

from pipeline.errors import ModelError, ParameterError
from pipeline.language.annotation_prompt import AnnotationPrompt
from pipeline.language.ledger import Ledger
from pipeline.language.narrate import shown_cell
from pipeline.language.prompts import PROMPTS
from pipeline.schemas import schema_document
from tests.language.asked_project import ABSENT, TEMPLATE, AskedProject, trip_called
from tests.language.trips import cell_of

EXAMPLE = schema_document("cell")["examples"][0]


def cell(number: int, **changes) -> dict:
    """Return a row of `cell`; cells of one kind differ in their id alone."""
    return EXAMPLE | {"cell": cell_of(number), "lon": 24.0 + number / 100} | changes


def place(name: str | None, category: str | None = "cafe") -> dict:
    return {"id": f"n{name}", "name": name, "group": "dining", "category": category,
            "lon": 24.0, "lat": 60.0}  # fmt: skip


CELLS = [cell(0), cell(1, district="Foz"), cell(2, district="Baixa"), cell(3, district="Bonfim")]


@pytest.fixture
def project(tmp_path):
    """Four cells, of which the one trip visits the first three."""
    made = AskedProject(tmp_path, [[trip_called("t1")]])
    made.put("cells", CELLS)
    phased = {k: made.rows("planned")[0][k] for k in ("trip_id", "meta", "phases")}
    made.put("phased", [phased], "part-00000.parquet")
    return made


def told(project) -> dict[str, str]:
    return {row["cell"]: row["narrative"] for row in project.rows("narrated")}


def record(project, cells, text="It is {}.") -> None:
    requests = project.narration_requests(cells)
    answers = {item: [json.dumps({"narrative": text.format(item)})] for item in requests}
    project.record(requests, answers)


@pytest.mark.parametrize(("which", "count"), [("none", 0), ("visited", 3), ("all", 4)])
def test_the_citys_file_says_which_cells_are_told(project, which, count):
    project.config["narrate_cells"] = which
    project.set("narrate", engine=TEMPLATE)
    project.run("narrate")
    assert list(told(project)) == [row["cell"] for row in CELLS[:count]]
    figures = project.record_of("narration_metrics")
    assert (figures["cells_wanted"], figures["cells"], figures["requests"]) == (which, 4, count)
    assert (figures["words_mean"] is None) == (count == 0)


def test_another_word_for_which_cells_is_refused(project):
    project.config["narrate_cells"] = "some"
    project.save()
    with pytest.raises(ParameterError, match=r"configs/toy\.yaml: narrate_cells: "):
        project.run("narrate")


def test_each_cell_gets_its_own_narrative_and_provenance(project):
    record(project, CELLS)
    project.run("narrate")
    assert told(project) == {row["cell"]: f"It is {row['cell']}." for row in CELLS}
    keys = {row["key"] for row in project.rows("narration_responses")}
    for row in project.rows("narrated"):
        assert row["provenance"]["response_key"] in keys
        assert row["provenance"]["shots"] == []
    assert project.record_of("narration_metrics")["words_mean"] == 3.0


def test_cells_alike_share_one_request_and_its_tokens(project):
    cells = [cell(number) for number in range(3)]
    project.put("cells", cells)
    record(project, cells[:1], text="All alike.")
    project.run("narrate")
    assert list(told(project).values()) == ["All alike."] * 3
    assert len(project.rows("narration_responses")) == 1
    figures = project.record_of("narration_metrics")
    assert (figures["requests"], figures["ok"], figures["prompt_tokens"]) == (3, 3, 10)


def test_a_cell_without_an_answer_is_rejected(project):
    requests = project.narration_requests(CELLS)
    answers = {item: [json.dumps({"narrative": "Good."})] for item in requests}
    answers[CELLS[1]["cell"]] = ["no", "no"]
    project.record(requests, answers)
    project.run("narrate")
    (rejection,) = project.rows("narrate_rejected")
    assert (rejection["item_id"], rejection["reason"]) == (CELLS[1]["cell"], "malformed")
    assert len(told(project)) == 3


def test_a_second_run_starts_no_engine_and_replay_tells_what_is_missing(project):
    record(project, CELLS)
    project.run("narrate")
    names = ("narrated", "narration_responses", "narrate_rejected")
    first = project.bytes_of(*names)
    project.set("narrate", engine=ABSENT)
    project.run("narrate", replay=True)
    assert project.bytes_of(*names) == first
    project.set("narrate", places=0)
    with pytest.raises(ModelError, match=r"narrate toy: .* found 4 of 4 missing"):
        project.run("narrate", replay=True)


def test_the_template_engine_gives_the_same_bytes_in_every_run(project):
    project.set("narrate", engine=TEMPLATE)
    names = ("narrated", "narration_responses", "narration_metrics", "narration_run")
    project.run("narrate")
    first = project.bytes_of(*names)
    with Ledger(project.root / "store") as ledger:
        ledger.forget(keep=set(), failed=False, dry_run=False)
    project.run("narrate")
    assert project.bytes_of(*names) == first


# ---- what is shown -------------------------------------------------------------------------------


def test_named_places_are_shown_up_to_the_bound_and_categories_in_words():
    row = cell(0, pois=[place(None), place("A", "fast_food_restaurant"), place("B", None),
                        place("C")])  # fmt: skip
    assert shown_cell(row, places=2).places == [
        {"name": "A", "kind": "fast food restaurant"}, {"name": "B", "kind": None},
    ]  # fmt: skip
    assert shown_cell(row, places=0).places == []


@pytest.mark.parametrize("name", ["{{ x }}", 'A "B" & C', "Cafe\u0301", "王府井", "A\nB"])
def test_a_hostile_name_reaches_the_model_as_it_is(project, name):
    row = cell(0, pois=[place(name)], district=name)
    request = project.narration_requests([row])[row["cell"]]
    (line,) = (one for one in request.messages[1].content.split("\n") if one.startswith("{"))
    shown = json.loads(line)
    name = name.replace("e\u0301", "é")
    assert shown["places"][0]["name"] == name
    assert shown["district"] == name


def test_no_id_and_no_coordinate_is_shown(project):
    row = CELLS[0]
    content = project.narration_requests([row])[row["cell"]].messages[1].content
    assert row["cell"] not in content
    assert str(row["lon"]) not in content


def test_the_annotator_is_never_shown_a_narrative():
    prompt = AnnotationPrompt(PROMPTS, shots=2)
    messages, _ = prompt.messages(trip_called("t1"))
    records = [
        line
        for message in messages[1:]
        if message.role == "user"
        for line in message.content.split("\n")
        if line.startswith("{")
    ]
    assert len(records) == 3
    # A form of sentence is called so too, outside the record.
    assert not [record for record in records if "narrative" in record.lower()]
