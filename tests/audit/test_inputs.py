"""Inputs that differ are found wherever they stand, and become the causes they can be."""

import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.audit.causes import Asked, Evidence, attribution, causes
from pipeline.audit.inputs import Input, differing_inputs, flat, upstream_of
from pipeline.audit.report import Writer
from pipeline.audit.versions import Version
from pipeline.language.prompts import PROMPTS
from pipeline.lockfile import Locked

CITY = "toy"
PARAMS = """\
cities: {toy: {traces: data/toy/raw/traces}}
annotate:
  engine: {kind: vllm, model: m, revision: "1", window: 8}
  executor: {kind: local}
  sampling: {temperature: 0.5}
"""


class Side:
    """A version made of files and of what its lock records."""

    def __init__(self, folder, deps=None) -> None:
        self.folder = folder
        shutil.copytree(PROMPTS, folder / "prompts")
        self.write("params.yaml", PARAMS)
        self.write("configs/toy.yaml", "name: Toy\nlanguage: pt\nbbox: [1, 2, 3, 4]\n")
        self.version = Version(str(folder), "folder", files=folder, data=folder / "data")
        lock = {} if deps is None else {f"annotate@{CITY}": Locked(deps, {}, {})}
        self.version.__dict__["lock"] = lock

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


@pytest.fixture
def sides(tmp_path):
    return Side(tmp_path / "a", {}), Side(tmp_path / "b", {})


def found(sides) -> list[Input]:
    return differing_inputs(sides[0].version, sides[1].version, CITY)


ASKED = Asked(0, ((2,), (2,)), 0, 0)


def evidence(engine: str = "vllm", **changes) -> Evidence:
    writers = [Writer(engine, "m", "1", "a" * 64, 3)]
    made = Evidence(writers, writers, 0, 0, frozenset({"annotate", "check", "judge"}), ASKED)
    return made._replace(**changes)


def differing(inputs, **changes) -> list[str]:
    return [one.cause for one in causes(inputs, evidence(**changes)) if one.differs]


def unknown(inputs, **changes) -> list[str]:
    return [one.cause for one in causes(inputs, evidence(**changes)) if one.differs is None]


# ---- inputs ------------------------------------------------------------------------------------


def test_equal_versions_differ_in_nothing(sides):
    assert found(sides) == []


def test_a_mapping_becomes_dotted_keys_and_a_list_stays_one_value():
    assert flat({"a": {"b": 1, "c": {}}, "d": [2, "é"]}) == {
        "a.b": "1", "a.c": "{}", "d": '[2, "é"]',
    }  # fmt: skip
    assert flat(7) == {"": "7"}


@given(
    st.dictionaries(st.sampled_from("abc"), st.dictionaries(st.sampled_from("xyz"), st.integers()))
)
def test_every_leaf_has_a_dotted_key(mapping):
    leaves = sum(max(len(inner), 1) for inner in mapping.values())
    assert len(flat(mapping)) == (leaves if mapping else 1)


def test_a_key_that_only_one_side_has_is_null_on_the_other(sides):
    sides[1].write("params.yaml", PARAMS.replace("temperature: 0.5", "temperature: 0.5, top_k: 9"))
    (one,) = found(sides)
    assert (one.kind, one.name, one.before, one.after) == (
        "params", "annotate.sampling.top_k", None, "9",
    )  # fmt: skip
    assert one.stages == ["annotate"]


def test_prompt_files_tell_their_kind_and_size_of_change(sides):
    sides[1].write("prompts/annotate/extra.j2", "one\ntwo")
    (sides[1].folder / "prompts/vocabulary.yaml").unlink()
    kinds = {one.name: (one.kind, one.before, one.after, one.note) for one in found(sides)}
    assert kinds["prompts/annotate/extra.j2"] == ("prompt", None, "there", "+2 -1 lines")
    vocabulary = kinds["prompts/vocabulary.yaml"]
    assert vocabulary[:3] == ("vocabulary", "there", None)


def test_prompts_of_other_tasks_and_settings_of_other_stages_are_left_out(sides):
    sides[1].write("prompts/narrate/system.j2", "another")
    sides[1].write("params.yaml", PARAMS + "seeding: {shots: 4}\n")
    assert found(sides) == []


def test_a_setting_of_the_city_counts_where_a_stage_before_the_texts_reads_it(sides):
    sides[1].write("configs/toy.yaml", "name: Other\nlanguage: en\nbbox: [1, 2, 3, 5]\n")
    names = [(one.kind, one.name) for one in found(sides)]
    assert ("config", "configs/toy.yaml: bbox") in names
    assert ("config", "configs/toy.yaml: language") not in names


def test_code_schemas_and_data_are_told_by_their_hashes(tmp_path):
    deps = {
        "pipeline/language/prompts.py": "1" * 32,
        "pipeline/quality/tables/words.yaml": "1" * 32,
        "schemas/annotated_trip.schema.json": "1" * 32,
        "data/toy/planned": "1" * 32 + ".dir",
        "prompts/annotate": "1" * 32 + ".dir",
    }
    other = {path: value.replace("1", "2") for path, value in deps.items()}
    sides = Side(tmp_path / "a", deps), Side(tmp_path / "b", other)
    assert {one.name: one.kind for one in found(sides)} == {
        "pipeline/language/prompts.py": "code",
        "pipeline/quality/tables/words.yaml": "table",
        "schemas/annotated_trip.schema.json": "schema",
        "data/toy/planned": "data",
    }
    assert {one.before for one in found(sides)} == {"1" * 12}


