"""A release diff counts every record once and names what made it another one."""

import json
import shutil
from pathlib import Path

import msgspec
import polars as pl
import pytest

from pipeline.artifacts import ARTIFACTS
from pipeline.audit.diff import RECORD_COLUMNS, diff
from pipeline.audit.printed import print_diff
from pipeline.errors import SourceError
from tests.audit.releases import MAKERS, NUMBERS, PARTS, Change, causes, found, release


def of_told(first: int, **columns: pl.Expr) -> Change:
    """Return a change of the first so many trips."""

    def change(tables):
        rows = tables["told"].with_row_index("row")
        few = pl.col("row") < first
        tables["told"] = rows.with_columns(
            pl.when(few).then(value).otherwise(pl.col(name)).alias(name)
            for name, value in columns.items()
        ).drop("row")

    return change


def provenance(**fields: object) -> pl.Expr:
    values = {name: pl.lit(value) for name, value in fields.items()}
    return pl.col("provenance").struct.with_fields(**values)


def texts(**fields: str) -> pl.Expr:
    values = {name: pl.lit(value) for name, value in fields.items()}
    return pl.col("texts").struct.with_fields(**values)


@pytest.fixture
def before(tmp_path) -> Path:
    return release(tmp_path / "before")


def test_the_same_release_differs_in_nothing(before, tmp_path):
    compared = found(before, release(tmp_path / "after"))
    (city,) = compared.report.cities
    assert [one.same for one in city.tasks] == [12, 12, 4]
    assert (city.causes, city.files, city.fields, city.notes) == ([], [], [], [])
    assert (compared.records.height, compared.records.columns) == (0, list(RECORD_COLUMNS))


# ---- one cause at a time, of the seven records of one trip ---------------------------------------

OTHER_REQUEST = {"response_key": "c" * 64}
PROMPT = {"prompt_hash": "c" * 64, **OTHER_REQUEST}


@pytest.mark.parametrize(
    ("cause", "columns"),
    [
        ("model", {"provenance": provenance(model="other", **OTHER_REQUEST)}),
        ("model", {"provenance": provenance(revision="2", **OTHER_REQUEST)}),
        ("prompt", {"provenance": provenance(**PROMPT)}),
        ("prompt", {"provenance": provenance(shots=["seed-2"], **OTHER_REQUEST)}),
        ("model + prompt", {"provenance": provenance(model="other", **PROMPT)}),
        ("params", {"provenance": provenance(**OTHER_REQUEST)}),
        ("answer", {"provenance": provenance(attempt=2)}),
    ],
)
def test_provenance_names_the_cause_of_all_records_of_a_trip(before, tmp_path, cause, columns):
    after = release(tmp_path / "after", of_told(1, **columns))
    assert causes(before, after) == [("changed", cause, "", 7)]


def test_a_text_that_differs_with_its_prompt_is_the_prompts(before, tmp_path):
    columns = {"provenance": provenance(**PROMPT), "texts": texts(trajectory_caption="Another.")}
    compared = found(before, release(tmp_path / "after", of_told(1, **columns)))
    (city,) = compared.report.cities
    assert {one.aspect: one.records for one in city.aspects} == {
        "prompt": 7, "request": 7, "text": 1,
    }  # fmt: skip
    row = compared.records.filter(task="captioning").to_dicts()[0]
    assert (row["instance_id"], row["causes"]) == ("toy/t1/captioning/1", "prompt")
    assert (row["text_before"], row["text_after"]) == ("The trip ends at Café 1.", "Another.")


def test_a_text_that_differs_though_nothing_else_does_is_the_programs(before, tmp_path):
    after = release(tmp_path / "after", of_told(2, texts=texts(instruction_literal="Go.")))
    assert causes(before, after) == [("changed", "code", "", 2)]


def test_a_finding_is_quality_controls(before, tmp_path):
    def change(tables):
        finding = pl.element().struct.with_fields(rule=pl.lit("opener"))
        of_told(1, findings=pl.col("findings").list.eval(finding))(tables)

    assert causes(before, release(tmp_path / "after", change)) == [("changed", "check", "", 1)]


def test_a_text_that_was_mended_otherwise_is_quality_controls(before, tmp_path):
    def change(tables):
        repair = pl.element().struct.with_fields(rule=pl.lit("dash"))
        of_told(
            1, repairs=pl.col("repairs").list.eval(repair), texts=texts(retrieval_query_2="a, b")
        )(tables)

    assert causes(before, release(tmp_path / "after", change)) == [("changed", "check", "", 1)]


