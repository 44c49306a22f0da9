"""From what an engine got back to an `Answer`: who, what, which attempt, and how good it is.

judged(request, '{"caption": "A calm street."}', "stop")   ->  Answer(status="ok", ...)
unanswered(request, "timeout", "no answer in 60 s")        ->  Answer(status="timeout", text="")
"""

from pipeline.language.outcome import judge_text
from pipeline.language.requests import Answer, Request, Status


def judged(
    request: Request,
    text: str,
    finish_reason: str,
    *,
    prompt_tokens: int | None = None,
    output_tokens: int | None = None,
) -> Answer:
    """Return the answer whose status its text tells; null tokens where the engine counts none."""
    status, reason = judge_text(text, finish_reason, request.schema)
    return Answer(
        key=request.key,
        attempt=request.attempt,
        item_id=request.item_id,
        task=request.task,
        status=status,
        reason=reason,
        text=text,
        finish_reason=finish_reason,
        model=request.model,
        prompt_tokens=prompt_tokens,
        output_tokens=output_tokens,
    )


def unanswered(request: Request, status: Status, reason: str, *, text: str = "") -> Answer:
    """Return the answer to a request that got none, or only the beginning `text` of one."""
    return Answer(
        key=request.key,
        attempt=request.attempt,
        item_id=request.item_id,
        task=request.task,
        status=status,
        reason=reason,
        text=text,
        finish_reason="",
        model=request.model,
        prompt_tokens=None,
        output_tokens=None,
    )
