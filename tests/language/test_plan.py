"""The command plan: what would be asked, what it costs, and what a change did to prompts."""

import inspect
import json
import shutil
import subprocess

import msgspec
import polars as pl
import pytest
import yaml

from pipeline import __main__ as command_line
from pipeline.errors import ParameterError, PromptError, SourceError
from pipeline.language.engines.settings import VllmSettings
from pipeline.language.ledger import Ledger
from pipeline.language.ledger_records import Run
from pipeline.language.outcome import responses_frame
from pipeline.language.plan import TaskPlan, asking_function, plan, plan_words, print_plans
from pipeline.language.prompts import PROMPTS
from pipeline.language.requests import ModelId
from pipeline.language.revision import changed_lines, files_at
from pipeline.language.tokens import TokenCount
from pipeline.runner import declared_arguments
from pipeline.stages import STAGES
from tests.language.asked_project import ABSENT, TEMPLATE, AskedProject, good_answer, trip_called
from tests.language.engines import request_about
from tests.language.test_narrate import cell

MADE_BY_RULE = "annotate toy · template: no model is asked and nothing is paid for; {}"
IDS = ["t1", "t2", "t3", "t4"]
OWN_PARAMS = yaml.safe_load((PROMPTS.parent / "params.yaml").read_text("utf-8"))
# What stages are given that ask too; by default they name no model.
OTHERS = {"check", "families", "judge", "rejudge", "stride_maps", "stride_scenarios",
          "stride_specs"}  # fmt: skip


def git(root, *arguments: str) -> None:
    who = ["-c", "user.name=Tester", "-c", "user.email=tester@localhost"]
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path):
    """Four trips and two cells in a git repository whose one commit holds prompts and params."""
    made = AskedProject(tmp_path, [[trip_called(one) for one in IDS]])
    made.put("cells", [cell(1, district="Foz"), cell(2)])
    made.put("phased", [], "part-00000.parquet")
    shutil.copytree(PROMPTS, tmp_path / "prompts")
    made.params |= {name: section for name, section in OWN_PARAMS.items() if name in OTHERS}
    made.set("annotate", engine=ABSENT)
    made.set("narrate", engine=ABSENT)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "prompts", "params.yaml", "configs")
    git(tmp_path, "commit", "-q", "-m", "Start")
    return made


def plans(project, **changes) -> dict[str, TaskPlan]:
    """Plan the city; return its plans by stage."""
    options = {"against": None, "diffs": 2} | changes
    found = {one.stage: one for one in plan(project.root, ["toy"], **options)}
    assert list(found) == ["annotate", "narrate", "check", "judge", "rejudge"]
    return found


def edit(project, file: str, old: str, new: str) -> None:
    path = project.root / "prompts" / file
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def keep(project, *items: str, status: str = "ok") -> None:
    """Put answers of some trips into the ledger."""
    requests = project.annotation_requests()
    reason = "" if status == "ok" else "no"
    with Ledger(project.root / "store") as ledger:
        ledger.record(
            [
                msgspec.structs.replace(good_answer(requests[i]), status=status, reason=reason)
                for i in items
            ]
        )


# ---- what would be asked -------------------------------------------------------------------------


def test_without_a_ledger_all_is_new_and_none_is_made(project):
    found = plans(project)
    annotate, narrate = found["annotate"], found["narrate"]
    assert (annotate.requests, annotate.reused, annotate.new, annotate.exhausted) == (4, 0, 4, 0)
    assert (narrate.requests, narrate.new) == (2, 2)
    assert not (project.root / "store").exists()


def test_requests_are_reused_new_or_exhausted(project):
    keep(project, "t1", "t2")
    keep(project, "t3", status="prompt_too_long")
    annotate = plans(project)["annotate"]
    assert (annotate.requests, annotate.reused, annotate.new, annotate.exhausted) == (4, 2, 1, 1)


def test_a_request_that_has_attempts_left_is_new(project):
    keep(project, "t1", status="malformed")
    assert plans(project)["annotate"].new == 4
    project.set("annotate", attempts=1)
    assert (plans(project)["annotate"].new, plans(project)["annotate"].exhausted) == (3, 1)


