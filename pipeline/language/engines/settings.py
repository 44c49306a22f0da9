"""Which model answers, how it is reached and who runs it: the keys `engine` and `executor`.

{kind: openai, base_url: "http://127.0.0.1:8000/v1", model: qwen, revision: 2026-05, ...}
  -> OpenAISettings(...) -> ModelId(engine="openai", model="qwen", revision="2026-05")

Only the model, its revision and what changes the words it reads or its weights are part of an
answer's key. Window, server, number of workers and the like only decide how fast it comes.
"""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

from msgspec import Meta, Struct

from pipeline.errors import ModelError, ParameterError
from pipeline.keys import Text
from pipeline.language.requests import ModelId, Sampling

Count = Annotated[int, Meta(ge=1, le=1_000_000)]
# Requests an engine is given at a time where its settings name no number.
WINDOW = 64
# The files of a model folder that decide what it reads and how it speaks; weights go by size.
_READ_IN_FULL = (".json", ".jinja", ".txt", ".model", ".tiktoken")
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf")


class VllmSettings(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="vllm"):
    """vLLM in this process: the CUDA build on a GPU, the CPU build elsewhere.

    Attributes:
        model: Hub id such as `org/name`, or a local folder.
        revision: Commit or tag of the hub model; for a folder any text that names its version.
        dtype: Of weights and activations. With `float32` an answer does not depend on what else is
            in the batch; with the others it may, by rounding.
        max_model_len: Most tokens of prompt and answer together; a longer prompt is refused.
        max_num_seqs: Most requests computed at once.
        tensor_parallel_size: GPUs that share one copy of the model.
        quantization: Method that vLLM applies, such as `fp8`; null takes what the model states.
        gpu_memory_utilization: Share of the GPU's memory to use, or of the machine's on a CPU.
        enforce_eager: Compile nothing: quicker to start, slower to run.
        chat_template: Jinja file in place of the model's own template; null keeps that.
        chat_template_kwargs: What the template is given, such as `{enable_thinking: false}`.
        window: Most requests handed to vLLM at a time; about twice `max_num_seqs` keeps it busy.
    """

    model: Text
    revision: Text
    dtype: Literal["auto", "float32", "bfloat16", "float16"]
    max_model_len: Count
    max_num_seqs: Count
    tensor_parallel_size: Annotated[int, Meta(ge=1, le=1024)]
    quantization: Text | None
    gpu_memory_utilization: Annotated[float, Meta(gt=0, le=1)]
    enforce_eager: bool
    chat_template: Text | None
    chat_template_kwargs: dict[str, str | int | bool]
    window: Count


class OpenAISettings(
    Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="openai"
):
    """Any server that speaks the OpenAI protocol: a hosted one, `vllm serve`, llama.cpp, ...

    Attributes:
        base_url: Address up to and with `/v1`.
        model: Name the server knows the model by.
        revision: Any text that names the version; the server does not tell its own.
        concurrency: Most requests under way at once.
        requests_per_minute: Most requests begun in a minute; null for no limit.
        timeout_s: Longest wait for a first byte, and for a whole answer once it has begun, seconds.
        patience_s: Longest time without any answer, seconds, before the run stops: the server is
            busy, down or out of reach. Until then requests are sent again with growing pauses (the
            server's Retry-After where it states one); none of this uses up an attempt.
        api_key_env: Name of the environment variable with the key; null for a server without.
        strict: Ask the server to enforce the schema. Set false where it refuses a schema with
            bounded texts (`maxLength`), as OpenAI's own does; answers are checked here anyway.
        extra_body: More fields of the request, such as `{reasoning_effort: low}`.
    """

    base_url: Text
    model: Text
    revision: Text
    concurrency: Annotated[int, Meta(ge=1, le=1000)]
    requests_per_minute: Annotated[float, Meta(gt=0)] | None
    timeout_s: Annotated[float, Meta(gt=0, le=86_400)]
    patience_s: Annotated[float, Meta(ge=0, le=604_800)]
    api_key_env: Text | None
    strict: bool
    extra_body: dict[str, Any]

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("http://", "https://")):
            raise ValueError(f"base_url: expected http:// or https://, found {self.base_url!r}")
        if "@" in self.base_url:
            raise ValueError(
                "base_url: expected an address without user and password, found one with `@` (not"
                " shown); put the key into an environment variable and name it in api_key_env"
            )


class TemplateSettings(
    Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="template"
):
    """The surface realiser: no model, sentences from phrase banks, always labelled as such."""


class RulesSettings(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="rules"):
    """No model: the stated rules of quality control, always labelled `rules`.

    Only its own stages offer it (pipeline/quality/); no engine of this folder answers for it.
    """


