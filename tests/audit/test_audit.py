"""An audit of two revisions says what was changed between them, and nothing else."""

import shutil

import msgspec
import polars as pl
import pytest

from pipeline.audit.audit import audit
from pipeline.audit.report import Reason
from pipeline.errors import SourceError
from pipeline.schemas import arrow_schema, check_record
from tests.audit.conftest import NASTY, NONE, SENTENCE, TRIPS
from tests.audit.project import CODE, checked, judged, told


@pytest.fixture(scope="module")
def monaco(report):
    return next(one for one in report.cities if one.city == "monaco")


@pytest.fixture(scope="module")
def helsinki(report):
    return next(one for one in report.cities if one.city == "helsinki")


def cause(city, name: str):
    return next(one for one in city.causes if one.cause == name)


def measure(city, family: str, name: str):
    return next(one for one in city.measures if (one.family, one.name) == (family, name))


# ---- rows --------------------------------------------------------------------------------------


def test_every_trip_of_either_side_is_counted_once(monaco):
    rows = monaco.rows
    assert (rows.before, rows.after, rows.both) == (20, 20, 18)
    assert rows.before == rows.both + rows.only_before
    assert rows.after == rows.both + rows.only_after
    assert rows.both == rows.paired + rows.other_trip + rows.other_draws


def test_only_trips_with_the_same_draws_are_compared(monaco):
    assert (monaco.rows.other_trip, monaco.rows.other_draws, monaco.rows.paired) == (1, 1, 16)
    assert {one.n for one in monaco.measures if one.family != "judge"} == {16}


def test_trips_on_one_side_only_are_told_with_the_reason_of_the_other(monaco):
    assert monaco.rows.why_only_before == [
        Reason("", "no such trip there", 1),
        Reason("annotate", "length", 1),
    ]
    assert monaco.rows.why_only_after == [
        Reason("annotate", "malformed", 1),
        Reason("plan_intents", "no_destination", 1),
    ]


def test_changed_texts_are_counted_by_text(monaco):
    assert (monaco.rows.changed, monaco.rows.other_request) == (3, 16)
    assert {k: n for k, n in monaco.rows.changed_texts.items() if n} == {"trajectory_caption": 3}


def test_a_prompt_that_changes_no_text_changes_no_figure(helsinki):
    assert (helsinki.rows.paired, helsinki.rows.changed, helsinki.rows.other_request) == (3, 0, 3)
    assert {one.difference for one in helsinki.measures if one.n} == {0.0}
    assert {one.p_holm for one in helsinki.measures if one.n} == {1.0}


def test_all_cities_together_have_the_trips_of_each(report, monaco, helsinki):
    together = report.overall
    for name in ("before", "after", "both", "paired", "changed", "only_before", "only_after"):
        parts = getattr(monaco.rows, name) + getattr(helsinki.rows, name)
        assert getattr(together.rows, name) == parts
    assert measure(together, "length", "caption").n == 19


# ---- causes ------------------------------------------------------------------------------------


def test_the_one_thing_that_differs_is_named_and_nothing_else(monaco):
    assert [one.cause for one in monaco.causes if one.differs] == ["prompt", "trip", "draws"]
    assert cause(monaco, "prompt").what == ["prompts/annotate/system.j2"]
    (found,) = monaco.inputs
    assert (found.kind, found.note, found.stages) == ("prompt", "+1 -1 lines", ["annotate"])
    assert "one thing differs: prompt." in monaco.attribution


def test_no_text_depends_on_what_a_version_does_not_tell(monaco):
    assert cause(monaco, "code").differs is False
    assert cause(monaco, "check").differs is None  # no version has the stage


