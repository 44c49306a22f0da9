"""How asking words where it stands, and what ends it.

progress_words(answered=300, cached=900, failed=3, again=0, elsewhere=0, tokens_per_s=310.0,
               seconds_left=720.0)
->  "300 answered, 900 cached, 3 failed, 310 tokens/s, 12 min left"
"""

from collections import Counter
from collections.abc import Sequence


def progress_words(
    *,
    answered: int,
    cached: int,
    failed: int,
    again: int,
    elsewhere: int,
    tokens_per_s: float | None,
    seconds_left: float | None,
) -> str:
    """Word how a round stands: `300 answered, 900 cached, 3 failed, 310 tokens/s, 12 min left`."""
    words = [f"{answered:,} answered", f"{cached:,} cached", f"{failed:,} failed"]
    words += [f"{again:,} to ask again"] if again else []
    words += [f"{elsewhere:,} asked by another run"] if elsewhere else []
    words += [f"{tokens_per_s:,.0f} tokens/s"] if tokens_per_s is not None else []
    words += [f"{_time_words(seconds_left)} left"] if seconds_left is not None else []
    return ", ".join(words)


def _time_words(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def missing_words(desc: str, *, item: str, key: str) -> str:
    """Word that nothing is to be sent and an answer is missing."""
    return (
        f"{desc}: expected every answer in the ledger, as nothing is to be sent, found none for"
        f" item {item} (key {key[:12]}); bring the answers in with `python -m pipeline ledger"
        " import`, or run it with a model"
    )


def silence_words(desc: str, *, count: int, item: str, reason: str) -> str:
    """Word that the server or the model's program failed at so many requests."""
    return (
        f"{desc}: expected answers, found none to {count:,} requests, such as about item {item}"
        f" ({reason}); mend what it says and run again: answers so far are kept, no attempt is"
        " used up, and only what is missing is asked"
    )


def failure_words(
    desc: str, failed: Counter[str], *, of: int, most_share: float, examples: Sequence[str]
) -> str:
    """Word that too many requests have no answer after all attempts, or would have none."""
    counts = ", ".join(f"{count} {status}" for status, count in failed.most_common())
    return (
        f"{desc}: expected at most {most_share:.1%} of requests without an answer, found"
        f" {failed.total()} of {of} finished ({counts}), such as {'; '.join(examples)}; mend what"
        " the reasons say or raise most_failed_share in params.yaml and run again: every answer is"
        " kept (`python -m pipeline ledger stats`)"
    )
