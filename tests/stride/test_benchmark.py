"""The benchmark file: both shapes, both forms of file, odd values kept, twins refused."""

import json

import pytest

from pipeline.errors import SourceError
from pipeline.schemas import check_record, schema_document
from pipeline.stride.benchmark import benchmark_of, document_of, read_benchmark, write_benchmark

DOCUMENT = schema_document("stride_benchmark")["examples"][0]


def written(tmp_path, document, name="b.json"):
    file = tmp_path / name
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


def changed(**change):
    scene = {**DOCUMENT["scenes"][0], **change}
    return {**DOCUMENT, "scenes": [scene]}


def test_a_scenario_is_read_with_its_questions_and_measurements(tmp_path):
    benchmark = read_benchmark(written(tmp_path, DOCUMENT))
    (scenario,) = benchmark.scenarios
    assert (scenario.id, scenario.n_agents, scenario.category) == ("0001", 40, "Ambulatory")
    first, second = scenario.questions[0].measurements
    assert (first.function, first.params, first.delta) == ("mean_speed", {}, 0.05)
    assert second.expected == {"max": 0.1}
    assert benchmark.shape == "released"


def test_notes_and_further_keys_are_tolerated_and_kept():
    document = {**changed(weather="rain"), "_note": "part of it"}
    benchmark = benchmark_of(document, where="b.json")
    assert benchmark.extra == {"_note": "part of it"}
    assert document_of(benchmark)["scenes"][0]["weather"] == "rain"


@pytest.mark.parametrize("name", ["b.json", "b.jsonl"])
def test_what_is_written_is_read_back(tmp_path, name):
    benchmark = benchmark_of(changed(scenario_id="14_Châtelet_Les_Halles"), where="")
    write_benchmark(benchmark, tmp_path / name)
    assert "Châtelet" in (tmp_path / name).read_text("utf-8")
    again = read_benchmark(tmp_path / name)
    assert again == benchmark
    check_record("stride_benchmark", document_of(again), where=name)


def test_the_line_form_has_a_scenario_a_line_with_its_model(tmp_path):
    scene = {**DOCUMENT["scenes"][0], "_model": "template", "_n_scenes": 1}
    file = tmp_path / "b.jsonl"
    file.write_text(json.dumps(scene) + "\n\n", encoding="utf-8")
    benchmark = read_benchmark(file)
    assert benchmark.model == "template"
    assert benchmark.scenarios[0].extra == {}


def test_the_old_shape_is_recognised_and_read():
    old = {"id": "Q1", "question": "V: ?", "functions": [
        {"name": "mean_speed", "params": {}, "expected_result": {"min": 1}, "delta_value": 0.1}
    ]}  # fmt: skip
    benchmark = benchmark_of(changed(questions=[old]), where="")
    assert benchmark.shape == "old"
    assert benchmark.scenarios[0].questions[0].measurements[0].function == "mean_speed"


@pytest.mark.parametrize(
    "expected", [None, {}, {"min": None}, {"min": "low"}, {"min": 2, "max": 1}, [1, 2], 0.5, True]
)
def test_odd_bounds_are_kept_for_the_checks_to_judge(expected):
    question = {"id": "Q1", "question": "?", "measurements": [
        {"function": "x", "params": None, "expected_result": expected}
    ]}  # fmt: skip
    read = benchmark_of(changed(questions=[question]), where="").scenarios[0].questions[0]
    assert read.measurements[0].expected == expected
    assert read.measurements[0].params == {}


@pytest.mark.parametrize(
    ("told", "read"),
    [(36, 36), (0, None), (-5, None), (True, None), (3.5, None), ("5", None), (None, None)],
)
def test_a_number_of_people_is_whole_and_above_nothing(told, read):
    assert benchmark_of(changed(n_agents=told), where="").scenarios[0].n_agents == read


def test_an_id_that_is_there_twice_is_refused_in_whatever_form_of_unicode():
    for first, second in (("0001", "0001"), ("Ch\u00e2telet", "Cha\u0302telet")):
        scenes = [{**DOCUMENT["scenes"][0], "source_scene_id": one} for one in (first, second)]
        with pytest.raises(SourceError, match="each id once"):
            benchmark_of({**DOCUMENT, "scenes": scenes}, where="b.json")


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ([], "expected an object"),
        ({"model": "m"}, "scenes: expected a list, found nothing"),
        ({"scenes": [3]}, r"scenes\[0\]: expected an object"),
        (changed(source_scene_id=None), "source_scene_id: expected a text"),
        (changed(source_scene_id=17), "source_scene_id: expected a text"),
        (changed(questions=None), r"\(0001\): questions: expected a list"),
        (changed(questions=[{"id": "Q1"}]), "measurements: expected a list"),
        (changed(questions=[{"measurements": ["x"]}]), r"measurements\[0\]: expected an object"),
    ],
)
def test_a_file_of_another_shape_is_refused_with_the_place(tmp_path, document, words):
    with pytest.raises(SourceError, match=words):
        read_benchmark(written(tmp_path, document))


@pytest.mark.parametrize(
    "text",
    ["{", '{"scenes": [], "scenes": []}', "\udc80", '"' + "[" * 9, '{"model": "\\ud83d"}'],
)
def test_a_file_that_is_no_json_is_refused(tmp_path, text):
    file = tmp_path / "b.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(SourceError, match=r"b\.json: expected"):
        read_benchmark(file)
    with pytest.raises(SourceError, match="no such file"):
        read_benchmark(tmp_path / "none.json")