def test_the_texts_stand_behind_plans_trips_and_ground():
    names = [stage.name for stage in upstream_of(["annotate"])]
    assert names[-1] == "annotate"
    assert {"plan_intents", "compress", "match", "cells", "roads", "pull_osm"} <= set(names)
    assert "narrate" not in names


# ---- causes ------------------------------------------------------------------------------------


def differs_in(kind: str, name: str, stages=("annotate",)) -> Input:
    return Input(kind, name, "1", "2", "", list(stages))


@pytest.mark.parametrize(
    ("one", "cause"),
    [
        (differs_in("prompt", "prompts/annotate/user.j2"), ["prompt"]),
        (differs_in("seeds", "prompts/annotate/seeds/monaco.jsonl"), ["seeds"]),
        (differs_in("vocabulary", "prompts/vocabulary.yaml"), ["vocabulary"]),
        (differs_in("params", "annotate.shots"), ["params"]),
        (differs_in("params", "annotate.engine.window"), ["params"]),
        (differs_in("params", "annotate.engine.model"), []),  # the rows say who wrote them
        (differs_in("params", "annotate.executor.kind"), []),  # decides how fast, not what
        (
            differs_in("params", "intents.beside_m", ["plan_intents"]),
            [],
        ),  # the rows say what it drew
        (differs_in("code", "pipeline/language/prompts.py"), ["code"]),
        (differs_in("table", "pipeline/language/table.yaml"), ["code"]),
        (differs_in("schema", "schemas/annotated_trip.schema.json"), ["schema"]),
        (differs_in("data", "data/toy/planned"), []),
        (differs_in("prompt", "prompts/judge/system.j2", ["judge"]), ["judge"]),
        (differs_in("params", "check.rules.dash", ["check"]), ["check"]),
    ],
)
def test_an_input_is_the_cause_it_can_be(one, cause):
    assert differing([one]) == cause


def test_phrase_banks_matter_to_the_grammar_alone():
    banks = [differs_in("phrases", "prompts/template/chatty.yaml")]
    assert differing(banks) == []
    assert differing(banks, **evidence("template")._asdict()) == ["phrases"]


def test_the_revision_of_the_grammar_is_its_phrase_banks_and_no_other_model():
    other = [Writer("template", "m", "2", "a" * 64, 3)]
    told = evidence("template", after=other)._asdict()
    assert differing(None, **told) == ["phrases"]
    assert differing([differs_in("phrases", "prompts/template/x.yaml")], **told) == ["phrases"]


def test_the_rows_tell_of_writers_trips_and_draws():
    other = [Writer("vllm", "m", "2", "a" * 64, 3)]
    assert differing([], after=other) == ["model"]
    assert differing([], other_trip=2, other_draws=1) == ["trip", "draws"]
    assert unknown([], other_trip=None, other_draws=None) == ["trip", "draws"]


def test_without_files_equal_hashes_of_the_prompt_tell_that_it_is_the_same():
    assert unknown(None) == ["params", "code", "schema", "check", "judge"]
    assert differing(None) == []


def test_without_files_another_hash_in_the_rows_is_another_prompt():
    other = [Writer("vllm", "m", "1", "b" * 64, 3)]
    assert differing(None, after=other) == ["prompt"]
    assert unknown(None, after=other)[:3] == ["seeds", "vocabulary", "params"]
    prompt = next(one for one in causes(None, evidence(after=other)) if one.cause == "prompt")
    assert prompt.what == ["hash of prompt files, seeds and vocabulary: aaaaaaaa -> bbbbbbbb"]


@pytest.mark.parametrize(
    ("asked", "cause", "what"),
    [
        (ASKED._replace(shots=((0,), (2, 3))), "params", "annotate.shots: 0 -> 2 + 3"),
        (
            ASKED._replace(other_request=9, all_else_equal=7),
            "params",
            "7 trips asked by another request, all else equal",
        ),
    ],
)
def test_without_files_the_rows_tell_of_shots_and_of_other_requests(asked, cause, what):
    (found,) = (one for one in causes(None, evidence(asked=asked)) if one.differs)
    assert (found.cause, found.what) == (cause, [what])


def test_without_files_other_examples_are_other_seeds():
    hashes = [[Writer("vllm", "m", "1", mark * 64, 3)] for mark in "ab"]
    told = evidence(before=hashes[0], after=hashes[1], asked=ASKED._replace(other_shots=4))
    assert [one.cause for one in causes(None, told) if one.differs] == ["prompt", "seeds"]


def test_what_a_ledger_does_not_say_of_its_prompts_stays_unknown():
    nobody = [Writer("vllm", "m", "1", None, 3)]
    told = evidence(before=nobody, after=nobody, asked=Asked(5, ((), ()), 0, 0))
    found = causes(None, told)
    assert [one.cause for one in found if one.differs] == []
    said = attribution(found, told.asked)
    assert said.startswith("Something that decides the texts differs, as 5 of the paired trips")
    assert said.endswith("Not known: prompt, seeds, vocabulary, params, code.")


def test_without_a_lock_code_is_unknown_but_files_are_not():
    assert unknown([], recorded=frozenset()) == ["code", "schema", "check", "judge"]


def test_what_is_unknown_is_said_beside_the_one_thing_that_differs():
    said = attribution(
        causes([differs_in("params", "annotate.shots")], evidence(recorded=frozenset())), ASKED
    )
    assert "one thing differs: params." in said
    assert said.endswith("Not known: code.")
    nothing = attribution(causes([], evidence()), ASKED)
    assert nothing == "Nothing that decides the texts of paired trips is known to differ."