def test_one_sentence_in_the_rules_makes_every_request_new_and_shows_the_difference(project):
    keep(project, *IDS)
    assert plans(project)["annotate"].reused == 4
    edit(project, "annotate/system.j2", "No guided tour.", "No guided tour, ever.")
    found = plans(project)
    annotate = found["annotate"]
    assert (annotate.reused, annotate.new) == (0, 4)
    assert (annotate.change.prompts_differ, annotate.change.requests_differ) == (4, 4)
    (difference,) = annotate.change.diffs
    assert difference.startswith("system message, the same for all\n")
    assert "\n-6. No guided tour. " in difference
    assert "\n+6. No guided tour, ever. " in difference


def test_the_prompt_of_narrate_is_no_concern_of_annotate(project):
    keep(project, *IDS)
    edit(project, "narrate/system.j2", "stranger", "visitor")
    found = plans(project)
    assert (found["annotate"].reused, found["annotate"].new) == (4, 0)
    assert found["annotate"].change.requests_differ == 0
    assert (found["narrate"].new, found["narrate"].change.prompts_differ) == (2, 2)


def test_a_change_of_the_user_message_shows_a_few_trips(project):
    edit(project, "annotate/user.j2", "THE TRIP", "THE JOURNEY")
    annotate = plans(project, diffs=3)["annotate"]
    assert annotate.change.prompts_differ == 4
    assert [text.split("\n")[0] for text in annotate.change.diffs] == ["t1", "t2", "t3"]
    assert all("-THE TRIP\n+THE JOURNEY" in text for text in annotate.change.diffs)
    assert plans(project, diffs=0)["annotate"].change.diffs == []


def test_other_sampling_makes_other_requests_of_the_same_prompts(project):
    keep(project, *IDS)
    project.set("annotate", sampling={"temperature": 0.9, "top_p": 1.0, "max_tokens": 900})
    annotate = plans(project)["annotate"]
    assert annotate.new == 4
    assert (annotate.change.prompts_differ, annotate.change.requests_differ) == (0, 4)


def test_more_shots_are_another_prompt(project):
    project.set("annotate", shots=1)
    annotate = plans(project)["annotate"]
    assert annotate.change.prompts_differ == 4
    assert "\n+[user]\n+For this trip, " in annotate.change.diffs[0]


# ---- what it costs -------------------------------------------------------------------------------


def test_tokens_are_an_estimate_by_characters_where_no_tokenizer_is_at_hand(project):
    keep(project, "t1")
    requests = project.annotation_requests()
    annotate = plans(project)["annotate"]
    characters = sum(
        len(message.content) for item in IDS[1:] for message in requests[item].messages
    )
    assert annotate.prompt_tokens == round(characters / 3.5)
    assert annotate.prompt_tokens_from == "estimate: 3.5 characters a token"


def test_a_local_models_own_tokenizer_counts_the_tokens(project, tiny_llama):
    from transformers import AutoTokenizer  # noqa: PLC0415

    project.set("annotate", engine=ABSENT | {"model": str(tiny_llama)})
    tokenizer = AutoTokenizer.from_pretrained(tiny_llama)
    expected = sum(
        len(
            tokenizer.apply_chat_template(
                [{"role": m.role, "content": m.content} for m in request.messages],
                add_generation_prompt=True,
                return_dict=True,
            )["input_ids"]
        )
        for request in project.annotation_requests().values()
    )
    annotate = plans(project)["annotate"]
    assert (annotate.prompt_tokens, annotate.prompt_tokens_from) == (expected, "tokenizer")


def test_of_very_many_prompts_the_first_stand_for_all(tiny_llama):
    settings = msgspec.convert(ABSENT | {"model": str(tiny_llama)}, VllmSettings)
    few, many = TokenCount(settings), TokenCount(settings)
    requests = [request_about("item") for _ in range(800)]
    list(few.counting((one, "due") for one in requests[:400]))
    list(many.counting((one, "due") for one in requests))
    assert many.total == 2 * few.total
    assert (few.how, many.how) == ("tokenizer", "tokenizer on 400, the rest scaled by characters")


def test_output_and_time_are_unknown_before_anything_was_measured(project):
    annotate = plans(project)["annotate"]
    assert (annotate.output_tokens, annotate.seconds) == (None, None)
    lines = list(plan_words(annotate))
    assert lines[1] == "  4 requests: 0 reused, 4 new, 0 exhausted"
    assert lines[2].endswith("to write an unknown number, in an unknown time")


def test_output_and_time_follow_what_was_measured_with_this_model(project):
    keep(project, "t1")  # 5 tokens written
    model = ModelId("vllm", "toy", "1")
    with Ledger(project.root / "store") as ledger:
        ledger.record_run(Run("annotate", model, 10, 10, 0, 100, 50, 20.0))
    annotate = plans(project)["annotate"]
    assert (annotate.output_tokens, annotate.seconds) == (15, 6.0)
    assert "to write about 15, in about 6 s" in list(plan_words(annotate))[2]


