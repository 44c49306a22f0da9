"""A broken phrase bank is one clear line that names file and entry; it never reaches a text."""

import re
from pathlib import Path

import msgspec
import pytest
import yaml

from pipeline.errors import ParameterError
from pipeline.language.engines.template import BANKS
from pipeline.language.engines.template.reading import FILES, read_banks, revision_of
from tests.language.template_trips import WORDS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for file in BANKS.glob("*.yaml"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def change(folder: Path, name: str, *keys: str, to: object) -> None:
    """Set one key of a bank, or remove it where `to` is None."""
    file = folder / f"{name}.yaml"
    bank = yaml.safe_load(file.read_text("utf-8"))
    at = bank[name]
    for key in keys[:-1]:
        at = at[key]
    if to is None:
        del at[keys[-1]]
    else:
        at[keys[-1]] = to
    file.write_text(yaml.safe_dump(bank), "utf-8")


def test_the_banks_of_the_project_can_be_read():
    assert read_banks(BANKS, WORDS).concise.voices["tired"].paced


def test_every_bank_is_listed():
    assert sorted(file.stem for file in BANKS.glob("*.yaml")) == sorted(FILES)


CHANGES = [
    ("targets", ("stop", "do"), ["stop at {shop}"], "targets.stop.do: entry 1.*{shop}"),
    ("targets", ("stop", "do"), None, "targets.stop.*'do'"),
    ("targets", ("stop", "sing"), ["la"], "targets.stop.*'sing'"),
    ("targets", ("tunnel",), {"do": ["go"]}, "targets.*'tunnel'"),
    ("targets", ("clock", "with"), ["around {hour}"], r"targets.clock.with.*{on_when}"),
    ("targets", ("place", "dest"), ["{name} in {district}"], r"targets.place.dest.*{name}"),
    ("targets", ("stop", "line"), ["stop at {stop}"], "targets.stop.line: entry 1.*mark"),
    ("targets", ("stop", "bit"), ["{stop} first."], "targets.stop.bit: entry 1.*without a mark"),
    ("zones", ("green",), None, "zones.*'green'"),
    ("zones", ("moor",), {"spot": ["a moor"]}, "zones.*'moor'"),
    ("zones", ("green", "spot"), ["a COASTAL spot"], "zones.green.spot: entry 1.*'COASTAL'"),
    ("facilities", ("zoo",), ["a zoo"], "facilities.*'zoo'"),
    ("clock", ("morning",), None, "clock.*'morning'"),
    ("clock", ("morning", "noun"), ["a {dey} morning"], "clock.morning.noun: entry 1.*{dey}"),
    ("literal", ("personas", "tired"), None, "literal.personas.*'tired'"),
    ("literal", ("personas", "rude"), {"suffix": [], "sentence": [],
     "haste": {"suffix": [], "sentence": []}}, "literal.personas.*'rude'"),
    ("literal", ("forms", "imperative"), None, "literal.forms.*'imperative'"),
    ("literal", ("forms", "imperative", "brief"), None, "literal.forms.imperative.*'brief'"),
    ("literal", ("forms", "imperative", "brief"), ["Go {to}{lines}"], "brief: entry 1.*mark"),
    ("literal", ("forms", "imperative", "brief"), ["Go {to}{advs}."], "brief: .*a pace.*no named"),
    ("literal", ("forms", "imperative", "brief"), ["Go {to}{lines}{advs}."], "entry 1.*said once"),
    ("literal", ("forms", "imperative", "brief"), ["Go {To}{lines}."], "entry 1.*capital.*{To}"),
    ("literal", ("forms", "imperative", "brief"), ["{to}{lines}."], "entry 1.*capital.*{to}"),
    ("concise", ("personas", "tired", "word"), ["Whatever"], "concise.personas.tired.*mark"),
    ("chatty", ("personas", "tired", "wrap"), ["{Sing}."], "personas.tired.wrap: entry 1.*{Sing}"),
    ("chatty", ("personas", "tired", "story"), ["What now?"], "tired.story.*full stop"),
    ("chatty", ("paces", "slow", "tired"), None, "chatty.paces.slow.*'tired'"),
    ("chatty", ("paces", "slow", "tired"), ["In {hours}."], "paces.slow.tired: entry 1.*{hours}"),
    ("queries", ("skeletons",), ["{Records}{that}; {when}."], "queries.skeletons: entry 1.*';'"),
    ("queries", ("records",), [], "queries.records"),
    ("caption", ("legs", "turn"), ["turns left onto {way}"], "caption.turn: entry 1.*{way}"),
    ("caption", ("endings",), ["ends {end_at} after {duration}"], r"caption.endings.*{end_at}"),
    ("narrative", ("kinds", "green"), None, "narrative.kinds.*'green'"),
    ("caption", ("times",), ["at {exact on a {day}"], "caption.times: entry 1.*braces.*{exact on"),
    ("caption", ("subjects",), ["a drive", "the trip}"], "caption.subjects: entry 2.*braces"),
    ("narrative", ("nature", "park"), "{park", "narrative.nature.park: .*braces"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "keys", "to", "message"), CHANGES)
def test_a_broken_bank_is_one_line_with_file_and_entry(folder, name, keys, to, message):
    change(folder, name, *keys, to=to)
    with pytest.raises(ParameterError) as caught:
        read_banks(folder, WORDS)
    line = str(caught.value)
    assert line.startswith(f"prompts/template/{name}.yaml: ")
    assert "\n" not in line
    assert re.search(message, line), line


def test_a_persona_that_the_vocabulary_lacks_is_told_so():
    personas = [one for one in WORDS.personas if one.code != "tired"]
    with pytest.raises(ParameterError) as caught:
        read_banks(BANKS, msgspec.structs.replace(WORDS, personas=personas))
    line = str(caught.value)
    assert line.startswith("prompts/template/literal.yaml: literal.personas: expected keys out of")
    assert "found 'tired', which is missing from prompts/vocabulary.yaml" in line


def test_a_missing_bank_is_named(folder):
    (folder / "zones.yaml").unlink()
    with pytest.raises(ParameterError, match=r"^prompts/template/zones\.yaml: "):
        read_banks(folder, WORDS)
    with pytest.raises(ParameterError, match=r"zones\.yaml"):
        revision_of(folder)