def test_several_causes_are_not_told_apart(project, tmp_path):
    """v3: another prompt, another temperature, another program, another model."""
    made = project.copied(tmp_path / "project")
    made.edit("prompts/annotate/user.j2", "THE TRIP", "THE TRIP AS DRIVEN")
    made.edit("prompts/annotate/seeds/monaco.jsonl", '"city":', '"city": ')
    made.set("annotate", sampling={"temperature": 0.9, "top_p": 1.0, "max_tokens": 900})
    made.edit(CODE, "program", "new program")
    made.write("monaco", [told(one, "three", model="other") for one in TRIPS])
    made.keep("v3")
    (city,) = audit(made.root, "v2", "v3", options=NONE._replace(cities=["monaco"])).cities
    assert cause(city, "model").what == ["toy 1 (vllm) -> other 1 (vllm)"]
    assert cause(city, "prompt").what == ["prompts/annotate/user.j2"]
    assert cause(city, "seeds").what == ["prompts/annotate/seeds/monaco.jsonl"]
    assert cause(city, "params").what == ["annotate.sampling.temperature"]
    assert cause(city, "code").what == [CODE]
    temperature = next(one for one in city.inputs if one.kind == "params")
    assert (temperature.before, temperature.after) == ("0.5", "0.9")
    assert "several things differ: model, prompt, seeds, params, code" in city.attribution


def test_texts_that_were_not_made_with_what_lies_beside_them_are_noted(project, monaco, tmp_path):
    assert monaco.notes == []
    made = project.copied(tmp_path / "project")
    made.edit("prompts/annotate/user.j2", "THE TRIP", "THE DRIVE")
    made.set("annotate", attempts=5)
    options = NONE._replace(cities=["helsinki"])
    (note,) = audit(made.root, "v1", "workspace", options=options).cities[0].notes
    assert note == (
        "workspace: its texts were not made with the prompts/annotate, `annotate` of params.yaml it"
        " holds; run `dvc repro annotate@helsinki`"
    )
    made.git("commit", "-qam", "edited, not run")
    (note,) = audit(made.root, "v1", "HEAD", options=options).cities[0].notes
    assert note.startswith("HEAD: its texts were not made with")
    (made.root / "dvc.lock").unlink()
    (note,) = audit(made.root, "v1", "workspace", options=options).cities[0].notes
    assert note.startswith("workspace: its texts were not made with the prompt files it holds")


def test_texts_that_the_lock_does_not_record_are_noted(project, tmp_path):
    made = project.copied(tmp_path / "project")
    rows = [told(one, "by hand", prompt_hash=made.prompt_hash) for one in TRIPS[:3]]
    made.write("helsinki", rows)
    report = audit(made.root, "v1", "workspace", options=NONE._replace(cities=["helsinki"]))
    (note,) = report.cities[0].notes
    assert note.startswith("workspace: its texts are not those that dvc.lock records")


def test_of_texts_that_the_lock_does_not_record_only_their_own_prompt_is_asked(project, tmp_path):
    made = project.copied(tmp_path / "project")
    options = NONE._replace(cities=["helsinki"])
    rows = [told(one, "anew", prompt_hash=made.prompt_hash) for one in TRIPS[:3]]
    made.write("helsinki", rows)
    made.edit("prompts/annotate/user.j2", "THE TRIP", "THE DRIVE")
    prompt, lock = audit(made.root, "v1", "workspace", options=options).cities[0].notes
    assert prompt.startswith("workspace: its texts were not made with the prompt files it holds")
    assert lock.startswith("workspace: its texts are not those that dvc.lock records")
    rows = [told(one, "anew", prompt_hash=made.prompt_hash) for one in TRIPS[:3]]
    made.write("helsinki", rows)  # with the prompt as it is now, though dvc.lock tells the old one
    (note,) = audit(made.root, "v1", "workspace", options=options).cities[0].notes
    assert note.startswith("workspace: its texts are not those that dvc.lock records")


