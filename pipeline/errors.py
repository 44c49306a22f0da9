"""The few exceptions of the pipeline: faults of the set-up or the program, never of the data.

A fault of the data is a value (a rejection with a reason); what is raised here reaches the user as
one line that says what, where, expected, found, and what to run next:

    configs/porto.yaml: cell.resolution is 19, expected 0..15; edit it and run `dvc repro`
"""

import re

# Control characters and ends of lines, as a damaged file or another program's message holds them.
_NO_TEXT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


class PipelineError(Exception):
    """Root of all faults the command line turns into one line and exit code 1.

    Whatever a message quotes, it is one line; `more` follows on lines of its own.
    """

    def __init__(self, message: str, *, more: str = "") -> None:
        line = _NO_TEXT.sub(" ", message)
        super().__init__(f"{line}\n{more}" if more else line)


class ParameterError(PipelineError):
    """A key of params.yaml or configs/<city>.yaml is missing, unknown or out of range."""


class ContractError(PipelineError):
    """A record breaks its schema: the message names file, row, item id, JSON path and rule."""


class SourceError(PipelineError):
    """A raw input is missing, unreadable, or not what its pin says it is."""


class ModelError(PipelineError):
    """A model cannot answer at all: not installed, not reachable, or too many requests failed."""


class PromptError(PipelineError):
    """A prompt template is missing, broken, or asks for what it is not given."""
