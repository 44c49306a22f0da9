"""From annotated to released texts: checks, judging, agreement, human review."""

from pathlib import Path

from pipeline.quality.compiled import compiled_modules

__path__ = [*compiled_modules(Path(__file__).resolve().parents[2]), *__path__]
