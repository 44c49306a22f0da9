"""What the commands of all chapters share: the least a number may be, an argument to be typed.

    at_least(0, "--diffs", -1)      ->  SourceError: --diffs: expected 0 or more, found -1
    argument("-7 b")                ->  "-- '-7 b'", last in a suggested command

The help of an option that has a value where it is left out ends in "(default: ...)".
"""

import shlex

from pipeline.errors import SourceError


def at_least(least: int, option: str, given: int) -> int:
    """Return a number that an option was given.

    Raises:
        SourceError: It is less than `least`.
    """
    if given < least:
        raise SourceError(
            f"{option}: expected {least} or more, found {given}; give such a number or leave it out"
        )
    return given


def argument(text: str) -> str:
    """Return a text as the last argument of a command line, to be typed as it stands.

    One that begins with `-` would be read as an option: it comes behind `--`.
    """
    quoted = shlex.quote(text)
    return f"-- {quoted}" if text.startswith("-") else quoted
