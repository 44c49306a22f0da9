"""Card, contents and metadata tell how the texts were written, verified, selected and judged."""

import json
import shutil
from pathlib import Path

import pytest

from tests.release.project import make_project, place, put_json, release


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """Two cities with the records of the schemas' examples."""
    root = make_project(tmp_path_factory.mktemp("making") / "p", west=range(9), east=range(4))
    release(root, "west", "east")
    return root


@pytest.fixture
def own(project, tmp_path) -> Path:
    """A copy of the project that a test may change."""
    return shutil.copytree(project, tmp_path / "project")


VERIFIER = {
    "engine": "vllm", "model": "org/verifier", "revision": "9f2c", "asks": "whole_texts",
    "prompt_hash": "d" * 64, "asked": None, "unread": 0,
}  # fmt: skip


@pytest.fixture
def told(own) -> Path:
    """A project in which a model wrote, another verified, and three judges scored `east`."""
    records = {name: json.loads(place(own, "east", name).read_text("utf-8")) for name in MADE}
    sampling = {"temperature": 0.7, "top_p": 0.9, "max_tokens": 1500}
    records["annotation_metrics"] |= {"shots": 3, "sampling": sampling}
    records["check_metrics"] |= {
        "verifier": VERIFIER, "trips": 11, "rejected": 3,
        "rejected_by_rule": {"dash": 1, "label": 2},
    }  # fmt: skip
    cut = records["selection_metrics"]["cut"] | {"by": "top", "score": 4.25, "tied": 7}
    records["selection_metrics"] |= {
        "cut": cut | {"tied_taken": 4}, "trips": 9, "selected": 5, "top": 5,
    }  # fmt: skip
    for name, record in records.items():
        put_json(own, "east", name, record)
    release(own, "east")
    return own


MADE = ("annotation_metrics", "check_metrics", "selection_metrics", "agreement")


def test_card_contents_and_metadata_name_the_verifier_with_its_version(told):
    folder = told / "data/release"
    line = f"| east | verifier | vllm | org/verifier | 9f2c | {'d' * 12} | 11 |"
    for card in (folder / "README.md", folder / "east/README.md"):
        assert line in card.read_text("utf-8")
    assert line not in (folder / "west/README.md").read_text("utf-8")
    contents = json.loads((folder / "east/contents.json").read_text("utf-8"))
    assert contents["verifier"] == VERIFIER
    document = json.loads((folder / "croissant.json").read_text("utf-8"))
    assert "verifier: org/verifier 9f2c (engine vllm)" in document["rai:machineAnnotationTools"]
    (activity,) = (
        one for one in document["prov:wasGeneratedBy"] if "org/verifier" in one["description"]
    )
    assert activity["description"] == "org/verifier verified the texts of 11 trips of Monaco"
    assert activity["prov:wasAssociatedWith"]["softwareVersion"] == "9f2c"


def test_the_card_says_how_texts_were_written_refused_and_selected(told):
    text = (told / "data/release/east/README.md").read_text("utf-8")
    for line in (
        "| seed examples in a prompt | 3 |",
        "| sampling of the writer | temperature 0.7, top-p 0.9, at most 1,500 tokens |",
        "| quality control | 3 of 11 trips refused |",
        "| refused, by rule | label 2, dash 1 |",
        "| selection | 5 of 9 judged trips, at most 5 |",
        "| the cut | 4.25, the score of the last trip taken; 7 trips have it, 4 of them are taken",
    ):
        assert line in text


def test_of_a_grammar_the_card_names_neither_examples_nor_sampling(own):
    record = json.loads(place(own, "east", "annotation_metrics").read_text("utf-8"))
    put_json(own, "east", "annotation_metrics", record | {"shots": None, "sampling": None})
    text = (release(own, "east") / "east/README.md").read_text("utf-8")
    assert "| seed examples in a prompt | no model is asked |" in text
    assert "| sampling of the writer | no model is asked |" in text


def test_the_card_has_the_means_of_the_judges_and_how_far_they_agree(told):
    """One criterion has scores in the example: 4.53 of gpt-4.1, and pairs within one at 88.4 %."""
    text = (told / "data/release/east/README.md").read_text("utf-8")
    assert "|  | east: gpt-4.1 |" in text
    assert "| trips | 2,000 |" in text
    assert "| caption: accuracy | 4.53 |" in text
    assert "| queries: accuracy | - |" in text
    assert "| **mean** | 4.53 |" in text
    assert "| east | models with models | 3 | 2,000 | 88.4% | 89.7% | 0.04 | 0.05 |" in text


def test_one_judge_alone_agrees_with_nobody(own):
    record = json.loads(place(own, "east", "agreement").read_text("utf-8"))
    put_json(own, "east", "agreement", record | {"pairs": [], "groups": []})
    text = (release(own, "east") / "east/README.md").read_text("utf-8")
    assert "No two judges scored the same trips, so there is no agreement to tell." in text