def test_the_template_engine_costs_nothing(project):
    project.set("annotate", engine=TEMPLATE)
    annotate = plans(project)["annotate"]
    assert (annotate.requests, annotate.new, annotate.prompt_tokens) == (4, 4, None)
    assert next(plan_words(annotate)) == MADE_BY_RULE.format("4 answers to make, none kept")


def test_what_the_template_engine_has_made_is_kept(project):
    project.set("annotate", engine=TEMPLATE)
    requests = list(project.annotation_requests().values())
    with Ledger(project.root / "store") as ledger:
        ledger.record([good_answer(one, engine="template") for one in requests[:3]])
    annotate = plans(project)["annotate"]
    assert next(plan_words(annotate)) == MADE_BY_RULE.format("1 answers to make, 3 kept")


# ---- answers beside the texts --------------------------------------------------------------------


def pulled(project, *items: str, status: str = "ok") -> None:
    """Put answers of some trips where pulled data have them."""
    requests = project.annotation_requests()
    reason = "" if status == "ok" else "no"
    answers = [
        msgspec.structs.replace(good_answer(requests[one]), status=status, reason=reason)
        for one in items
    ]
    project.put("responses", responses_frame(answers).to_dicts(), "part-00000.parquet")


def test_answers_that_were_pulled_are_pointed_to(project):
    keep(project, "t1")
    pulled(project, "t1", "t2", "t3")
    found = plans(project)
    annotate = found["annotate"]
    assert (annotate.new, annotate.importable) == (3, 2)
    assert annotate.import_from == "data/toy/responses"
    assert list(plan_words(annotate))[3] == (
        "  2 of the new have an answer that was pulled; to keep it run"
        " `python -m pipeline ledger import data/toy/responses`"
    )
    assert (found["narrate"].importable, found["narrate"].import_from) == (0, "")


def test_bringing_them_in_leaves_nothing_to_point_to(project, monkeypatch):
    pulled(project, "t1", "t2")
    monkeypatch.chdir(project.root)
    assert command_line.main(["ledger", "import", plans(project)["annotate"].import_from]) == 0
    annotate = plans(project)["annotate"]
    assert (annotate.reused, annotate.importable, annotate.import_from) == (2, 0, "")


def test_answers_of_no_use_are_not_pointed_to(project):
    pulled(project, "t1", status="malformed")
    assert plans(project)["annotate"].importable == 0
    (project.path("responses") / "part-00000.parquet").write_bytes(b"no table")
    assert plans(project)["annotate"].importable == 0
    pulled(project, "t1")
    project.set("annotate", engine=TEMPLATE)
    assert plans(project)["annotate"].importable == 0


# ---- revisions -----------------------------------------------------------------------------------


def test_the_template_engines_prompts_are_compared_though_it_reads_none(project):
    project.set("annotate", engine=TEMPLATE)
    edit(project, "annotate/user.j2", "THE TRIP", "THE JOURNEY")
    annotate = plans(project, diffs=0)["annotate"]
    assert (annotate.change.compared, annotate.change.prompts_differ) == (4, 4)
    assert list(plan_words(annotate)) == [
        MADE_BY_RULE.format("4 answers to make, none kept"),
        "  against HEAD: 4 of 4 prompts differ, 4 requests have another key",
    ]


def test_items_that_only_one_side_asks_about_are_counted_apart(project):
    project.config["narrate_cells"] = "none"
    project.save()
    change = plans(project)["narrate"].change
    assert (change.compared, change.only_now, change.only_then) == (0, 0, 2)
    git(project.root, "commit", "-q", "-a", "-m", "None")
    project.config["narrate_cells"] = "all"
    project.save()
    narrate = plans(project)["narrate"]
    assert (narrate.change.only_now, narrate.change.only_then) == (2, 0)
    assert list(plan_words(narrate))[-1].endswith("have another key, 2 asked only now")


def test_a_city_that_a_revision_does_not_know_is_not_compared(project):
    git(project.root, "rm", "-q", "--cached", "configs/toy.yaml")
    git(project.root, "commit", "-q", "-m", "Fewer")
    found = plans(project)
    assert found["narrate"].change.why_not == "it has no configs/toy.yaml"
    assert found["annotate"].change.prompts_differ == 0