def test_checks_and_scores_of_other_texts_are_noted(project, tmp_path):
    made = project.copied(tmp_path / "project")
    for city in ("helsinki", "monaco"):
        made.put(city, "checked", [checked(told(one)) for one in TRIPS[:3]])
        made.put(city, "check_rejected", [])
        made.put(city, "judged", [judged(one, 4) for one in TRIPS[:3]])
    made.keep("v9")
    options = NONE._replace(cities=["helsinki"])
    assert audit(made.root, "v9", "workspace", options=options).cities[0].notes == []
    rows = [told(one, "by hand", prompt_hash=made.prompt_hash) for one in TRIPS[:3]]
    made.write("helsinki", rows)
    texts, checks = audit(made.root, "v9", "workspace", options=options).cities[0].notes
    assert texts.startswith("workspace: its texts are not those that dvc.lock records")
    assert checks == ("workspace: its checks are of other texts; run `dvc repro check@helsinki`")
    made.put("helsinki", "checked", [checked(told(one, "by hand")) for one in TRIPS[:3]])
    _, scores = audit(made.root, "v9", "workspace", options=options).cities[0].notes
    assert scores == "workspace: its scores are of another check; run `dvc repro judge@helsinki`"


# ---- prompts -----------------------------------------------------------------------------------


def test_the_system_message_is_shown_once_as_a_difference(monaco):
    (found,) = monaco.prompts
    assert found.of == "system message, the same for all"
    lines = found.difference.split("\n")
    assert [line for line in lines if line.startswith("-") and SENTENCE[0] in line]
    assert [line for line in lines if line.startswith("+") and SENTENCE[1] in line]


# ---- scores and worse trips --------------------------------------------------------------------


def test_scores_are_paired_and_a_missing_score_is_no_low_one(monaco):
    found = measure(monaco, "judge", "caption_accuracy")
    assert (found.n, found.before, found.after, found.difference) == (2, 4.0, 4.0, 0.0)
    assert (found.low, found.high) == (-1.0, 1.0)


def test_trips_that_got_worse_are_ranked_with_both_texts(monaco):
    assert monaco.worse_trips == 2
    lost, fallen = monaco.worse
    assert (lost.trip_id, lost.why) == ("t05", ["no texts any more: length"])
    assert {text.after for text in lost.texts} == {None}
    assert (fallen.trip_id, fallen.why) == ("t00", ["judge's score 4.00 -> 3.00"])
    (text,) = fallen.texts
    assert (text.field, text.after) == ("trajectory_caption", NASTY)
    assert text.before.startswith("trajectory_caption of t00")


def test_a_part_that_is_not_there_is_named_and_never_zero(project):
    folder = str(project.root / "data")
    (city,) = audit(project.root, folder, folder, options=NONE._replace(cities=["helsinki"])).cities
    assert {one.part for one in city.absent} >= {"quality control"}
    assert not [one for one in city.measures if one.family in {"check", "grounding"}]


def test_two_folders_of_data_tell_what_their_rows_show(tmp_path):
    """Other prompt files and other shots of t0, another model of t1; t2 is as it was."""
    hashed = {"prompt_hash": "b" * 64, "response_key": "c" * 64}
    rows = {"before": [told("t0"), told("t1"), told("t2")], "after": [
        told("t0", "anew", shots=["s1"], **hashed), told("t1", model="other", **hashed), told("t2"),
    ]}  # fmt: skip
    for side, some in rows.items():
        file = tmp_path / side / "toy/annotated/part-00000.parquet"
        file.parent.mkdir(parents=True)
        schema = pl.Schema(arrow_schema("annotated_trip"))
        pl.DataFrame(some, schema=schema).write_parquet(file)
    folders = [str(tmp_path / side) for side in rows]
    (city,) = audit(tmp_path, *folders, options=NONE).cities
    assert (city.inputs, city.rows.other_request) == (None, 2)
    assert [one.cause for one in city.causes if one.differs] == ["model", "prompt", "params"]
    assert cause(city, "prompt").what == [
        "hash of prompt files, seeds and vocabulary: aaaaaaaa -> aaaaaaaa + bbbbbbbb"
    ]
    assert cause(city, "params").what == ["annotate.shots: 0 -> 0 + 1"]
    assert "several things differ: model, prompt, params." in city.attribution
    assert "Nothing" not in city.attribution


