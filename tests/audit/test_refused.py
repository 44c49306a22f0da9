"""A refused record has the first cause in the chain, not the stage that refused it."""

from pathlib import Path

import polars as pl
import pytest

from pipeline.artifacts import ARTIFACTS
from pipeline.schemas import arrow_schema
from pipeline.tables import write_table
from tests.audit.project import checked, judged, told
from tests.audit.releases import NUMBERS, PARTS, causes, found, release


@pytest.fixture
def before(tmp_path) -> Path:
    return release(tmp_path / "before")


def lose(folder: Path, stage: str, reason: str) -> Path:
    """Write a release in which the last trip was refused by a stage."""

    def change(tables):
        lost = {"item_id": "t4", "raw_trip_id": "t4", "state": "rejected", "stage": stage,
                "reason": reason, "decides": True, "split": None}  # fmt: skip
        row = pl.DataFrame([lost], schema=tables["entries"].schema)
        tables["entries"] = pl.concat([tables["entries"], row])

    return release(folder, change, NUMBERS[:3], PARTS[:3])


def lay(folder: Path, name: str, rows: list[dict]) -> None:
    artifact = ARTIFACTS[name]
    schema = pl.Schema(arrow_schema(str(artifact.schema)))
    file = folder / "toy" / artifact.path / "part-00000.parquet"
    write_table(pl.DataFrame(rows, schema=schema), file, artifact, shown=name)


def annotated(changes: dict | None = None, *, texts: dict | None = None) -> list[dict]:
    """Return four annotated trips; the last one with other provenance and texts."""
    rows = [told(f"t{number}") for number in NUMBERS]
    rows[3] = told("t4", texts=texts, **(changes or {}))
    return rows


ASKED = {"response_key": "c" * 64}
FIELD = "trajectory_caption"
CAPTION = {"trajectory_caption": "It ends in Atlantis."}


@pytest.mark.parametrize(
    ("changes", "caption", "expected"),
    [
        ({}, {}, "check"),
        ({"model": "other", "prompt_hash": "c" * 64, **ASKED}, CAPTION, "model + prompt"),
        ({"prompt_hash": "c" * 64, **ASKED}, CAPTION, "prompt"),
        ({"shots": ["s2"], **ASKED}, CAPTION, "prompt"),
        (ASKED, CAPTION, "params"),
        ({"attempt": 2}, CAPTION, "answer"),
        ({}, CAPTION, "code"),
    ],
)
def test_a_refused_record_has_the_first_cause_in_the_chain_and_the_refused_text(
    before, tmp_path, changes, caption, expected
):
    after = lose(tmp_path / "after", "check", "invented_name")
    lay(before, "annotated", annotated())
    lay(after, "annotated", annotated(changes, texts=caption))
    assert causes(before, after) == [("removed", expected, "check: invented_name", 7)]
    assert causes(after, before) == [("added", expected, "check: invented_name", 7)]
    rows = found(before, after).records.filter(task="captioning").to_dicts()
    written = caption.get("trajectory_caption", "trajectory_caption of t4")
    assert [row["text_after"] for row in rows] == [written]
    assert [row["text_before"] for row in rows] == ["The trip ends at Café 4."]
    literal = found(after, before).records.filter(instance_id="toy/t4/generation/literal")
    assert literal["text_before"].to_list() == ["instruction_literal of t4"]


def test_of_a_trip_that_got_no_texts_the_writer_is_that_of_all_others(before, tmp_path):
    after = lose(tmp_path / "after", "annotate", "length")
    lay(before, "annotated", annotated())
    lay(after, "annotated", [told(f"t{n}", model="other", **ASKED) for n in NUMBERS[:3]])
    assert causes(before, after) == [("removed", "model", "annotate: length", 7)]
    lay(after, "annotated", [told(f"t{n}") for n in NUMBERS[:3]])
    assert causes(before, after) == [("removed", "answer", "annotate: length", 7)]


@pytest.mark.parametrize(
    ("rule", "score", "cause"),
    [("opener", 3, "check"), ("dash", 3, "judge"), ("dash", 5, "selection")],
)
def test_a_trip_that_was_left_out_is_asked_for_checks_and_scores_first(
    before, tmp_path, rule, score, cause
):
    after = lose(tmp_path / "after", "select", "below_cut")
    for folder, finding, given in ((before, "dash", 5), (after, rule, score)):
        lay(folder, "annotated", annotated())
        lay(folder, "checked", [checked(one, rules=[(FIELD, finding)]) for one in annotated()])
        lay(folder, "judged", [judged(f"t{number}", given) for number in NUMBERS])
    assert causes(before, after) == [("removed", cause, "select: below_cut", 7)]


def test_without_the_texts_the_stage_stays_the_cause_and_a_note_says_so(before, tmp_path):
    after = lose(tmp_path / "after", "check", "invented_name")
    lay(after, "annotated", annotated(texts=CAPTION))
    (city,) = found(before, after).report.cities
    assert [one.causes for one in city.causes] == [["check"]]
    (note,) = city.notes
    assert note.startswith("refused trips have the stage that refused them as their cause: ")
    (row,) = found(before, after).records.filter(task="captioning").to_dicts()
    assert row["text_after"] == "It ends in Atlantis."


def test_texts_of_another_form_are_a_note_and_no_fault(before, tmp_path):
    after = lose(tmp_path / "after", "check", "invented_name")
    for folder in (before, after):
        (folder / "toy/annotated").mkdir()
        pl.DataFrame({"trip_id": ["t4"]}).write_parquet(folder / "toy/annotated/part-0.parquet")
    (city,) = found(before, after).report.cities
    assert [one.causes for one in city.causes] == [["check"]]
    (note,) = city.notes
    assert "refused trips have the stage that refused them as their cause: " in note
