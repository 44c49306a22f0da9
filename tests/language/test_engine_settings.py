"""Engine settings: what is read from params.yaml, and what of it is part of a key."""

from pathlib import Path

import msgspec
import pytest
import yaml

from pipeline.errors import ParameterError
from pipeline.language.engines.settings import (
    EngineSettings,
    ExecutorSettings,
    LocalExecutor,
    OpenAISettings,
    RayExecutor,
    RecordedSettings,
    TemplateSettings,
    VllmSettings,
    model_fingerprint,
    model_id,
)
from pipeline.params import section_of
from tests.language.engine_requests import openai_settings, recorded_settings, vllm_settings

REPLACE = msgspec.structs.replace


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    engine: EngineSettings
    executor: ExecutorSettings


def read(folder: Path, engine: object, executor: object) -> Section:
    file = folder / "params.yaml"
    content = {
        "annotate": {
            "engine": msgspec.to_builtins(engine),
            "executor": msgspec.to_builtins(executor),
        }
    }
    file.write_text(yaml.safe_dump(content))
    return section_of(file, "annotate", Section)


@pytest.mark.parametrize(
    "engine",
    [vllm_settings(Path("models/x")), openai_settings("https://example.org/v1"),
     recorded_settings(Path("x.jsonl")), TemplateSettings()],
    ids=["vllm", "openai", "recorded", "template"],
)  # fmt: skip
@pytest.mark.parametrize("executor", [LocalExecutor(), RayExecutor(None, 2, 1.0, 0.0)])
def test_settings_of_every_kind_are_read_back_as_written(tmp_path, engine, executor):
    assert read(tmp_path, engine, executor) == Section(engine, executor)


@pytest.mark.parametrize("kind", [VllmSettings, OpenAISettings, RecordedSettings])
def test_no_setting_has_a_default(kind):
    assert all(field.required for field in msgspec.structs.fields(kind))


def test_an_unknown_key_is_refused_by_its_path(tmp_path):
    engine = msgspec.to_builtins(vllm_settings(tmp_path)) | {"windows": 3}
    with pytest.raises(ParameterError, match=r"params\.yaml: annotate\.engine: .*windows"):
        read(tmp_path, engine, LocalExecutor())


def test_an_address_without_http_is_refused_by_its_path(tmp_path):
    engine = msgspec.to_builtins(openai_settings("http://x/v1")) | {"base_url": "localhost:8000"}
    with pytest.raises(ParameterError, match=r"annotate\.engine\.base_url: expected http://"):
        read(tmp_path, engine, LocalExecutor())


def test_an_address_with_a_password_is_refused_without_showing_it(tmp_path):
    engine = msgspec.to_builtins(openai_settings("http://x/v1"))
    engine["base_url"] = "http://me:hunter2@example.org/v1"
    with pytest.raises(ParameterError, match="api_key_env") as caught:
        read(tmp_path, engine, LocalExecutor())
    assert "hunter2" not in str(caught.value)


def test_what_only_decides_how_fast_answers_come_is_no_part_of_the_model():
    vllm = vllm_settings(Path("org/name"))
    faster = REPLACE(
        vllm, window=512, max_num_seqs=256, tensor_parallel_size=8, enforce_eager=False,
        gpu_memory_utilization=0.9, max_model_len=2048, dtype="bfloat16",
    )  # fmt: skip
    assert model_id(faster) == model_id(vllm)
    server = openai_settings("http://a/v1")
    other = REPLACE(
        server, base_url="http://b/v1", concurrency=64, requests_per_minute=60.0, timeout_s=5.0,
        patience_s=9.0, api_key_env="KEY", strict=False,
    )  # fmt: skip
    assert model_id(other) == model_id(server)


def test_one_model_has_one_key_in_process_and_behind_a_server_and_in_a_record_of_both():
    names = {
        (model.model, model.revision)
        for model in (
            model_id(vllm_settings(Path("tiny"))),
            model_id(openai_settings("http://a/v1")),
            model_id(recorded_settings(Path("x.jsonl"))),
        )
    }
    assert names == {("tiny", "1")}


def test_what_changes_the_words_or_the_weights_follows_the_revision(tmp_path):
    template = tmp_path / "chat.jinja"
    template.write_text("{{ messages }}")
    plain = vllm_settings(Path("org/name"))
    revisions = [
        model_id(settings).revision
        for settings in (
            plain,
            REPLACE(plain, quantization="fp8"),
            REPLACE(plain, chat_template=str(template)),
            REPLACE(plain, chat_template_kwargs={"enable_thinking": False}),
        )
    ]
    template.write_text("{{ messages[0] }}")
    revisions.append(model_id(REPLACE(plain, chat_template=str(template))).revision)
    assert revisions[:2] == ["1", "1+quantization=fp8"]
    assert len(set(revisions)) == len(revisions)
    server = openai_settings("http://a/v1")
    assert model_id(REPLACE(server, extra_body={"reasoning_effort": "low"})) != model_id(server)


def test_a_chat_template_that_is_not_there_is_named(tmp_path):
    settings = vllm_settings(Path("org/name"), chat_template=str(tmp_path / "none.jinja"))
    with pytest.raises(ParameterError, match=r"engine\.chat_template: .*none\.jinja"):
        model_id(settings)


def test_a_fingerprint_changes_with_configuration_template_and_weights(tmp_path):
    def fingerprint(**files: str) -> str | None:
        for name, content in files.items():
            (tmp_path / name.replace("_", ".")).write_text(content)
        return model_fingerprint(vllm_settings(tmp_path))

    found = [
        fingerprint(config_json="{}", model_safetensors="1234", README_md="one"),
        fingerprint(config_json='{"a": 1}'),
        fingerprint(chat_jinja="{{ messages }}"),
        fingerprint(model_safetensors="12345"),
    ]
    assert len(set(found)) == len(found)
    assert fingerprint(README_md="two") == found[-1]


def test_only_a_local_folder_has_a_fingerprint():
    assert model_fingerprint(vllm_settings(Path("org/name"))) is None
    assert model_fingerprint(openai_settings("http://a/v1")) is None
