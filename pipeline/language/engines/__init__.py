"""The engines: `with engine_for(settings, executor) as engine` loads a model and frees it again.

    engine_for(OpenAISettings(...), LocalExecutor())  ->  OpenAIEngine
    engine_for(VllmSettings(...), RayExecutor(...))   ->  RayEngine over workers with vLLM each

Whatever the executor, the same requests get the same answers; see `requests.Engine`.
"""

from pipeline.language.engines.settings import (
    EngineSettings,
    ExecutorSettings,
    OpenAISettings,
    RayExecutor,
    RecordedSettings,
    TemplateSettings,
    VllmSettings,
)
from pipeline.language.requests import Engine


def engine_for(settings: EngineSettings, executor: ExecutorSettings) -> Engine:
    """Return the engine of these settings; nothing is loaded before it is entered."""
    if isinstance(executor, RayExecutor):
        from pipeline.language.engines.ray import RayEngine  # noqa: PLC0415

        return RayEngine(settings, executor)
    match settings:
        case VllmSettings():
            from pipeline.language.engines.vllm import VllmEngine  # noqa: PLC0415

            return VllmEngine(settings)
        case OpenAISettings():
            from pipeline.language.engines.openai import OpenAIEngine  # noqa: PLC0415

            return OpenAIEngine(settings)
        case RecordedSettings():
            from pipeline.language.engines.recorded import RecordedEngine  # noqa: PLC0415

            return RecordedEngine(settings)
        case TemplateSettings():
            from pipeline.language.engines.template import TemplateEngine  # noqa: PLC0415

            return TemplateEngine()
