r"""Compare what would be asked now with what a revision's prompts and parameters would ask.

compared(asking.requests, older.requests, most=2)
->  Change(compared=722, prompts_differ=722, requests_differ=722, only_now=0, only_then=0,
           diffs=["system message, the same for all\n@@ -6 +6 @@\n-6. No guided tour. ..."])
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from pipeline.language.requests import Message, Request
from pipeline.language.revision import changed_lines

_DIFF_LINES = 30

# Gives requests anew, in the same order.
Requests = Callable[[], Iterator[Request]]


class Change(msgspec.Struct, frozen=True):
    """What a revision's prompts and parameters would make of the same items.

    Attributes:
        revision: The revision compared with.
        why_not: Why there is nothing to compare with; "" where there is.
        compared: Items that both would ask about; null, as what follows, where nothing is compared.
        prompts_differ: Of these, items whose prompt is another text.
        requests_differ: Of these, items whose request has another key: prompt, schema, model or
            sampling.
        only_now: Items that only the working tree would ask about.
        only_then: Items that only the revision would ask about.
        diffs: Differences of a few, as `diff -u` shows them; the system message's comes first.
    """

    revision: str = ""
    why_not: str = ""
    compared: int | None = None
    prompts_differ: int | None = None
    requests_differ: int | None = None
    only_now: int | None = None
    only_then: int | None = None
    diffs: list[str] = []


def compared(new: Requests, old: Requests, *, most: int) -> Change:
    """Compare two streams of requests item by item, whatever their order.

    Args:
        new: Gives the requests of the working tree anew, each item once.
        old: Likewise those of the revision.
        most: Most items whose difference is shown; 0 shows none.
    """
    differences = _Differences(most)
    # Prompts are kept as hashes: there may be very many.
    then = {one.item_id: (one.key, _digest(one.messages)) for one in old()}
    compared = prompts = keys = only_now = 0
    changed: dict[str, tuple[Message, ...]] = {}
    for one in new():
        key, digest = then.pop(one.item_id, ("", b""))
        if not key:
            only_now += 1
            continue
        compared += 1
        keys += one.key != key
        if _digest(one.messages) != digest:
            prompts += 1
            if len(changed) <= differences.most:
                changed[one.item_id] = one.messages
    if changed:
        for other in old():
            if other.item_id in changed:
                differences.add(other.item_id, other.messages, changed[other.item_id])
    return Change(
        compared=compared,
        prompts_differ=prompts,
        requests_differ=keys,
        only_now=only_now,
        only_then=len(then),
        diffs=differences.texts,
    )


def _digest(messages: Iterable[Message]) -> bytes:
    text = msgspec.json.encode(list(messages))
    return hashlib.blake2b(text, digest_size=16).digest()


class _Differences:
    """The differences of the first few prompts; the system message, shared by all, once.

    Attributes:
        most: Most items that are shown.
        texts: What is shown so far.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._items = 0
        self._system: Message | None = None
        self.texts: list[str] = []

    def add(self, item_id: str, old: Sequence[Message], new: Sequence[Message]) -> None:
        """Show a difference, if there is room for it."""
        if self._system is None and old[0] != new[0] and self.most:
            self._system = new[0]
            self._show("system message, the same for all", old[0].content, new[0].content)
        if self._items < self.most and old[1:] != new[1:]:
            self._items += 1
            self._show(item_id, _turns(old[1:]), _turns(new[1:]))

    def _show(self, title: str, old: str, new: str) -> None:
        self.texts.append(f"{title}\n{changed_lines(old, new, most=_DIFF_LINES)}")


def _turns(messages: Sequence[Message]) -> str:
    return "\n".join(f"[{message.role}]\n{message.content}" for message in messages)


def change_words(change: Change) -> Iterator[str]:
    """Yield a comparison as lines for a person."""
    if change.why_not:
        yield f"against {change.revision}: not compared, {change.why_not}"
        return
    items = [
        f"{count:,} asked only {when}"
        for count, when in ((change.only_now, "now"), (change.only_then, "then"))
        if count
    ]
    told = f"{change.prompts_differ:,} of {change.compared:,} prompts differ"
    keys = f"{change.requests_differ:,} requests have another key"
    yield ", ".join([f"against {change.revision}: {told}", keys, *items])
    for text in change.diffs:
        title, *lines = text.split("\n")
        yield f"  {title}"
        yield from (f"    {line}" for line in lines)
