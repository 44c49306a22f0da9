r"""Measure what our way to vLLM costs beside the bare engine given all requests in one call.

Ours is the engine's bounded window, and then `ask()` with the ledger, as a stage does it.

    python bench/vllm_stage.py MODEL_FOLDER --requests 128 --window 64
    python bench/vllm_stage.py org/name --revision COMMIT --dtype bfloat16 --max-num-seqs 256 \
        --requests 4000 --window 512 --compile

The three are run in turns in one process with one loaded model and an emptied prefix cache each
time; the ratio is that of the median times. All three write the same tokens: greedy, or sampled
with the same seeds.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pipeline.errors import PipelineError
from pipeline.language.asking import ask
from pipeline.language.engines.settings import VllmSettings, model_id
from pipeline.language.engines.vllm import VllmEngine
from pipeline.language.ledger import Ledger
from pipeline.language.requests import Message, Request, Sampling, request_key

# Shared by all prompts, as instructions and examples are.
RULES = "You describe a drive for its driver. " * 30
STREETS = ("Rua da Boavista", "Avenida dos Aliados", "Rua de Santa Catarina", "Rua do Almada")
SCHEMA = {
    "type": "object",
    "properties": {
        name: {"type": "string", "minLength": 60, "maxLength": 160}
        for name in ("short", "long", "question")
    },
    "required": ["short", "long", "question"],
    "additionalProperties": False,
}


def main() -> None:
    """Measure and print one table."""
    asked = _arguments()
    settings = VllmSettings(
        model=asked.model, revision=asked.revision, dtype=asked.dtype,
        max_model_len=asked.max_model_len, max_num_seqs=asked.max_num_seqs,
        tensor_parallel_size=asked.tensor_parallel_size, quantization=None,
        gpu_memory_utilization=asked.gpu_memory_utilization, enforce_eager=not asked.compile,
        chat_template=None, chat_template_kwargs={}, window=asked.window,
    )  # fmt: skip
    requests = list(_requests(settings, asked.requests, asked.temperature))
    with VllmEngine(settings) as engine:
        ways: dict[str, Callable[[], int]] = {
            "bare engine, one call": lambda: bare(engine, requests),
            "window": lambda: windowed(engine, requests),
            "window, ask() and ledger": lambda: through_ledger(engine, requests),
        }
        ways["window"]()  # grammars compiled, buffers made
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        tokens: set[int] = set()
        for _ in range(asked.rounds):
            for name, way in ways.items():
                engine._llm.reset_prefix_cache()
                start = time.perf_counter()
                tokens.add(way())
                seconds[name].append(time.perf_counter() - start)
    print(f"{asked.model}: {asked.requests} requests, {sorted(tokens)} output tokens, all rounds")
    base = median(seconds["bare engine, one call"])
    for name, times in seconds.items():
        rate = min(tokens) / median(times)
        print(f"{name:26} {median(times):8.2f} s {rate:10.0f} tokens/s {base / median(times):6.3f}")


def bare(engine: VllmEngine, requests: list[Request]) -> int:
    """Give vLLM everything in one call of `LLM.chat`; returns the tokens it wrote."""
    from vllm import SamplingParams  # noqa: PLC0415 - after the engine has made it quiet
    from vllm.sampling_params import StructuredOutputsParams  # noqa: PLC0415

    outputs = engine._llm.chat(
        [[{"role": m.role, "content": m.content} for m in r.messages] for r in requests],
        [
            SamplingParams(
                temperature=r.sampling.temperature, top_p=r.sampling.top_p, seed=r.seed,
                max_tokens=r.sampling.max_tokens,
                structured_outputs=StructuredOutputsParams(json=r.schema),
            )
            for r in requests
        ],
        use_tqdm=False,
    )  # fmt: skip
    return sum(len(output.outputs[0].token_ids) for output in outputs)


def windowed(engine: VllmEngine, requests: list[Request]) -> int:
    """Pass the requests through the window; returns the tokens written."""
    return sum(a.output_tokens or 0 for answers in engine.answers(requests) for a in answers)


def through_ledger(engine: VllmEngine, requests: list[Request]) -> int:
    """Do what a stage does: look up, ask, judge and keep, with an empty ledger."""
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder)) as ledger:
        summary = ask(
            lambda: iter(requests), total=len(requests), ledger=ledger,
            engine=lambda: nullcontext(engine), attempts=1, most_failed_share=1.0, desc="bench",
        )  # fmt: skip
    return summary.output_tokens or 0


def _requests(settings: VllmSettings, count: int, temperature: float) -> Iterator[Request]:
    model = model_id(settings)
    sampling = Sampling(temperature=temperature, top_p=1.0, max_tokens=1000)
    for number in range(count):
        legs = ", then ".join(STREETS[(number + turn) % len(STREETS)] for turn in range(40))
        messages = (Message("system", RULES), Message("user", f"Trip {number}: {legs}."))
        key = request_key(
            task="bench", messages=messages, schema=SCHEMA, model=model, sampling=sampling
        )
        yield Request(f"{number}", "bench", messages, SCHEMA, model, sampling, None, key)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=main.__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("model", help="hub id or folder")
    parser.add_argument("--revision", default="1")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--requests", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--window", type=int, default=64)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--max-model-len", type=int, default=2048)
    parser.add_argument("--max-num-seqs", type=int, default=16)
    parser.add_argument("--tensor-parallel-size", type=int, default=1)
    parser.add_argument("--gpu-memory-utilization", type=float, default=0.5)
    parser.add_argument("--compile", action="store_true", help="compile the model first")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        main()
    except PipelineError as fault:  # no vLLM here, or no such model
        sys.exit(str(fault))