def test_a_fault_of_a_revisions_parameters_names_no_folder_of_the_moment(project):
    kept = dict(project.params)
    del project.params["annotate"]
    project.save()
    git(project.root, "commit", "-q", "-a", "-m", "Less")
    project.params = kept
    project.save()
    why_not = plans(project)["annotate"].change.why_not
    assert why_not.startswith("params.yaml: annotate: expected this key")


def test_an_older_revision_is_compared_with(project):
    edit(project, "annotate/user.j2", "THE TRIP", "THE JOURNEY")
    git(project.root, "commit", "-q", "-a", "-m", "Another word")
    assert plans(project, against="HEAD")["annotate"].change.prompts_differ == 0
    found = plans(project, against="HEAD~1")
    assert found["annotate"].change.prompts_differ == 4
    assert found["narrate"].change.prompts_differ == 0
    assert found["annotate"].change.revision == "HEAD~1"


def test_a_revision_without_prompts_is_not_compared(project):
    git(project.root, "rm", "-q", "-r", "--cached", "prompts/narrate")
    git(project.root, "commit", "-q", "-m", "Fewer")
    found = plans(project)
    assert found["narrate"].change.why_not == "it has no prompts/narrate"
    assert found["narrate"].change.prompts_differ is None
    assert "against HEAD: not compared" in list(plan_words(found["narrate"]))[-1]
    assert found["annotate"].change.prompts_differ == 0


def test_a_revision_with_a_broken_prompt_is_not_compared(project):
    edit(project, "annotate/user.j2", "{{ record_json }}", "{{ nothing }}")
    git(project.root, "commit", "-q", "-a", "-m", "Broken")
    edit(project, "annotate/user.j2", "{{ nothing }}", "{{ record_json }}")
    assert "'nothing' is undefined" in plans(project)["annotate"].change.why_not


def test_a_broken_prompt_of_the_working_tree_is_an_error(project):
    edit(project, "annotate/user.j2", "{{ record_json }}", "{{ nothing }}")
    with pytest.raises(PromptError, match="t1: expected a value to show, found: 'nothing' is"):
        plans(project)


def test_an_unknown_revision_is_an_error(project):
    with pytest.raises(SourceError, match="--against v9: expected a revision"):
        plans(project, against="v9")


def test_without_a_repository_nothing_is_compared(project):
    shutil.rmtree(project.root / ".git")
    assert plans(project)["annotate"].change is None


def test_only_what_decides_prompts_is_written_of_a_revision(project):
    with files_at(project.root, "HEAD") as folder:
        assert sorted(one.name for one in folder.iterdir()) == ["configs", "params.yaml", "prompts"]
        assert (folder / "prompts/annotate/system.j2").read_bytes() == (
            project.root / "prompts/annotate/system.j2"
        ).read_bytes()
    assert not folder.exists()


def test_a_project_below_the_top_of_its_repository_is_compared(project, tmp_path_factory):
    top = tmp_path_factory.mktemp("top")
    shutil.copytree(project.root, top / "inner", ignore=shutil.ignore_patterns(".git"))
    git(top, "init", "-q")
    git(top, "add", "inner/prompts", "inner/params.yaml")
    git(top, "commit", "-q", "-m", "Start")
    with files_at(top / "inner", "HEAD") as folder:
        assert (folder / "prompts/annotate/user.j2").is_file()
        assert (folder / "params.yaml").is_file()


def test_a_long_difference_is_cut_and_counted():
    old, new = "\n".join("abcdef"), "\n".join("uvwxyz")
    shown = changed_lines(old, new, most=4).split("\n")
    assert shown == ["@@ -1,6 +1,6 @@", "-a", "-b", "-c", "... 9 more lines"]
    assert changed_lines(old, old, most=4) == ""


# ---- cities --------------------------------------------------------------------------------------


def test_what_is_not_there_yet_is_told_with_the_command_that_makes_it(project):
    for name in ("planned", "phased"):
        shutil.rmtree(project.path(name))
    found = plans(project)
    assert found["annotate"].missing == ("planned not there yet; run `dvc repro plan_intents@toy`")
    assert found["narrate"].missing == "phased not there yet; run `dvc repro compress@toy`"
    assert found["annotate"].requests is None
    assert list(plan_words(found["annotate"]))[1].startswith("  planned not there yet")