def test_scores_of_another_judge_are_noted_and_of_another_form_not_available(project, tmp_path):
    made = project.copied(tmp_path / "project")
    options = NONE._replace(cities=["helsinki"])
    made.put("helsinki", "judged", [judged(one, 2, revision="2") for one in TRIPS[:3]])
    (city,) = audit(made.root, "v1", "workspace", options=options).cities
    assert measure(city, "judge", "score").difference == -2.0
    assert city.worse_trips == 3
    (note,) = [one for one in city.notes if "judges differ" in one]
    assert note.startswith("the judges differ (rules 1 (rules, prompt none); rules 2 (rules,")
    file = made.path("helsinki", "judged") / "part-00000.parquet"
    pl.DataFrame({"trip_id": TRIPS[:3], "stars": [1, 2, 3]}).write_parquet(file)
    (city,) = audit(made.root, "v1", "workspace", options=options).cities
    (why,) = [one.why for one in city.absent if one.part == "scores of the judge"]
    assert why.startswith("not in the form of today: ")
    assert not [one for one in city.measures if one.family == "judge"]


# ---- as a record -------------------------------------------------------------------------------


def test_the_report_keeps_its_schema(report):
    check_record("audit_report", msgspec.to_builtins(report), where="report")


def test_the_same_versions_give_the_same_bytes(project, report):
    again = audit(project.root, "v1", "v2", options=NONE._replace(prompts=2, worse=10))
    assert msgspec.json.encode(again) == msgspec.json.encode(report)


# ---- nothing is left behind --------------------------------------------------------------------


def test_the_working_tree_and_the_temporary_folder_stay_as_they_are(project, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = project.state()
    audit(project.root, "v1", "v2", options=NONE)
    assert project.state() == before
    assert project.git("status", "--porcelain") == ""
    assert list(tmp_path.iterdir()) == []


def test_a_city_that_only_one_side_has_is_named(project, tmp_path):
    folder = tmp_path / "copy"
    (folder / "helsinki").mkdir(parents=True)
    (folder / "helsinki/annotated").symlink_to(project.root / "data/helsinki/annotated")
    report = audit(project.root, "v2", str(folder), options=NONE)
    assert [one.city for one in report.cities] == ["helsinki"]
    assert report.notes == [
        f"monaco: only in v2, not compared: {folder} has no texts or release of it"
    ]
    assert report.overall is None
    assert report.cities[0].inputs is None
    with pytest.raises(SourceError, match=r"^monaco: expected one of helsinki, which both"):
        audit(project.root, "v2", str(folder), options=NONE._replace(cities=["monaco"]))


def test_a_city_that_only_the_working_tree_has_is_named_with_the_reason(project, tmp_path):
    own = project.copied(tmp_path / "own")
    own.params = own.params | {"cities": own.params["cities"] | {"oslo": {"traces": "x"}}}
    own.save()
    own.write("oslo", [told("t00")])
    why = "oslo: only in workspace, not compared: `cities:` in params.yaml of v2 names no oslo"
    report = audit(own.root, "v2", "workspace", options=NONE)
    assert report.notes == [why]
    with pytest.raises(SourceError, match=r"in v2: `cities:` in params.yaml of v2 names no oslo"):
        audit(own.root, "v2", "workspace", options=NONE._replace(cities=["oslo"]))
    for city in ("monaco", "helsinki"):
        shutil.rmtree(own.path(city, "annotated"))
    with pytest.raises(SourceError) as fault:
        audit(own.root, "v2", "workspace", options=NONE)
    first, *reasons = str(fault.value).splitlines()
    assert "expected a city that both have, found none" in first
    assert reasons == [why] + [
        f"{city}: not compared: workspace has no data/{city}/annotated; run"
        f" `dvc pull data/{city}/annotated` or `dvc repro`"
        for city in ("monaco", "helsinki")
    ]
