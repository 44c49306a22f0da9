"""Entry points of the compiled code, cached on disk by the source of all of it.

    match_chunk = compile_match_chunk()   # 40 s the first time on a machine, 0.3 s afterwards

numba keys its disk cache on the file that holds the cached function and on the variables it closes
over, not on the functions it calls. An entry point therefore closes over a digest of every module
that holds compiled code: a change in any of them compiles anew instead of running yesterday's code.
"""

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])
# Division by zero gives infinity as in numpy, without a test before each. No fast-math: fused sums
# would make the bytes of a result depend on the processor.
_ARITHMETIC: dict[str, Any] = {"error_model": "numpy"}


def kernel(function: F) -> F:
    """Compile a function that only other compiled code calls; its type stays that of the source.

    Without wrappers for the interpreter it compiles faster, and may take records in tuples.
    """
    return cast(
        "F", numba.njit(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, **_ARITHMETIC)
    )


def cached_kernel(function: F) -> F:
    """Compile a function that Python calls: without the interpreter lock, cached on disk."""
    return cast("F", numba.njit(function, cache=True, nogil=True, **_ARITHMETIC))


@functools.cache
def sources_digest() -> str:
    """Return a digest of the modules of this package that hold compiled code."""
    digest = hashlib.blake2b(digest_size=16)
    for file in sorted(Path(__file__).parent.glob("*.py")):
        source = file.read_bytes()
        if file.name == Path(__file__).name or b"matching.compiled import" in source:
            digest.update(file.name.encode() + b"\0" + source + b"\0")
    return digest.hexdigest()


def entry_point(compiler: Callable[[str], Any]) -> Callable[[], Any]:
    """Turn a function that compiles an entry point from a digest into one that does so once."""

    @functools.cache
    def compiled() -> Any:
        return compiler(sources_digest())

    return compiled