def test_a_table_of_another_form_is_told_and_the_other_stages_are_planned(project):
    shards = sorted(project.path("planned").glob("*.parquet"))
    pl.read_parquet(shards[0]).drop("places").write_parquet(shards[0])
    found = plans(project)
    assert "expected the columns" in found["annotate"].missing
    assert found["annotate"].missing.endswith("rebuild it with `dvc repro plan_intents@toy`")
    assert found["narrate"].requests == 2


def test_what_the_whole_project_asks_is_planned_where_no_city_is_named(project):
    found = list(plan(project.root, [], against=None, diffs=0))
    assert [(one.stage, one.city) for one in found[-3:]] == [
        ("rejudge", "toy"), ("stride_scenarios", None), ("stride_specs", None),
    ]  # fmt: skip
    makers = "stride_maps stride_scenarios"
    missing = f"stride_maps, stride_scenarios not there yet; run `dvc repro {makers}`"
    assert list(plan_words(found[-1])) == [
        "stride_specs · template: no model is asked",
        f"  {missing}",
    ]


def test_a_stage_of_the_whole_project_names_the_stages_that_make_what_it_reads(project):
    writer = project.params["stride_specs"]["writer"]
    project.set("stride_specs", writer=writer | {"engine": ABSENT})
    *_, specs = plan(project.root, [], against=None, diffs=0)
    assert specs.missing == (
        "stride_maps, stride_scenarios not there yet; run `dvc repro stride_maps stride_scenarios`"
    )


@pytest.mark.parametrize("stage", [one for one in STAGES if one.asks], ids=lambda one: one.name)
def test_what_a_stage_asks_is_found_with_its_own_sections(stage):
    io, *names = inspect.signature(asking_function(stage)).parameters
    assert io == "io"
    assert {"prompts"} <= set(names) <= {"prompts", *declared_arguments(stage)}


def test_an_unknown_city_is_an_error_before_anything_is_read(project):
    with pytest.raises(ParameterError, match="found no entry for 'atlantis'"):
        list(plan(project.root, ["toy", "atlantis"], against=None, diffs=2))


def test_plans_are_printed_as_json(project, capsys):
    print_plans(plan(project.root, [], against=None, diffs=1), as_json=True)
    annotate, narrate, *others = json.loads(capsys.readouterr().out)
    assert (annotate["city"], annotate["task"], annotate["new"]) == ("toy", "annotate", 4)
    assert annotate["model"] == {"engine": "vllm", "model": "toy", "revision": "1"}
    assert annotate["seconds"] is None
    assert narrate["change"]["prompts_differ"] == 0
    assert [one["model"] and one["model"]["engine"] for one in others] == [
        "rules", "rules", None, "template", "template",
    ]  # fmt: skip


def test_the_commands_print_what_they_find_in_the_current_folder(project, monkeypatch, capsys):
    monkeypatch.chdir(project.root)
    assert command_line.main(["plan", "toy", "--diffs", "0"]) == 0
    assert "annotate toy · vllm toy 1\n  4 requests: 0 reused, 4 new" in capsys.readouterr().out
    assert command_line.main(["seed", "toy", "-n", "0"]) == 1
    assert capsys.readouterr().err.startswith("error: -n: expected 1 or more, found 0; ")
    assert command_line.main(["run", "annotate", "toy", "--replay"]) == 1
    assert "found 4 of 4 missing" in capsys.readouterr().err


# ---- prompt files that do not fit ----------------------------------------------------------------


def test_a_trip_planned_with_a_persona_that_was_renamed_is_one_line(project):
    edit(project, "vocabulary.yaml", "code: relaxed", "code: calm")
    with pytest.raises(ParameterError) as fault:
        plans(project)
    line = str(fault.value)
    assert line.startswith("planned trip t1: expected codes of prompts/vocabulary.yaml, found")
    assert "'relaxed', unknown there" in line
    assert "`dvc repro plan_intents@CITY`" in line


def test_a_seed_with_a_persona_that_was_renamed_is_one_line(project):
    project.set("annotate", shots=1)
    edit(project, "vocabulary.yaml", "code: tired", "code: weary")
    with pytest.raises(
        ParameterError, match=r"seeds/\w+\.jsonl: seed \S+: .*'tired', .*; mend the seed"
    ):
        plans(project)


def test_fewer_seeds_than_shots_are_refused(project):
    project.set("annotate", shots=2)
    for file in (project.root / "prompts/annotate/seeds").iterdir():
        file.write_text("", "utf-8")
    with pytest.raises(PromptError, match=r"annotate/seeds: expected at least 2 seeds.*, found 0"):
        plans(project)
