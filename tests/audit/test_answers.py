"""Two ledgers compare by trip; what a ledger does not know stays unknown."""

import msgspec
import polars as pl
import pytest

from pipeline.audit.audit import audit
from pipeline.audit.report import Reason
from pipeline.errors import SourceError
from pipeline.language.ledger import FILE, Ledger
from pipeline.language.outcome import responses_frame
from pipeline.language.requests import Answer, ModelId
from pipeline.schemas import check_record
from tests.audit.conftest import NONE
from tests.language.asked_project import nine


def answer(trip: str, mark: str = "one", *, key: str = "a", **changes) -> Answer:
    made = Answer(
        key=f"{key}-{trip}".encode().hex().zfill(64), attempt=1, item_id=trip, task="annotate",
        status="ok", reason="", text=nine(f"{trip} {mark}"), finish_reason="stop",
        model=ModelId("vllm", "toy", "1"), prompt_tokens=None, output_tokens=None,
    )  # fmt: skip
    return msgspec.structs.replace(made, **changes)


def write(file, answers) -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    responses_frame(answers).write_parquet(file)
    return str(file)


@pytest.fixture
def old(tmp_path) -> str:
    return write(tmp_path / "old.parquet", [answer(one) for one in ("t1", "t2", "t3")])


def test_answers_pair_by_trip_and_draws_are_unknown(tmp_path, old):
    new = write(
        tmp_path / "new.parquet",
        [
            answer("t1"),
            answer("t2", "two", key="b", model=ModelId("vllm", "toy", "2")),
            answer("t3", key="b", status="length", reason="cut", text="{"),
            answer("t4"),
        ],
    )
    (city,) = audit(tmp_path, old, new, options=NONE._replace(worse=5)).cities
    rows = city.rows
    assert (rows.before, rows.after, rows.paired, rows.changed) == (3, 3, 2, 1)
    assert (rows.other_draws, rows.other_trip, rows.other_request) == (None, None, 1)
    assert rows.why_only_before == [Reason("annotate", "length", 1)]
    assert rows.why_only_after == [Reason("", "no such trip there", 1)]
    assert [one.cause for one in city.causes if one.differs] == ["model"]
    assert {one.part for one in city.absent} == {"quality control", "scores of the judge"}
    (lost,) = city.worse
    assert (lost.trip_id, lost.why) == ("t3", ["no texts any more: length"])


def test_answers_to_other_requests_differ_in_something_that_a_ledger_does_not_tell(tmp_path, old):
    new = write(tmp_path / "new.parquet", [answer("t1", key="b"), answer("t2", key="b")])
    (city,) = audit(tmp_path, old, new, options=NONE).cities
    assert city.attribution.startswith("Something that decides the texts differs, as 2 of the")
    assert [one.cause for one in city.causes if one.differs] == []


def test_the_answer_of_a_request_is_its_first_good_attempt(tmp_path, old):
    bad = answer("t1", status="malformed", reason="no JSON", text="no")
    new = write(tmp_path / "new.parquet", [bad, answer("t1", "again", attempt=2), answer("t2")])
    (city,) = audit(tmp_path, old, new, options=NONE).cities
    assert (city.rows.paired, city.rows.changed) == (2, 1)


def test_a_trip_asked_about_by_several_requests_is_left_out_and_counted(tmp_path, old):
    new = write(
        tmp_path / "new.parquet", [answer("t1"), answer("t1", "two", key="b"), answer("t2")]
    )
    (city,) = audit(tmp_path, old, new, options=NONE).cities
    assert city.rows.after == 1
    assert city.notes == [f"{new}: trips left out: 1; several requests are about each"]


def test_a_ledger_and_a_folder_of_responses_are_as_good_as_an_export(tmp_path, old):
    folder = tmp_path / "store"
    with Ledger(folder) as ledger:
        ledger.record([answer("t1"), answer("t2"), answer("c1", task="narrate")])
    shards = tmp_path / "responses"
    write(shards / "part-00000.parquet", [answer("t1")])
    write(shards / "part-00001.parquet", [answer("t3")])
    for given, count in ((folder, 2), (folder / FILE, 2), (shards, 2)):
        report = audit(tmp_path, old, str(given), options=NONE)
        assert (report.after.kind, report.cities[0].rows.paired) == ("answers", count)
        check_record("audit_report", msgspec.to_builtins(report), where="report")


def test_a_ledger_and_data_do_not_compare(tmp_path, old):
    with pytest.raises(SourceError, match="two of a kind"):
        audit(tmp_path, old, "workspace", options=NONE)


def test_a_table_without_answers_is_one_line(tmp_path, old):
    empty = write(tmp_path / "empty.parquet", [])
    with pytest.raises(SourceError, match="expected answers of the task annotate, found none"):
        audit(tmp_path, old, empty, options=NONE)
    other = tmp_path / "other.parquet"
    pl.DataFrame({"x": [1]}).write_parquet(other)
    with pytest.raises(Exception, match="expected the columns"):
        audit(tmp_path, old, str(other), options=NONE)
