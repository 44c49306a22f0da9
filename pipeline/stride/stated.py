"""Read the numbers a plain text states of a crowd: how many people, how fast, how dense.

    stated_in("About 200 people walk at 1 m/s.", people=["people"])
    ->  Stated(people=Number(200, 200, "200 people"), speed_mps=Number(1.0, 1.0, "1 m/s"), ...)

Who is counted must be the crowd: "around two dancers", "in groups of four" and "60 people a minute"
are no number of people, and where a text counts some and names others their number is not known.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

_SMALL = {
    word: number
    for number, word in enumerate(
        [
            "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
            "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
            "eighteen", "nineteen",
        ]
    )
}  # fmt: skip
_TENS = {
    word: 10 * number
    for number, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
_ONE = "|".join(_SMALL)
_TEN = "|".join(_TENS)
_UNDER = rf"(?:(?:{_TEN})(?:[\s-](?:{_ONE}))?|(?:{_ONE}))"
_WORDS = (
    rf"(?:half a dozen|(?:a|{_UNDER}) dozen|(?:a|{_UNDER}) (?:hundred|thousand)"
    rf"(?: and {_UNDER})?|{_UNDER})"
)
_DIGITS = r"(?:\d{1,3}(?:[,  ]\d{3})+|\d+(?:[.,]\d+)?)"
_NUMBER = rf"(?:{_DIGITS}|{_WORDS})"
_RANGE = rf"(?:between\s+)?(?P<low>{_NUMBER})(?:\s*(?:-|–|to|and|or)\s*(?P<high>{_NUMBER}))?"
_SPEEDS = {
    r"(?:m/s|mps|m s-1|met(?:re|er)s? (?:per|a|each|every) second)": 1.0,
    r"(?:km/h|kmh|kph|kilomet(?:re|er)s? (?:per|an|each|every) hour)": 1 / 3.6,
    r"(?:mph|miles? (?:per|an|each|every) hour)": 0.44704,
    r"(?:cm/s|centimet(?:re|er)s? (?:per|a) second)": 0.01,
}
_PER_AREA = (
    r"(?:\s*(?:people|persons?|pedestrians))?\s*(?:/|per |to the |to each |each |on every |on a )"
    r"\s*(?:m2|m²|m\^2|sqm|square met(?:re|er))"
)
# Before a number: it counts others than the crowd.
_ASIDE = re.compile(
    r"\b(?:around|round|about|behind|past|towards?|to|from|near|at|for|against|beside|by|with|over"
    r"|watch|watches|watching|surround|surrounds|surrounding|in|on|platform|gate|line|number"
    r"|groups? of|pairs? of|rows? of)\s*$"
)
_ROUGHLY = re.compile(
    r"\b(?:about|around|roughly|some|nearly|almost|approximately|circa|over|at least|up to)\s*$"
)
_GROUPS = re.compile(
    rf"(?P<times>{_NUMBER}|both|each of the {_NUMBER})\s+(?:\w+\s+)?"
    r"(?:groups?|columns?|streams?|rows?|classes|teams?|lines?|blocks?|bands)\s+of"
    r"(?:\s+(?:about|around|roughly|some))?\s*$"
)
_OF_ALL = re.compile(
    r"\b(?:a|the|one|crowd|total) (?:\w+ )?(?:group|crowd|class|total|audience|team|number) of"
    r" (?:\w+ )?$"
)
# "A crowd of 450 fills the platform": no noun follows.
_CROWD_OF = re.compile(
    r"\b(?:a|an|the) (?:\w+ )?(?:crowd|audience|congregation|mass|queue|procession|march|party) of"
    rf" (?:about |around |roughly |some |nearly )?{_RANGE}(?![\w.,]*\d)(?!\s*%)"
)
# Between a number and people there is at most a word for their kind, and none of these.
_NO_KIND = (
    r"the|an?|of|and|or|to|in|at|by|with|from|on|as|who|where|when|while|that|which|the|these|other"
    r"|seconds?|minutes?|hours?|days?|met(?:re|er)s?|km|am|pm|o'clock|later|before|after|per"
)
# After the people: they are a rate, or a part.
_RATE = re.compile(r"\s*(?:/|per|a|each|every)\s*(?:s|min|h|sec(?:ond)?s?|minutes?|hours?)\b")
_PART = re.compile(r"\s*(?:of (?:them|whom|these)|among them)\b")
_OTHERS = re.compile(
    r"\b(?:others|the rest|onlookers|bystanders|passers[- ]by|the crowd|spectators|everyone"
    r"|everybody|people|the audience|the public)\b"
)
_FEWEST = 10  # fewer are the crowd only where nobody else is named
_JOINED = re.compile(r"^\s*(?:,|and|plus|with)\s*(?:another\s+|a further\s+)?$")


class Number(NamedTuple):
    """A number a text states, from least to most, and its words."""

    least: float
    most: float
    words: str

    @property
    def middle(self) -> float:
        """The middle of the two."""
        return (self.least + self.most) / 2


class Stated(NamedTuple):
    """What a text states in numbers; None where it does not, or not for certain."""

    people: Number | None
    speed_mps: Number | None
    density_ppm2: Number | None


def stated_in(text: str, *, people: Sequence[str]) -> Stated:
    """Return the numbers of a text.

    Args:
        text: In plain words.
        people: Nouns for people, in the plural or the singular.
    """
    plain = " ".join(text.casefold().replace("’", "'").split())
    return Stated(_people(plain, people), _speed(plain), _density(plain))


def _speed(plain: str) -> Number | None:
    found = [
        _scaled(match, factor)
        for unit, factor in _SPEEDS.items()
        for match in re.finditer(rf"(?<![\w.,])(?:{_RANGE})\s*{unit}(?!\w)", plain)
    ]
    # Two paces in one text are of two kinds of people: neither is everybody's.
    return found[0] if len(found) == 1 else None


def _density(plain: str) -> Number | None:
    found = [
        _scaled(match, 1.0) for match in re.finditer(rf"(?<![\w.,])(?:{_RANGE}){_PER_AREA}", plain)
    ]
    return found[0] if len(found) == 1 else None


def _scaled(match: re.Match[str], factor: float) -> Number:
    low = number_of(match["low"])
    high = low if match["high"] is None else number_of(match["high"])
    return Number(min(low, high) * factor, max(low, high) * factor, match[0].strip())


def _people(plain: str, nouns: Sequence[str]) -> Number | None:
    noun = "|".join(sorted(map(re.escape, nouns), key=len, reverse=True))
    counted: list[tuple[int, int, Number]] = []
    kind = rf"(?:(?!(?:{_NO_KIND})\b)[a-z'-]+\s+)?"
    pattern = rf"(?<![\w.,:/])(?:{_RANGE})\s+{kind}(?:{noun})(?!\w)"
    for match in re.finditer(pattern, plain):
        one = _counted(plain, match)
        if one is not None:
            counted.append((match.start(), match.end(), one))
    if not counted:
        whole = _CROWD_OF.search(plain)
        return None if whole is None or _RATE.match(plain[whole.end() :]) else _scaled(whole, 1.0)
    total = counted[0][2]
    for (_, end, _), (begin, _, more) in pairwise(counted):
        if not _JOINED.match(plain[end:begin]):
            return None
        total = Number(
            total.least + more.least, total.most + more.most, f"{total.words} and {more.words}"
        )
    spoken = plain
    for begin, end, _ in reversed(counted):
        spoken = spoken[:begin] + spoken[end:]
    if total.most < _FEWEST and _OTHERS.search(spoken):
        return None
    return total if total.least >= 1 else None


def _counted(plain: str, match: re.Match[str]) -> Number | None:
    """Return the number of the crowd that a match states; None if it counts something else."""
    before, after = plain[: match.start()], plain[match.end() :]
    if _RATE.match(after) or re.match(_PER_AREA, after) or _PART.match(after):
        return None
    number = _scaled(match, 1.0)
    if number.least != int(number.least) or number.most != int(number.most):
        return None
    groups = _GROUPS.search(before)
    if groups:
        words = groups["times"].removeprefix("each of the ")
        times = 2.0 if words == "both" else number_of(words)
        words = plain[groups.start() : match.end()]
        return Number(number.least * times, number.most * times, words)
    if _OF_ALL.search(before):
        return number
    roughly = _ROUGHLY.search(before)
    if roughly and number.least >= _FEWEST:
        return number
    return None if _ASIDE.search(before) else number


def number_of(words: str) -> float:
    """Return what a number says: "1,200", "sixty", "two dozen", "a hundred and ten", "0,8"."""
    text = words.strip()
    if text[0].isdigit():
        if re.fullmatch(r"\d{1,3}(?:[,  ]\d{3})+", text):
            return float(re.sub(r"\D", "", text))
        return float(text.replace(",", "."))
    if text == "half a dozen":
        return 6.0
    whole, part = 0.0, 0.0
    for word in re.split(r"[\s-]+", text):
        if word in {"hundred", "thousand", "dozen"}:
            whole += max(part, 1.0) * {"hundred": 100, "thousand": 1000, "dozen": 12}[word]
            part = 0.0
        else:
            part += _SMALL.get(word, 0) + _TENS.get(word, 0)
    return whole + part
