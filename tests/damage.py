"""Damage to a file, the same at each run: what any reader must answer with a line of its own."""

import random
from collections.abc import Iterator

# Pieces that break what reads numbers, names, quotes, lists and nesting.
_PIECES = (
    b"\x00", b"\xff", b"\xef\xbb\xbf", b"\n", b"\r", b"\t", b" ", b'"', b"'", b"{", b"}", b"[",
    b"]", b"<", b">", b"&", b"/", b"\\", b":", b",", b"-", b"--", b"nan", b"inf", b"1e999",
    b"-1", b"null", b"true", b"99999999999999999999999999", b"\xed\xa0\x80", b"\\ud800",
    b"&#0;", b"&x;", b"%", b"*", b"{{", b"{%", b"..", b"e", b"0",
)  # fmt: skip


def damaged(whole: bytes, count: int, *, seed: int) -> Iterator[bytes]:
    """Yield a file `count` times, each time damaged in another way.

    A byte or a few changed, cut off, cut out, doubled, exchanged with others, or a piece put in.
    """
    rng = random.Random(seed)
    for _ in range(count):
        content = bytearray(whole)
        for _ in range(rng.choice((1, 1, 1, 2, 5))):
            _harm(content, rng)
        yield bytes(content)


def _harm(content: bytearray, rng: random.Random) -> None:
    if not content:
        return
    start = rng.randrange(len(content))
    end = min(start + rng.choice((1, 2, 8, 64)), len(content))
    match rng.randrange(8):
        case 0:
            content[start] ^= 1 << rng.randrange(8)
        case 1:
            content[start] = rng.randrange(256)
        case 2:
            del content[start:]
        case 3:
            del content[start:end]
        case 4:
            content[start:start] = content[start:end]
        case 5:
            content[start:start] = rng.choice(_PIECES)
        case 6:
            content[start:end] = rng.choice(_PIECES)
        case _:
            other = rng.randrange(len(content))
            content[start:end] = content[other : other + end - start]
