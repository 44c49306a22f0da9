"""Who examines texts, as a judge or a verifier: a model that is asked, or the stated rules.

    engine: {kind: vllm, model: Qwen/Qwen3.5-27B, ...}   ->  model_of(settings): whom to ask
    engine: {kind: rules}                                ->  None; records then say `rules`

The rules are no model, read no prompt and send no request.
"""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from pipeline.language.asked import Asking
from pipeline.language.engines.settings import (
    AskedModel,
    EngineSettings,
    ExecutorSettings,
    OpenAISettings,
    RecordedSettings,
    RulesSettings,
    VllmSettings,
)
from pipeline.language.requests import ModelId, Sampling

# Engine and model of what the rules say.
RULES: Final = "rules"

# What a verifier that is a model is shown of a trip: see `VerifierSettings`.
Asks = Literal["open_claims", "whole_texts"]
ExaminerEngine = RulesSettings | VllmSettings | OpenAISettings | RecordedSettings
# Section `judge` and each judge of `rejudge` in params.yaml.
ExaminerSettings = AskedModel[ExaminerEngine]


class VerifierSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """Key `verify` of section `check` in params.yaml: the keys of a judge, and what is asked.

    Attributes:
        engine: Who verifies.
        asks: What a model is asked. `whole_texts`: every trip, to settle what no rule could and to
            list what else in its seven texts the record denies or does not show. `open_claims`:
            only the trips with statements that no rule could settle, and only about these.
        executor: Who runs it.
        sampling: How it samples.
        attempts: Most attempts of one request.
        most_failed_share: Largest share of requests without an answer that is borne.
    """

    engine: ExaminerEngine
    asks: Asks
    executor: ExecutorSettings
    sampling: Sampling
    attempts: Annotated[int, Meta(ge=1, le=20)]
    most_failed_share: Annotated[float, Meta(ge=0, le=1)]


def model_of(
    settings: ExaminerSettings | VerifierSettings,
) -> AskedModel[EngineSettings] | None:
    """Return the model to ask, and how; None for the rules."""
    engine = settings.engine
    if isinstance(engine, RulesSettings):
        return None
    return AskedModel[EngineSettings](
        engine,
        settings.executor,
        settings.sampling,
        settings.attempts,
        settings.most_failed_share,
    )


def nobody_asked(task: str, revision: str) -> Asking:
    """Return what the rules ask: nothing.

    Args:
        task: What a model would be asked for.
        revision: Version of the rules.
    """
    return Asking(task, ModelId(RULES, RULES, revision), None, lambda: iter(()))
