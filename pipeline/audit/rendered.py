"""What a change made of the prompts of a few trips: both versions rendered, and the difference.

    prompt_changes(before, after, [(old_trip, new_trip)])
    ->  [PromptChange("system message, the same for all", "@@ -3 +3 @@ ...")], ""

Both sides are rendered by the code of today, each from its own prompt files, its own number of
shots and its own record of the trip.
"""

import difflib
from collections.abc import Sequence
from typing import Any

import msgspec

from pipeline.audit.report import PromptChange
from pipeline.audit.versions import Version
from pipeline.errors import PipelineError
from pipeline.language.annotation_prompt import AnnotationPrompt
from pipeline.language.requests import Message
from pipeline.params import Parameters
from pipeline.records import PlannedTrip

SYSTEM = "system message, the same for all"


class _Shots(msgspec.Struct):
    """The one key of section `annotate` that decides a prompt."""

    shots: int


def prompt_changes(
    before: Version, after: Version, trips: Sequence[tuple[dict[str, Any], dict[str, Any]]]
) -> tuple[list[PromptChange], str]:
    """Render some trips with both versions.

    Args:
        before: The one.
        after: The other.
        trips: Rows of annotated trips, before and after.

    Returns:
        The messages that differ, and why nothing can be rendered ("" where it can).
    """
    try:
        prompts = _prompt(before), _prompt(after)
        changes: dict[str, str] = {}
        for rows in trips:
            old, new = (
                prompt.messages(_trip(row))[0] for prompt, row in zip(prompts, rows, strict=True)
            )
            changes.setdefault(SYSTEM, _difference(old[0].content, new[0].content))
            changes[f"trip {rows[0]['trip_id']}"] = _difference(_turns(old[1:]), _turns(new[1:]))
    except (PipelineError, msgspec.ValidationError) as fault:
        return [], str(fault)
    return [PromptChange(of, difference) for of, difference in changes.items() if difference], ""


def _prompt(version: Version) -> AnnotationPrompt:
    if version.files is None or not (version.files / "prompts").is_dir():
        raise PipelineError(f"{version.given} holds no prompts")
    settings: _Shots = Parameters(version.files).section("annotate", _Shots)
    return AnnotationPrompt(version.files / "prompts", shots=settings.shots)


def _trip(row: dict[str, Any]) -> PlannedTrip:
    return msgspec.convert(
        {key: row.get(key) for key in PlannedTrip.__struct_fields__}, PlannedTrip
    )


def _turns(messages: Sequence[Message]) -> str:
    return "\n".join(f"[{message.role}]\n{message.content}" for message in messages)


def _difference(old: str, new: str) -> str:
    """Return the difference of two texts as `diff -u` shows it, with one line around; "" for none.

    A prompt holds long lines, and what changed may stand at their end: nothing is cut.
    """
    lines = difflib.unified_diff(old.split("\n"), new.split("\n"), lineterm="", n=1)
    return "\n".join(list(lines)[2:])
