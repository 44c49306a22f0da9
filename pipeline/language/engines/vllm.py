"""vLLM in this process: a bounded window of requests, answers as they finish.

    VllmSettings(model="models/tiny", window=64, ...) and any number of requests
      -> the model's chat template, a grammar from each request's schema, a seed from its key
      -> [Answer(status="ok", text='{"instruction": ...}', prompt_tokens=612, ...)], ...

The grammar comes from llguidance with white space off: under it even a model that loops in white
space or knows no JSON writes an answer of the schema's shape (unless it runs out of tokens).
"""

import gc
import logging
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pipeline.errors import ModelError, ParameterError, PipelineError
from pipeline.language.engines.replies import judged, unanswered
from pipeline.language.engines.settings import VllmSettings, not_installed, one_line
from pipeline.language.requests import Answer, Request

# Read when vLLM is imported. What the user has set stays.
_QUIET = {
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "TORCH_CPP_LOG_LEVEL": "ERROR",
}
# On a CPU one process is quicker to start and as quick to run; without binding it may use any core.
_ON_CPU = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
# A forked child would keep our files open, and with them the locks of a run that was killed.
_ON_GPU = {"VLLM_WORKER_MULTIPROC_METHOD": "spawn"}
# As it loads, vLLM's CPU build looks into all that any module holds, and breaks off at numba's
# handle of its library, which claims to have every attribute.
_CLAIMS_EVERYTHING = "llvmlite.binding.ffi"
# How vLLM words a prompt that leaves no room for an answer; its error type covers other faults too.
_TOO_LONG = ("maximum context length", "maximum model length")


