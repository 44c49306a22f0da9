"""`python -m pipeline ledger`: answers are counted, carried to another machine, and forgotten."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
from msgspec.structs import replace

from pipeline.__main__ import main
from pipeline.artifacts import Artifact
from pipeline.language.asking import ask
from pipeline.language.ledger import Ledger
from pipeline.language.ledger_command import bytes_words
from pipeline.language.outcome import responses_frame
from pipeline.tables import write_table
from tests.language.engines import MODEL, answer_to, request_about, requests_about, sound

ROOT = Path(__file__).resolve().parent.parent.parent
STORE = ".response_store"
RESPONSES = Artifact("responses", "responses", "shards", "response", "one attempt", "key")


@pytest.fixture
def project(tmp_path, monkeypatch):
    shutil.copy(ROOT / "params.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ledger_says(capsys, *words: str) -> list[str]:
    assert main(["ledger", *words]) == 0
    return capsys.readouterr().out.splitlines()


def fault_of(capsys, *words: str) -> str:
    assert main(["ledger", *words]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    return told


def record(folder: Path, *answers) -> None:
    with Ledger(folder) as ledger:
        ledger.record(answers)


def kept(folder: Path) -> list:
    with Ledger(folder) as ledger:
        return [answer for batch in ledger.stored() for answer in batch]


def put_responses(root: Path, city: str, answers) -> Path:
    """Write answers as a stage does, in two shards."""
    folder = root / "data" / city / "responses"
    for number, half in enumerate((answers[::2], answers[1::2])):
        file = folder / f"part-{number:05d}.parquet"
        write_table(responses_frame(half), file, RESPONSES, shown=file.name)
    return folder


ANSWERS = [sound(request) for request in requests_about(9)]
FAILED = answer_to(request_about("lost"), "Sure!")


# ---- stats --------------------------------------------------------------------------------------


def test_stats_counts_requests_attempts_and_failures_by_task_and_model(project, capsys):
    narrated = replace(
        sound(request_about("cell")), task="narrate", model=replace(MODEL, revision="2"),
        prompt_tokens=None, output_tokens=None,
    )  # fmt: skip
    record(project / STORE, *ANSWERS, FAILED, narrated)
    head, annotate, narrate, size = ledger_says(capsys, "stats")
    assert head.split() == [
        "task", "model", "revision", "requests", "attempts", "ok", "failed", "tokens", "in",
        "tokens", "out", "text",
    ]  # fmt: skip
    assert annotate.split()[:7] == ["annotate", "toy", "(openai)", "1", "10", "10", "9"]
    assert "1 malformed" in annotate
    assert narrate.split()[:9] == [
        "narrate", "toy", "(openai)", "2", "1", "1", "1", "none", "unknown",
    ]  # fmt: skip
    assert "ledger.sqlite: " in size


def test_stats_as_json_has_the_numbers(project, capsys):
    record(project / STORE, *ANSWERS, FAILED)
    (row,) = json.loads("\n".join(ledger_says(capsys, "stats", "--json")))
    assert (row["requests"], row["attempts"], row["ok"], row["failed"]) == (
        10, 10, 9, {"malformed": 1},
    )  # fmt: skip
    assert row["text_bytes"] == sum(len(a.text.encode()) for a in [*ANSWERS, FAILED])


@pytest.mark.parametrize("action", [["stats"], ["export", "x.parquet"], ["gc", "--failed"]])
def test_no_ledger_yet_is_said_so_and_none_is_made(project, capsys, action):
    assert "ledger.sqlite: expected a ledger, found none" in fault_of(capsys, *action)
    assert not (project / STORE).exists()
    assert not (project / "x.parquet").exists()


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 B"), (999, "999 B"), (3100, "3.1 kB"), (25 * 10**10, "250.0 GB")]
)
def test_sizes_are_worded(count, words):
    assert bytes_words(count) == words


# ---- export and import --------------------------------------------------------------------------


def test_what_is_exported_can_be_imported_elsewhere_whole(project, capsys):
    record(project / STORE, *reversed(ANSWERS), FAILED)
    assert ledger_says(capsys, "export", "out/all.parquet") == ["out/all.parquet: 10 answers"]
    (project / STORE).rename(project / "old")
    says = ledger_says(capsys, "import", "out/all.parquet")
    assert says == ["10 answers read: 10 new, 0 already there"]
    assert kept(project / STORE) == kept(project / "old")
    assert [file.name for file in (project / "out").iterdir()] == ["all.parquet"]


def test_the_same_answers_export_to_the_same_bytes_whenever_they_were_recorded(project, capsys):
    many = [sound(request) for request in requests_about(5000)]
    record(project / STORE, *many)
    ledger_says(capsys, "export", "one.parquet")
    shutil.rmtree(project / STORE)
    for start in range(0, 5000, 700):
        record(project / STORE, *reversed(many[start : start + 700]))
    ledger_says(capsys, "export", "two.parquet")
    assert (project / "one.parquet").read_bytes() == (project / "two.parquet").read_bytes()
    assert pl.read_parquet("one.parquet")["key"].is_sorted()


def test_an_export_can_be_of_one_task_or_model(project, capsys):
    other = replace(ANSWERS[1], task="narrate", model=replace(MODEL, model="other"))
    record(project / STORE, ANSWERS[0], other)
    for words in (["--task", "narrate"], ["--model", "other"]):
        ledger_says(capsys, "export", "some.parquet", *words)
        assert pl.read_parquet("some.parquet")["item_id"].to_list() == [other.item_id]


def test_an_empty_export_has_the_columns_and_can_be_imported(project, capsys):
    record(project / STORE)
    assert ledger_says(capsys, "export", "none.parquet") == ["none.parquet: 0 answers"]
    assert ledger_says(capsys, "import", "none.parquet") == [
        "0 answers read: 0 new, 0 already there"
    ]


def test_the_responses_of_a_city_bring_every_answer_back_without_a_model(project, capsys):
    requests = requests_about(9)
    put_responses(project, "porto", ANSWERS)
    ledger_says(capsys, "import", "data/porto/responses")
    with Ledger(project / STORE) as ledger:
        summary = ask(
            lambda: iter(requests), total=9, ledger=ledger, engine=lambda: None, attempts=3,
            most_failed_share=0.0, desc="annotate porto",
        )  # fmt: skip
    assert (summary.reused, summary.sent, summary.engine_started) == (9, 0, False)


def test_an_imported_row_does_not_replace_one_that_is_there(project, capsys):
    record(project / STORE, ANSWERS[0])
    late = replace(ANSWERS[0], text='{"say": "late"}')
    put_responses(project, "porto", [late, ANSWERS[1]])
    says = ledger_says(capsys, "import", "data/porto/responses", "data/porto/responses")
    assert says == ["2 answers read: 1 new, 1 already there"]
    assert ANSWERS[0] in kept(project / STORE)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"status": "good"}, r"row 1 key=\w+: $.status: 'good' is not one of"),
        ({"key": "7"}, "row 1 key=7: $.key: '7' does not match"),
        ({"text": '{"say": "x"'}, "$.text: expected a JSON object, as its status is ok, found"),
        ({"finish_reason": "length"}, "$.finish_reason: 'length' is not one of"),
    ],
)
def test_a_row_that_is_no_response_is_named_and_nothing_is_imported(
    project, capsys, changes, message
):
    frame = responses_frame(ANSWERS[:2])
    row = pl.int_range(pl.len()) == 1
    frame.with_columns(
        pl.when(row).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
        for name, value in changes.items()
    ).write_parquet("bad.parquet")
    responses_frame(ANSWERS[2:]).write_parquet("good.parquet")
    told = fault_of(capsys, "import", "good.parquet", "bad.parquet")
    assert told.startswith("error: bad.parquet row 1 key=")
    assert message.partition("key=")[2].partition(": ")[2] in told
    assert not (project / STORE).exists()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nope", "nope: expected a Parquet file of responses or a folder of such, found none"),
        ("empty", "empty: expected a Parquet file of responses or a folder of such, found none"),
        ("params.yaml", "params.yaml: expected a Parquet file, found"),
        ("other.parquet", "other.parquet: expected the columns key, attempt, item_id, task"),
        ("torn.parquet", "torn.parquet: expected the bytes that were written, found"),
    ],
)
@pytest.mark.parametrize("action", [["import"], ["gc", "--keep"]])
def test_a_file_that_holds_no_responses_is_one_clear_error(project, capsys, path, message, action):
    record(project / STORE, *ANSWERS)
    (project / "empty").mkdir()
    pl.DataFrame({"a": [1]}).write_parquet("other.parquet")
    responses_frame(ANSWERS).write_parquet("torn.parquet")
    torn = project / "torn.parquet"
    torn.write_bytes(torn.read_bytes()[:-30])
    assert message in fault_of(capsys, *action, path)
    assert len(kept(project / STORE)) == 9


def test_responses_are_not_told_to_be_rebuilt(project, capsys):
    pl.DataFrame({"a": [1]}).write_parquet("cells.parquet")
    told = fault_of(capsys, "import", "cells.parquet")
    assert "it is not a file of responses, leave it out" in told
    assert "dvc" not in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--task", "foo"], "--task: expected one of annotate, narrate, found 'foo'"),
        (["--model", "foo"], "--model: expected one of other, toy, found 'foo'"),
        (["--task", "annotate", "--model", "other"], "--model: expected one of toy, found 'other'"),
    ],
)
def test_an_export_of_an_unknown_task_or_model_lists_the_known_ones(
    project, capsys, words, message
):
    other = replace(ANSWERS[1], task="narrate", model=replace(MODEL, model="other"))
    record(project / STORE, ANSWERS[0], other)
    assert message in fault_of(capsys, "export", "x.parquet", *words)
    assert not (project / "x.parquet").exists()


def test_an_export_under_another_ending_is_refused(project, capsys):
    record(project / STORE, *ANSWERS)
    told = fault_of(capsys, "export", "out/x.csv")
    assert "out/x.csv: expected a name that ends in .parquet" in told
    assert not (project / "out").exists()


def test_an_export_to_a_folder_is_refused(project, capsys):
    record(project / STORE, *ANSWERS)
    (project / "out").mkdir()
    assert "out: expected the name of a file to write" in fault_of(capsys, "export", "out")


# ---- gc -----------------------------------------------------------------------------------------


def test_gc_keeps_the_answers_of_the_named_responses_and_forgets_the_others(project, capsys):
    record(project / STORE, *ANSWERS, FAILED)
    folders = [
        str(put_responses(project, "porto", ANSWERS[:4])),
        str(put_responses(project, "monaco", ANSWERS[4:6])),
    ]
    size = sum(len(a.text) for a in [*ANSWERS[6:], FAILED])
    says = ledger_says(capsys, "gc", "--keep", *folders, "--dry-run")
    assert says == ["6 keys to keep", f"would forget 4 answers with {size} B of text"]
    assert len(kept(project / STORE)) == 10
    says = ledger_says(capsys, "gc", "--keep", *folders)
    assert says[:2] == ["6 keys to keep", f"forgot 4 answers with {size} B of text"]
    assert {a.item_id for a in kept(project / STORE)} == {a.item_id for a in ANSWERS[:6]}


def test_gc_forgets_failures_so_that_they_are_asked_again(project, capsys):
    cured = [answer_to(request_about("cured"), "Sure!"), replace(ANSWERS[0], attempt=2)]
    cured[0] = replace(cured[0], key=ANSWERS[0].key)
    record(project / STORE, *cured, *ANSWERS[1:], FAILED)
    says = ledger_says(capsys, "gc", "--failed")
    assert says[0] == "forgot 1 answers with 5 B of text"
    assert len(kept(project / STORE)) == 10  # what failed before it went well is history, and stays


def test_gc_wants_to_be_told_what_to_forget(project, capsys):
    record(project / STORE, *ANSWERS)
    assert "expected --keep PATH..., --failed or --damaged, found none" in fault_of(capsys, "gc")


# ---- where it lies ------------------------------------------------------------------------------


def test_the_ledger_may_lie_anywhere(project, capsys, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("shared")
    text = (project / "params.yaml").read_text("utf-8")
    assert "ledger: {folder: .response_store}" in text
    text = text.replace("{folder: .response_store}", f"{{folder: {elsewhere}}}")
    (project / "params.yaml").write_text(text, encoding="utf-8")
    record(elsewhere, *ANSWERS)
    assert str(elsewhere) in ledger_says(capsys, "stats")[-1]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("{folder: ''}", "ledger.folder: expected `str` of length >= 1"),
        ("{}", "ledger: object missing required field `folder`"),
        ("{folder: x, size: 3}", "ledger: object contains unknown field `size`"),
    ],
)
def test_a_wrong_section_is_one_clear_error(project, capsys, value, message):
    text = (project / "params.yaml").read_text("utf-8")
    text = text.replace("ledger: {folder: .response_store}", f"ledger: {value}")
    (project / "params.yaml").write_text(text, encoding="utf-8")
    assert f"params.yaml: {message}" in fault_of(capsys, "stats")


def test_help_teaches_by_example(capsys):
    with pytest.raises(SystemExit):
        main(["ledger", "--help"])
    told = capsys.readouterr().out
    for action in ("stats", "export", "import", "gc"):
        assert f"python -m pipeline ledger {action}" in told
