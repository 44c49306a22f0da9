"""What a measure raises when it has no value at all: the published scorer drops the check then.

UndefinedError("eps_mult: expected a number, found '1.5'")
"""

import operator


class UndefinedError(Exception):
    """A measure cannot be computed; the message says why."""


def whole_number(name: str, value: object, *, most: int) -> int:
    """Return a parameter that counts something, such as n_bins; 5.0 and "5" are refused.

    Raises:
        UndefinedError: It is no whole number, or above `most`.
    """
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError as fault:
        raise UndefinedError(f"{name}: expected a whole number, found {value!r}") from fault
    if number > most:
        raise UndefinedError(f"{name}: expected at most {most}, found {number}")
    return number


def real_number(name: str, value: object) -> float:
    """Return a parameter that measures something, such as a speed; "0.3" is refused.

    Raises:
        UndefinedError: It is no number.
    """
    if not isinstance(value, int | float):
        raise UndefinedError(f"{name}: expected a number, found {value!r}")
    try:
        return float(value)
    except OverflowError as fault:
        raise UndefinedError(f"{name}: expected a number, found {fault}") from fault
