"""Markdown and page say the same, show any text as it is, and obey none."""

import html
import json
import re
import subprocess
import sys

import pytest

from pipeline import __main__ as command_line
from pipeline.audit.blocks import BesideEachOther, Bullets, Difference, Heading, Paragraph, Table
from pipeline.audit.markdown import markdown
from pipeline.audit.page import page, write_page
from pipeline.audit.printed import print_audit
from pipeline.audit.told import audit_blocks
from pipeline.errors import SourceError
from pipeline.schemas import check_record
from tests.audit.conftest import NASTY


@pytest.fixture(scope="module")
def blocks(report):
    return list(audit_blocks(report))


@pytest.fixture(scope="module")
def written(report, tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "new/audit.html"
    write_page("Audit", audit_blocks(report), file)
    return file


# ---- Markdown ----------------------------------------------------------------------------------


def test_a_table_keeps_its_columns_whatever_a_cell_holds():
    lines = markdown([Table(["text", "n"], [["a|b\nc", "1"]], right=(1,))]).splitlines()
    assert lines == ["| text | n |", "| --- | ---: |", "| a\\|b c | 1 |"]


def test_marks_tags_links_and_commands_are_shown_and_not_obeyed():
    line = markdown([Table(["x"], [[NASTY]])]).splitlines()[2]
    assert "\\<script>" in line
    assert "\\|" in line
    assert "\\`left\\`" in line
    assert "\\[here]" in line
    assert "\\*now\\*" in line
    assert "https:\\//" in line or "https\\://" in line
    assert "\x1b" not in line
    assert "\\x1b" in line


@pytest.mark.parametrize("form", [Paragraph, lambda text: Bullets([text])])
def test_a_command_in_a_sentence_can_be_copied_and_what_is_beside_it_is_not_obeyed(form):
    command = "`dvc repro annotate@helsinki ; a_b *c* [d]`"
    text = f"*x* <b>: run {command} or `git checkout _y_`, not *this*"
    assert markdown([form(text)]).strip().removeprefix("- ") == (
        f"\\*x\\* \\<b>: run {command} or `git checkout _y_`, not \\*this\\*"
    )


@pytest.mark.parametrize("text", ["``x``", "`x", "a ` *b*", "``x` y", "```"])
def test_backticks_that_are_no_pair_mean_nothing(text):
    assert markdown([Paragraph(text)]).strip() == text.replace("`", "\\`").replace("*", "\\*")


def test_code_holds_no_commands_to_a_terminal():
    assert markdown([Paragraph("`\x1b[31m`")]) == "`\\x1b[31m`\n"


@pytest.mark.parametrize("text", ["# no heading", "- no item", "+1", "> no quotation", "=="])
def test_the_beginning_of_a_line_means_nothing(text):
    assert markdown([Paragraph(text)]).startswith("\\")
    assert markdown([Bullets([text])]).startswith("- \\")


def test_names_of_keys_and_numbers_stay_readable():
    text = "retrieval_query_1 of annotate.top_p, p < 0.05, +1 & -2"
    assert markdown([Table(["x"], [[text]])]).splitlines()[2] == f"| {text} |"


def test_a_fence_is_longer_than_any_in_the_lines():
    lines = markdown([Difference("t", ["+````", "-x"])]).splitlines()
    assert lines[2:] == ["`````diff", "+````", "-x", "`````"]


def test_a_missing_text_is_none_and_not_empty():
    block = BesideEachOther("t1", ["why"], ("a", "b"), [("caption", None, "x")])
    assert "| caption | (none) | x |" in markdown([block])
    assert '<span class="none">none</span>' in page("t", [block])


def test_a_trip_with_the_same_texts_has_its_reasons_and_no_empty_table():
    block = BesideEachOther("t1", ["refused"], ("a", "b"), [])
    assert markdown([block]).strip() == "**t1**: refused"
    assert "<table" not in page("t", [block])


# ---- the page ----------------------------------------------------------------------------------


def test_the_page_marks_the_words_that_differ():
    block = BesideEachOther("t1", [], ("a", "b"), [("x", "go left now", "go right <b>now")])
    text = page("t", [block])
    assert "go <del>left</del> now" in text
    assert "go <ins>right</ins> <ins>&lt;b&gt;</ins>now" in text


def test_the_page_holds_no_script_and_points_nowhere(written):
    text = written.read_text("utf-8")
    assert "<script" not in text
    assert not re.findall(r'(?:src|href)="', text)
    assert "url(" not in text


def test_the_page_opens_from_disk_and_shows_any_text_as_it_is(chromium, written):
    chromium.complaints.clear()
    chromium.requests.clear()
    chromium.look(width=1200, height=900, scheme="light")
    chromium.open(written)
    assert chromium.complaints == []
    assert set(chromium.requests) == {written.as_uri()}
    shown = chromium.run("document.body.textContent")
    assert NASTY.replace("\x1b", "\\x1b") in shown
    assert chromium.run("document.scripts.length") == 0
    width = chromium.run("document.documentElement.scrollWidth")
    assert width <= 1200


def test_a_place_that_cannot_be_written_is_one_line(tmp_path):
    with pytest.raises(SourceError, match="expected the name of a file to write"):
        write_page("t", [Heading(1, "x")], tmp_path)


# ---- both --------------------------------------------------------------------------------------


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[\w.%+-]{2,}", text))


def test_markdown_and_page_say_the_same(blocks):
    body = re.sub(r"<style>.*?</style>|<[^>]+>", " ", page("x", blocks), flags=re.DOTALL)
    plain = re.sub(r"\\(?=\W)", "", markdown(blocks))
    missing = words_of(html.unescape(body)) - words_of(plain)
    assert missing <= {"none"}


def test_the_report_tells_draws_causes_reasons_and_corrections(blocks):
    text = markdown(blocks)
    for sentence in (
        "1 trips have other draws, 1 are another trip to the writer; they are not compared",
        "draws: the same in both versions",
        "one thing differs: prompt",
        "refused by annotate: length",
        "No text differs, so neither does any figure of texts.",
        "p (Holm) is adjusted for all figures",
        "Not available: quality control",
    ):
        assert sentence in text, sentence


def test_json_is_the_record_and_a_page_can_go_with_it(report, capsys, tmp_path):
    print_audit(report, page=tmp_path / "a.html", as_json=True)
    record = json.loads(capsys.readouterr().out)
    check_record("audit_report", record, where="printed")
    assert (tmp_path / "a.html").is_file()


# ---- the command -------------------------------------------------------------------------------


def test_the_command_prints_markdown_and_writes_a_page(project, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(project.root)
    file = tmp_path / "audit.html"
    arguments = ["audit", "v1", "workspace", "--city", "helsinki", "--page", str(file)]
    assert command_line.main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("# What changed from v1 to workspace\n")
    assert "## monaco" not in captured.out
    assert captured.err.splitlines()[-1] == f"wrote {file}"
    assert file.is_file()


def test_a_wrong_name_is_one_line_and_exit_code_1(project, monkeypatch, capsys):
    monkeypatch.chdir(project.root)
    for command in ("audit", "diff"):
        assert command_line.main([command, "v1", "v9"]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("error: v9: expected `workspace`")


def test_help_starts_nothing_heavy():
    program = (
        "import sys; from pipeline import __main__ as m\n"
        "try: m.main(['audit', '--help'])\n"
        "except SystemExit: pass\n"
        "sys.exit(bool({'polars', 'dvc', 'scipy', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0
