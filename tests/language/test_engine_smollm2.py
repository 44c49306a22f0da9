"""Real weights: SmolLM2 with 135 million parameters answers a question in JSON."""

import json
import warnings

import msgspec
import pytest

from pipeline.language.engines import engine_for
from pipeline.language.engines.settings import LocalExecutor
from pipeline.language.requests import Message
from tests.language.engine_requests import answered, request_to, vllm_settings
from tests.language.models import write_smollm2

CAPITAL = {
    "type": "object",
    "properties": {"country": {"enum": ["France"]}, "capital": {"type": "string", "maxLength": 20}},
    "required": ["country", "capital"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def smollm2(small_models, tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the libraries' notes on their own coming versions
        return write_smollm2(tmp_path_factory.mktemp("models") / "smollm2")


def test_a_model_that_knows_the_answer_gives_it_in_the_schemas_shape(smollm2):
    settings = vllm_settings(smollm2)
    question = msgspec.structs.replace(
        request_to(settings, "france"),
        schema=CAPITAL,
        messages=(
            Message("system", "You answer in JSON."),
            Message("user", "What is the capital of France?"),
        ),
    )
    with engine_for(settings, LocalExecutor()) as engine:
        answer = answered(engine, [question])["france"]
    assert answer.status == "ok"
    assert json.loads(answer.text) == {"country": "France", "capital": "Paris"}
