"""The key of a request is the hash of one JSON object, however it is put together."""

import hashlib
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.language.requests import KEY_VERSION, Message, ModelId, Sampling, request_key

TEXTS = st.text(st.characters())  # half letters (surrogates) among them
MESSAGES = st.builds(Message, st.sampled_from(["system", "user", "assistant"]), TEXTS)
MODELS = st.builds(ModelId, st.just("vllm"), TEXTS, TEXTS)
SAMPLINGS = st.builds(Sampling, st.floats(0, 5), st.floats(0, 1), st.integers(1, 10**6))
SCHEMAS = st.dictionaries(TEXTS, st.one_of(TEXTS, st.integers(), st.lists(TEXTS)), max_size=4)


@given(
    task=TEXTS,
    messages=st.lists(MESSAGES, max_size=3),
    schema=SCHEMAS,
    model=MODELS,
    sampling=SAMPLINGS,
)
def test_the_key_is_the_hash_of_all_that_decides_an_answer(task, messages, schema, model, sampling):
    content = {
        "key_version": KEY_VERSION,
        "task": task,
        "messages": [[message.role, message.content] for message in messages],
        "schema": schema,
        "model": model.model,
        "revision": model.revision,
        "sampling": msgspec.to_builtins(sampling),
    }
    text = json.dumps(content, ensure_ascii=False, sort_keys=True)
    expected = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    for _ in range(2):  # the second time messages are known
        key = request_key(
            task=task, messages=messages, schema=schema, model=model, sampling=sampling
        )
        assert key == expected


def test_a_schema_that_json_cannot_say_has_no_key():
    with pytest.raises(ValueError, match="JSON compliant"):
        request_key(
            task="t", messages=[], schema={"x": float("nan")}, model=ModelId("vllm", "m", "1"),
            sampling=Sampling(0.0, 1.0, 1),
        )  # fmt: skip
