"""Who examines texts, as a judge or a verifier: a model that is asked, or the stated rules.

    engine: {kind: vllm, model: Qwen/Qwen3.5-27B, ...}   ->  model_of(settings): whom to ask
    engine: {kind: rules}                                ->  None; records then say `rules`

The rules are no model, read no prompt and send no request.
"""

from typing import Final

from pipeline.language.asked import Asking
from pipeline.language.engines.settings import (
    AskedModel,
    EngineSettings,
    OpenAISettings,
    RecordedSettings,
    RulesSettings,
    VllmSettings,
)
from pipeline.language.requests import ModelId

# Engine and model of what the rules say.
RULES: Final = "rules"

# Section `judge`, each judge of `rejudge`, and key `verify` of section `check` in params.yaml.
ExaminerSettings = AskedModel[RulesSettings | VllmSettings | OpenAISettings | RecordedSettings]


def model_of(settings: ExaminerSettings) -> AskedModel[EngineSettings] | None:
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