class RecordedSettings(
    Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="recorded"
):
    """Answers from a file of earlier responses, by request key.

    Attributes:
        file: `.jsonl` or `.parquet`, or a folder of `.parquet` shards, with the columns of a
            response: at least `key` and `text`.
        model: Model that gave the answers, as the run that recorded them named it.
        revision: Its revision, likewise; both are part of every key.
    """

    file: Text
    model: Text
    revision: Text


EngineSettings = VllmSettings | OpenAISettings | TemplateSettings | RecordedSettings


class LocalExecutor(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="local"):
    """One engine in this process."""


class RayExecutor(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="ray"):
    """Several engines on a Ray cluster; this process hands out requests and collects answers.

    Attributes:
        address: `auto`, or host and port of a running cluster; null starts one on this machine.
        workers: Engines, each in a process of its own.
        cpus_per_worker: CPU cores to reserve for each.
        gpus_per_worker: GPUs to reserve for each.
    """

    address: Text | None
    workers: Annotated[int, Meta(ge=1, le=4096)]
    cpus_per_worker: Annotated[float, Meta(ge=0)]
    gpus_per_worker: Annotated[float, Meta(ge=0)]


ExecutorSettings = LocalExecutor | RayExecutor
_Engine = TypeVar("_Engine")


class AskedModel(Struct, Generic[_Engine], frozen=True, forbid_unknown_fields=True):
    """Who is asked and how; the kinds of engine that may stand there are those of its user.

    Attributes:
        engine: Which model answers, and how it is reached; or what answers without one.
        executor: Who runs it.
        sampling: How it samples.
        attempts: Most attempts of one request; a later one samples with another seed.
        most_failed_share: Largest share of requests without an answer that is borne.
    """

    engine: _Engine
    executor: ExecutorSettings
    sampling: Sampling
    attempts: Annotated[int, Meta(ge=1, le=20)]
    most_failed_share: Annotated[float, Meta(ge=0, le=1)]


def model_id(settings: EngineSettings) -> ModelId:
    """Return who answers, without loading anything.

    Another quantisation, chat template or request field makes other answers of the same weights, so
    where one is set its name or hash follows the revision.

    Raises:
        ParameterError: The chat template is missing.
    """
    match settings:
        case VllmSettings():
            set_here = {
                "quantization": settings.quantization,
                "chat_template": settings.chat_template and _text_of(settings.chat_template),
                "chat_template_kwargs": settings.chat_template_kwargs,
            }
            return ModelId("vllm", settings.model, settings.revision + _changes(set_here))
        case OpenAISettings():
            changes = _changes({"extra_body": settings.extra_body})
            return ModelId("openai", settings.model, settings.revision + changes)
        case RecordedSettings():
            return ModelId("recorded", settings.model, settings.revision)
        case TemplateSettings():
            from pipeline.language.engines.template import template_revision  # noqa: PLC0415

            return ModelId("template", "template", template_revision())


def requests_at_a_time(settings: EngineSettings) -> int:
    """Return how many requests an engine of these settings works on at once."""
    match settings:
        case VllmSettings():
            return settings.window
        case OpenAISettings():
            return settings.concurrency
        case _:
            return WINDOW


def model_fingerprint(settings: EngineSettings) -> str | None:
    """Return a hash of what lies in the model's folder, or null where there is no local folder.

    It covers configuration, tokenizer and chat template by content, weights by name and size: what
    shows that a folder was exchanged under the same name and revision.
    """
    if not isinstance(settings, VllmSettings) or not Path(settings.model).is_dir():
        return None
    folder = Path(settings.model)
    content = {}
    for file in sorted(folder.iterdir()):
        if file.suffix in _READ_IN_FULL:
            content[file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
        elif file.suffix in _WEIGHTS:
            content[file.name] = str(file.stat().st_size)
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def one_line(text: object) -> str:
    """Return a library's message as one short line, to stand inside one of ours."""
    line = " ".join(str(text).split())
    return line if len(line) <= 400 else line[:397] + "..."


def not_installed(kind: str, package: str) -> ModelError:
    """Return the error of an engine whose library is not there."""
    return ModelError(
        f"engine {kind}: expected the package {package}, found none; run `make models`, or"
        " `.venv/bin/pip install --no-deps -r requirements-models.txt`"
    )


def _changes(values: dict[str, Any]) -> str:
    """Return what is set as "+name=value"; long values as a short hash."""
    words = ""
    for name, value in values.items():
        if value:
            text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
            short = len(text) <= 16 and text.isalnum()
            shown = text if short else hashlib.sha256(text.encode()).hexdigest()[:12]
            words += f"+{name}={shown}"
    return words


def _text_of(chat_template: str) -> str:
    try:
        return Path(chat_template).read_text("utf-8")
    except OSError as fault:
        raise ParameterError(
            f"engine.chat_template: expected a Jinja file, found {chat_template!r}"
            f" ({fault.strerror}); name one, or set null for the model's own template"
        ) from fault