def test_another_judge_is_the_judges(before, tmp_path):
    def change(tables):
        first = pl.col("trip_id") == "t1"
        model = pl.when(first).then(pl.lit("strict")).otherwise(pl.col("model"))
        tables["judged"] = tables["judged"].with_columns(model=model)

    assert causes(before, release(tmp_path / "after", change)) == [("changed", "judge", "", 7)]


def test_another_score_of_the_same_judge_and_text_is_the_judges(before, tmp_path):
    def change(tables):
        score = pl.when(pl.col("trip_id") == "t1").then(3.0).otherwise("score")
        tables["selected"] = tables["selected"].with_columns(score=score)

    assert causes(before, release(tmp_path / "after", change)) == [("changed", "judge", "", 7)]


def test_another_path_is_another_trip(before, tmp_path):
    def change(tables):
        times = pl.col("t_enter_s").list.eval(pl.element() + 1)
        first = pl.col("trip_id") == "t1"
        tables["matched"] = tables["matched"].with_columns(
            t_enter_s=pl.when(first).then(times).otherwise("t_enter_s")
        )

    assert causes(before, release(tmp_path / "after", change)) == [("changed", "trip", "", 7)]


def test_other_draws_are_the_cause_of_every_text_of_the_trip(before, tmp_path):
    """Another persona is asked for by another request; the queries' own draws are the same."""
    intents = pl.col("intents").struct.with_fields(persona=pl.lit("tourist"))
    after = release(
        tmp_path / "after",
        of_told(1, intents=intents, provenance=provenance(**OTHER_REQUEST)),
    )
    assert causes(before, after) == [("changed", "draws", "", 7)]


def test_another_split_is_told_as_such_and_moves_candidates(before, tmp_path):
    compared = found(before, release(tmp_path / "after", splits=["train", "val", "val", "test"]))
    (city,) = compared.report.cities
    assert [(one.causes, one.records) for one in city.causes] == [(["split"], 7)]
    assert city.files == ["candidates differs"]


# ---- new and gone ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stage", "reason", "cause"),
    [
        ("check", "invented_name", "check"),
        ("select", "below_cut", "selection"),
        ("annotate", "length", "answer"),
        ("plan_intents", "no_destination", "draws"),
        ("compress", "too_few_phases", "trip"),
    ],
)
def test_a_gone_record_has_the_cause_of_the_stage_where_its_trip_ended(
    before, tmp_path, stage, reason, cause
):
    def change(tables):
        lost = pl.DataFrame(
            {
                "item_id": ["t4"], "raw_trip_id": ["t4"], "state": ["rejected"],
                "stage": [stage], "reason": [reason], "decides": [True],
                "split": pl.Series([None], dtype=pl.String),
            }
        )  # fmt: skip
        tables["entries"] = pl.concat([tables["entries"], lost])

    after = release(tmp_path / "after", change, NUMBERS[:3], PARTS[:3])
    detail = f"{stage}: {reason}"
    assert causes(before, after) == [("removed", cause, detail, 7)]
    assert causes(after, before) == [("added", cause, detail, 7)]


def test_a_trip_that_nobody_knows_there_is_another_trip(before, tmp_path):
    after = release(tmp_path / "after", numbers=NUMBERS[:3], splits=PARTS[:3])
    assert causes(before, after) == [("removed", "trip", "no such trip there", 7)]


def test_a_published_release_without_a_loss_ledger_says_that_it_does_not_know(before, tmp_path):
    after = release(tmp_path / "after", numbers=NUMBERS[:3], splits=PARTS[:3])
    published = tmp_path / "published"
    published.mkdir()
    (after / "toy/release").rename(published / "toy")
    compared = found(before, published)
    (city,) = compared.report.cities
    assert [(one.causes, one.records) for one in city.causes] == [(["unknown"], 7)]
    assert city.notes == [
        f"{published}: no loss.parquet, so it is not known why removed records are not there"
    ]