class VllmEngine:
    """An `Engine` on vLLM's offline engine; one at a time in a process."""

    def __init__(self, settings: VllmSettings) -> None:
        self._settings = settings
        self._llm: Any = None

    def __enter__(self) -> Self:
        self._llm = _load(self._settings)
        try:
            self._check_chat_template()
        except BaseException:
            self._free()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._free()

    def answers(self, requests: Iterable[Request]) -> Iterator[list[Answer]]:
        """Answer requests as `Engine.answers` says; at most `window` are pulled and not answered.

        Raises:
            ModelError: vLLM stopped working, for instance for want of memory.
        """
        source, more = iter(requests), True
        asked: dict[str, Request] = {}
        try:
            while more or asked:
                refused: list[Answer] = []
                while more and len(asked) + len(refused) < self._settings.window:
                    request = next(source, None)
                    if request is None:
                        more = False
                    else:
                        refused += self._ask(request, asked)
                if refused:
                    yield refused
                outputs = self._step() if asked else []
                finished = [_answer(asked.pop(o.request_id), o) for o in outputs if o.finished]
                if finished:
                    yield finished
        finally:
            if asked and self._llm is not None:  # closed early, with the engine still there
                self._llm.llm_engine.abort_request(list(asked))

    def _step(self) -> list[Any]:
        """Let vLLM compute one more token of each running request; returns what has finished."""
        from vllm.v1.engine.exceptions import EngineDeadError  # noqa: PLC0415

        try:
            outputs: list[Any] = self._llm.llm_engine.step()
        except (EngineDeadError, RuntimeError) as fault:
            raise ModelError(
                f"engine vllm, {self._settings.model}: expected answers, found that it stopped"
                f" ({one_line(fault)}); lower engine.max_num_seqs, engine.max_model_len or"
                " engine.gpu_memory_utilization if memory was short, and rerun (answers so far are"
                " kept)"
            ) from fault
        return outputs

    def _ask(self, request: Request, asked: dict[str, Request]) -> list[Answer]:
        """Hand a request to vLLM; one that it refuses is answered here."""
        from vllm.exceptions import VLLMClientError  # noqa: PLC0415

        try:
            (identifier,) = self._enqueue(request)
        except VLLMClientError as fault:
            reason = one_line(fault)
            too_long = any(words in reason for words in _TOO_LONG)
            return [unanswered(request, "prompt_too_long" if too_long else "failed", reason)]
        # vLLM adds "-" and random characters to the number by which the output goes.
        asked[identifier.partition("-")[0]] = request
        return []

    def _enqueue(self, request: Request) -> list[str]:
        from vllm import SamplingParams  # noqa: PLC0415
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams  # noqa: PLC0415

        params = SamplingParams(
            temperature=request.sampling.temperature,
            top_p=request.sampling.top_p,
            max_tokens=request.sampling.max_tokens,
            seed=request.seed,
            structured_outputs=StructuredOutputsParams(json=request.schema),
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
        return self._enqueue_chat(
            [{"role": m.role, "content": m.content} for m in request.messages], params
        )

    def _enqueue_chat(self, messages: list[dict[str, str]], params: Any) -> list[str]:
        identifiers: list[str] = self._llm.enqueue_chat(
            [messages],
            [params],
            use_tqdm=False,
            chat_template_kwargs=self._settings.chat_template_kwargs or None,
        )
        return identifiers

    def _check_chat_template(self) -> None:
        """Put one question through the template now rather than fail request by request."""
        from vllm import SamplingParams  # noqa: PLC0415
        from vllm.exceptions import VLLMClientError  # noqa: PLC0415

        question = [{"role": "system", "content": "?"}, {"role": "user", "content": "?"}]
        try:
            identifiers = self._enqueue_chat(question, SamplingParams(max_tokens=1))
        except (VLLMClientError, ValueError) as fault:
            raise ModelError(
                f"engine vllm, {self._settings.model}: expected a chat template for system and user"
                f" turns, found {one_line(fault)}; take the model's instruction-tuned version, or"
                " name a Jinja file in engine.chat_template"
            ) from fault
        self._llm.llm_engine.abort_request(identifiers, internal=True)

    def _free(self) -> None:
        from vllm.distributed import cleanup_dist_env_and_memory  # noqa: PLC0415

        self._llm.llm_engine.engine_core.shutdown()
        self._llm = None
        gc.collect()
        cleanup_dist_env_and_memory()


def _load(settings: VllmSettings) -> Any:
    """Load the model; every fault of settings or model is one line."""
    folder = Path(settings.model).is_dir()
    _check_place(settings, folder=folder)
    _set_unless_set(_QUIET)
    # It is needed on GPUs only, where it comes with the CUDA build.
    logging.getLogger("torch._library.triton").setLevel(logging.ERROR)
    with warnings.catch_warnings(), _out_of_sight(_CLAIMS_EVERYTHING):
        # The libraries' notes to their own developers; nobody here can act on them.
        warnings.simplefilter("ignore")
        try:
            from vllm import LLM  # noqa: PLC0415
            from vllm.platforms import current_platform  # noqa: PLC0415
        except ImportError as fault:
            raise not_installed("vllm", "vllm") from fault
        on_cpu = current_platform.is_cpu()
        _set_unless_set(_ON_CPU if on_cpu else _ON_GPU)
        in_process = on_cpu and settings.tensor_parallel_size == 1
        try:
            return LLM(
                model=settings.model,
                revision=None if folder else settings.revision,
                tokenizer_revision=None if folder else settings.revision,
                dtype=settings.dtype,
                max_model_len=settings.max_model_len,
                max_num_seqs=settings.max_num_seqs,
                tensor_parallel_size=settings.tensor_parallel_size,
                quantization=settings.quantization,
                gpu_memory_utilization=settings.gpu_memory_utilization,
                enforce_eager=settings.enforce_eager,
                chat_template=settings.chat_template and Path(settings.chat_template),
                seed=0,  # requests bring their own
                enable_prefix_caching=True,
                # vLLM winds a request's random numbers back when it reads a prompt in pieces, which
                # PyTorch's generator for CPUs cannot do: there prompts are read whole.
                enable_chunked_prefill=False if on_cpu else None,
                language_model_only=True,
                structured_outputs_config={"backend": "guidance", "disable_any_whitespace": True},
                distributed_executor_backend="uni" if in_process else None,
                use_tqdm_on_load=sys.stderr.isatty(),
            )
        except (ValueError, OSError, RuntimeError, ImportError) as fault:
            raise _load_error(settings, fault) from fault


@contextmanager
def _out_of_sight(module: str) -> Iterator[None]:
    """Keep a module out of the list of loaded ones for a while; who holds it keeps it."""
    hidden = sys.modules.pop(module, None)
    try:
        yield
    finally:
        if hidden is not None:
            sys.modules[module] = hidden


def _check_place(settings: VllmSettings, *, folder: bool) -> None:
    model = settings.model
    if folder and not Path(model, "config.json").is_file():
        raise ModelError(
            f"engine.model: {model}: expected a model folder with config.json, found none; name the"
            " folder that holds config, tokenizer and weights"
        )
    looks_like_path = model.startswith((".", "/", "~")) or model.count("/") > 1
    if not folder and looks_like_path:
        raise ModelError(
            f"engine.model: {model}: expected a folder, found none; put the model there, or name a"
            " hub id such as `org/name`"
        )


def _load_error(settings: VllmSettings, fault: Exception) -> PipelineError:
    # pydantic's own text begins with a count and a dump of the configuration.
    errors = getattr(fault, "errors", None)
    message = one_line(errors()[0]["msg"] if callable(errors) else fault)
    message = message.removeprefix("Value error, ")
    if "max_model_len" in message:
        return ParameterError(
            f"engine.max_model_len: {settings.max_model_len}: expected no more than the model"
            f" {settings.model} reads, found: {message.partition('. ')[0]}; lower it"
        )
    return ModelError(
        f"engine vllm, {settings.model}: expected the model to load, found {message}; check"
        " engine.model, engine.revision and the memory that is free"
    )


def _set_unless_set(values: dict[str, str]) -> None:
    for name, value in values.items():
        os.environ.setdefault(name, value)


def _answer(request: Request, output: Any) -> Answer:
    completion = output.outputs[0]
    return judged(
        request,
        completion.text,
        completion.finish_reason or "",
        prompt_tokens=len(output.prompt_token_ids),
        output_tokens=len(completion.token_ids),
    )
