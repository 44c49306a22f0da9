"""Schemas: each has a true example, and each rule a counterexample that breaks only it."""

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from pipeline import records
from pipeline.artifacts import ARTIFACTS
from pipeline.errors import ContractError
from pipeline.schemas import check_record, schema_documents
from pipeline.tasks import records as predictions

DOCUMENTS = schema_documents()
COUNTEREXAMPLES = sorted((Path(__file__).parent / "schemas").glob("*/bad-*.json"))
# Of records that lie outside of data/<city>/, or are only printed.
ELSEWHERE = {
    "seed", "review_assignment", "audit_report", "release_diff", "stride_benchmark",
    "stride_report", "generation_prediction", "retrieval_prediction", "caption_prediction",
    "task_report", "task_comparison",
}  # fmt: skip
RECORDS = {
    "rejection": records.Rejection,
    "raw_trip": records.RawTrip,
    "cleaned_trip": records.CleanedTrip,
    "matched_trip": records.MatchedTrip,
    "matched_points": records.MatchedPoints,
    "phased_trip": records.PhasedTrip,
    "annotated_trip": records.AnnotatedTrip,
    "planned_trip": records.PlannedTrip,
    "judged_trip": records.JudgedTrip,
    "selected_trip": records.SelectedTrip,
    "sampled_trip": records.SampledTrip,
    "rating": records.Rating,
    "generation_prediction": predictions.GenerationPrediction,
    "retrieval_prediction": predictions.RetrievalPrediction,
    "caption_prediction": predictions.CaptionPrediction,
}
# Files of users may leave these out; in our own tables every column is there.
OPTIONAL = {
    "generation_prediction": {"candidates", "t_enter_s"},
    "retrieval_prediction": {"scores"},
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_schema_is_a_valid_closed_and_described_one(name):
    document = DOCUMENTS[name]
    jsonschema.Draft202012Validator.check_schema(document)
    assert document["$id"].endswith(f"/v1/{name}.schema.json")
    assert document["additionalProperties"] is False
    optional = OPTIONAL.get(name, set())
    assert document["required"] == [k for k in document["properties"] if k not in optional]
    assert "Unit of observation" in document["description"]
    for key, spec in document["properties"].items():
        assert spec.get("description") or "$ref" in spec, f"{name}.{key} has no description"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_schemas_own_example_is_valid(name):
    examples = DOCUMENTS[name]["examples"]
    assert examples
    for example in examples:
        check_record(name, example, where=f"example of {name}")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_schema_belongs_to_an_artifact(name):
    used = {artifact.schema for artifact in ARTIFACTS.values()}
    assert name in used | ELSEWHERE


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_schema_has_counterexamples(name):
    assert any(file.parent.name == name for file in COUNTEREXAMPLES)


@pytest.mark.parametrize("file", COUNTEREXAMPLES, ids=lambda f: f"{f.parent.name}/{f.stem}")
def test_a_counterexample_fails_for_the_reason_its_name_says(file):
    case = json.loads(file.read_text("utf-8"))
    with pytest.raises(ContractError) as fault:
        check_record(file.parent.name, case["record"], where=file.stem)
    assert f"{file.stem}: {case['path']}: " in str(fault.value)
    assert case["message"] in str(fault.value)


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_has_the_fields_of_its_schema_and_decodes_its_example(name):
    document = DOCUMENTS[name]
    fields = msgspec.structs.fields(RECORDS[name])
    assert [field.name for field in fields] == list(document["properties"])
    assert [field.name for field in fields if field.required] == document["required"]
    for example in document["examples"]:
        decoded = msgspec.convert(example, RECORDS[name])
        assert msgspec.to_builtins(decoded) == example