def test_a_city_that_only_one_version_has_is_new_or_gone_as_a_whole(before, tmp_path):
    after = release(tmp_path / "after")
    shutil.copytree(after / "toy", after / "porto")
    compared = diff(before, str(before), str(after), cities=[])
    toy, porto = compared.report.cities
    assert toy.causes == []
    assert (porto.city, porto.trips_before, porto.trips_after) == ("porto", 0, 4)
    assert [(one.state, one.causes, one.records) for one in porto.causes] == [
        ("added", ["city"], 28)
    ]
    gone = diff(before, str(after), str(before), cities=["porto"]).report.cities[0]
    assert [(one.state, one.causes, one.records) for one in gone.causes] == [
        ("removed", ["city"], 28)
    ]
    with pytest.raises(SourceError, match=r"^rome: expected a city of either version"):
        diff(before, str(before), str(after), cities=["rome"])


# ---- schemas and faults ------------------------------------------------------------------------


def test_a_new_field_changes_every_record_of_its_task_and_no_other(before, tmp_path):
    after = release(tmp_path / "after")
    for file in (after / "toy/release/captioning").iterdir():
        frame = pl.read_parquet(file)
        wider = pl.col("input").struct.with_fields(weather=pl.lit("rain"))
        frame.with_columns(input=wider).write_parquet(file)
    compared = found(before, after)
    (city,) = compared.report.cities
    assert [(f.task, f.field, f.change) for f in city.fields] == [
        ("captioning", "input.weather", "added")
    ]
    assert [(one.causes, one.records) for one in city.causes] == [(["schema"], 4)]


def test_a_record_that_is_there_twice_is_a_fault(before, tmp_path):
    after = release(tmp_path / "after")
    file = after / "toy/release/captioning/train.parquet"
    frame = pl.read_parquet(file)
    pl.concat([frame, frame]).write_parquet(file)
    with pytest.raises(SourceError, match="expected each instance once, found toy/t1/captioning/1"):
        found(before, after)


def test_a_version_without_a_release_is_one_line(before, tmp_path):
    (tmp_path / "none/toy/annotated").mkdir(parents=True)
    with pytest.raises(SourceError, match=r"toy: not compared: .*none has no data/toy/release"):
        diff(before, str(before), str(tmp_path / "none"), cities=[])
    with pytest.raises(SourceError, match=r"none has no data/toy/release/generation"):
        diff(before, str(before), str(tmp_path / "none"), cities=["toy"])


def published(folder: Path, cities: dict[str, Path]) -> Path:
    """Lay out releases as they are published: a folder for each city, which names its city."""
    for city, data in cities.items():
        for name in MAKERS:
            shutil.copytree(data / "toy" / ARTIFACTS[name].path, folder / city / name)
        (folder / city / "contents.json").write_text(json.dumps({"city": city}), "utf-8")
    return folder


def test_a_citys_own_folder_is_compared_with_itself_and_with_a_whole_release(before, tmp_path):
    whole = published(tmp_path / "whole", {"toy": before, "other": before})
    for second, notes in (
        (whole / "toy", []),
        (whole, ["other: only in one version, not compared"]),
    ):
        report = diff(before, str(whole / "toy"), str(second), cities=[]).report
        (city,) = report.cities
        assert (city.city, report.notes) == ("toy", notes)
        assert all(task.before == task.same == task.after for task in city.tasks)


def test_folders_of_two_cities_have_nothing_to_compare(before, tmp_path):
    whole = published(tmp_path / "whole", {"toy": before, "other": before})
    with pytest.raises(SourceError, match="toy: expected a city that both versions have"):
        diff(before, str(whole / "toy"), str(whole / "other"), cities=[])
    with pytest.raises(SourceError, match="other: expected a city that both versions have"):
        diff(before, str(whole / "toy"), str(whole), cities=["other"])


# ---- as text -----------------------------------------------------------------------------------


def test_markdown_json_and_csv_say_the_same(before, tmp_path, capsys):
    nasty = 'Say "left", | <b>now</b>\n; =1+1'
    after = release(tmp_path / "after", of_told(1, texts=texts(trajectory_caption=nasty)))
    compared = found(before, after)
    file = tmp_path / "new/records.csv"
    print_diff(compared, records=file, as_json=False)
    told = capsys.readouterr().out
    assert "| captioning | 4 | 4 | 3 | 1 | 0 | 0 |" in told
    assert "| code | the program: same answer, same findings, another text |" in told
    print_diff(compared, records=None, as_json=True)
    assert json.loads(capsys.readouterr().out) == msgspec.to_builtins(compared.report)
    (row,) = pl.read_csv(file).to_dicts()
    assert (row["text_after"], row["state"], row["city"]) == (nasty, "changed", "toy")
