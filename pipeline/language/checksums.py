"""The checksum of a row of the ledger: whether key, answer and status are what was recorded.

    row = ("5f0c...", 1, "1626278", "annotate", "ok", "", "stop", "vllm", "toy", "1", 612, 240)
    checksum(row, b'{"caption": "A calm street."}')    ->  16 bytes
    is_sound(row, b'{"caption": "A calm street."}', stored)  ->  True
    is_sound(row, None, stored)                              ->  True: all but the text was read

The first half is of all columns but the text, the second of these and the text, so that a look-up
that reads no text is verified as well.
"""

import hashlib
from typing import Any, NamedTuple

import msgspec

_HALF = 8


class Damaged(NamedTuple):
    """An answer that is not what was recorded, or cannot be read at all.

    Attributes:
        key: Its key, as far as it can be read.
        item_id: Its item, likewise; "" where it cannot be read.
        attempt: Its attempt, likewise; 0 where it cannot be read.
    """

    key: str
    item_id: str
    attempt: int

    def words(self) -> str:
        """Return what names it in a message."""
        item = self.item_id or "that cannot be read"
        return f"key {self.key or 'that cannot be read'}, item {item}, attempt {self.attempt}"


def checksum(head: tuple[Any, ...], text: bytes) -> bytes:
    """Return the checksum of a row.

    Args:
        head: All columns but the text, in the order of the table.
        text: The raw text.
    """
    first = _half(msgspec.json.encode(head))
    return first + _half(first + text)


def is_sound(head: tuple[Any, ...], text: bytes | None, stored: Any) -> bool:
    """Tell whether a row is what was recorded; without a text, whether the rest is."""
    first = _half(msgspec.json.encode(head))
    if text is None:
        return isinstance(stored, bytes) and stored[:_HALF] == first
    return bool(stored == first + _half(first + text))


def _half(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_HALF).digest()
