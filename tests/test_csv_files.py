"""Whatever a text begins with, a spreadsheet takes it for text; numbers stay numbers."""

import csv
import io
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.csv_files import csv_of, escaped, unescaped
from pipeline.store import StageIO
from pipeline.stride.review import export_list, import_list, read_verdicts, text_hash
from pipeline.stride.tables import csv_text
from tests.test_store import COMPRESS

PIPELINE = Path(__file__).resolve().parent.parent / "pipeline"
FORMULAS = (
    "=1+1", '=HYPERLINK("http://x.test","y")', "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1:A2)",
    "\t=1", "\r=1", "\n=1", "'=1", "''=1", "--", "+", "-", "=",
)  # fmt: skip
HARMLESS = ("", "fine", "a=b", "'quoted'", "-0.5", "+3", "1e-3", "-1.5E+7", ".5", "12:3:4'", " =1")
STARTS = tuple("=+-@\t\r\n")


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_would_run_as_a_formula_is_escaped(text):
    assert not escaped(text).startswith(STARTS)
    assert unescaped(escaped(text)) == text


@pytest.mark.parametrize("text", HARMLESS)
def test_any_other_text_is_as_it_was(text):
    assert escaped(text) == text
    assert unescaped(text) == text


@pytest.mark.parametrize("number", [-0.5, -3, 0, None, True])
def test_what_is_no_text_stays_what_it_is(number):
    assert escaped(number) is number


@given(st.text(alphabet="'=+-@\t\r\nab1.e", max_size=8))
def test_no_cell_starts_a_formula_and_each_comes_back(text):
    cell = escaped(text)
    assert unescaped(cell) == text
    number = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", cell)
    assert number or not cell.startswith(STARTS)
    frame = csv_of(pl.DataFrame({"a": [text], "b": [-1.5]}))
    assert cells(frame)[1][:2] == [cell, "-1.5"]


def test_a_table_keeps_its_numbers_and_loses_no_null():
    frame = pl.DataFrame({"note": [*FORMULAS, None], "n": range(-7, 8)})
    rows = cells(csv_of(frame))
    assert rows[0] == ["note", "n"]
    assert [int(n) for _, n in rows[1:]] == list(range(-7, 8))
    assert [unescaped(note) for note, _ in rows[1:]] == [*FORMULAS, ""]


def test_rows_of_checks_are_escaped():
    rows = [{"question": text, "margin": -0.25, "reason": None} for text in FORMULAS]
    found = cells(csv_text(rows, ("question", "margin", "reason")))[1:]
    assert not any(question.startswith(STARTS) for question, _, _ in found)
    assert {(margin, reason) for _, margin, reason in found} == {("-0.25", "")}


def test_a_plot_of_a_stage_is_escaped(tmp_path):
    plotting = COMPRESS._replace(writes=("loss_plot",), rejects=False)
    with StageIO(plotting, city="toy", root=tmp_path) as store:
        store.write_csv("loss_plot", pl.DataFrame({"reason": ["=1+1"], "items": [-1]}))
    file = tmp_path / "data/toy/plots/loss.csv"
    assert file.read_text("utf-8") == "reason,items\n'=1+1,-1\n"


class Scene:
    def __init__(self, scene_id: str, description: str) -> None:
        self.scene_id, self.description = scene_id, description
        self.category, self.map_id = "@queue", "-map"


def test_verdicts_on_texts_like_formulas_come_back_as_they_were(tmp_path):
    listed, kept = tmp_path / "list.csv", tmp_path / "verdicts.csv"
    scenes = [Scene(f"={n}", text) for n, text in enumerate(FORMULAS)]
    export_list(scenes, listed)
    rows = cells(listed.read_bytes().decode())
    assert not any(cell.startswith(STARTS) for row in rows for cell in row)
    for row in rows[1:]:
        row[2:4] = ["drop", "-no, " + row[6]]
    with listed.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, lineterminator="\r\n").writerows(rows)
    kept.write_text("scene_id,text_sha256,verdict,note\n")
    assert import_list(listed, kept) == len(FORMULAS)
    assert not any(
        cell.startswith(STARTS) for row in cells(kept.read_bytes().decode()) for cell in row
    )
    verdicts = read_verdicts(kept)
    for scene in scenes:
        fault = verdicts.fault(scene.scene_id, scene.description)
        assert fault is not None
        assert fault.detail.startswith("-no, ")
    assert text_hash("=1+1") in kept.read_text("utf-8")


def test_no_other_place_writes_csv():
    writing = re.compile(r"\.write_csv\(|csv\.writer\(|csv\.DictWriter\(")
    ours = {"csv_files.py": 1, "stride/tables.py": 1}
    found = {
        str(file.relative_to(PIPELINE)): len(writing.findall(file.read_text("utf-8")))
        for file in PIPELINE.rglob("*.py")
    }
    own = re.compile(r"\bio\.write_csv\(")  # through the store
    for file in PIPELINE.rglob("*.py"):
        found[str(file.relative_to(PIPELINE))] -= len(own.findall(file.read_text("utf-8")))
    assert {name: count for name, count in found.items() if count} == ours
