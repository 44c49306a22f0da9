"""Which of two names comes first on the way, by the words of a text around them.

    "A, then B"   "A, followed by B"   "After A turn into B"   ->  True: A, B
    "A after B"   "A, but before that B"   "Before A take B"   ->  False: B, A
    "A and B"                                                  ->  None

Paper: A.3.6, "Phase Alignment".
"""

from collections.abc import Sequence

from pipeline.quality.folding import word_set
from pipeline.quality.gazetteer import Found
from pipeline.quality.phrases import phrase_tree
from pipeline.quality.reading import HINT_ORDER, Reading
from pipeline.quality.tables import word_tables

# Which name comes first, the one before these words or the one after them; "next" tells it, "next
# to" does not.
TELLING_TREE = phrase_tree(
    {
        "before": ["then", "before", "after that", "after this", "after which", "afterwards",
               "afterward", "followed by", "thereafter", "subsequently", "later", "onwards to",
               "onward to", "finally", "lastly", "eventually", "next"],
        "after": ["after", "before that", "before this", "beforehand", "preceded by", "but first",
                "first though"],
        "neither": ["next to", "next door", "later than", "after all"],
    },
    short_form=word_tables().short_form,
    reverse=False,
)  # fmt: skip
# Words one of which is in all of these: a text without one is not looked at.
ORDER_WORDS = word_set(
    "then before after afterwards afterward followed thereafter subsequently later onwards onward "
    "finally lastly eventually next first beforehand preceded"
)
# Words between "after" and the name that it is said of: "after a bit of B".
_OF_NAME = word_set(
    "a an the bit short stretch of passing leaving crossing following driving going along over by "
    "past having passed left crossed followed it has they we you took take taking turning from"
)
# Before "after" these say what is done there, nothing of the name before: "A, and ends after B".
_DONE_AFTER = word_set(
    "end ends ending ended finish finishes finishing stop stops stopping arrive arrives arriving "
    "turn turns turning and"
)
_LONGEST = 8
# A road after these is driven, unless one of the others says that it was driven earlier.
_ONTO = word_set("on onto along down up into through takes follows")
_NOT_NEXT = word_set("from off leaving left where having via had was earlier again back")
_AROUND = 2


def first_comes_first(
    reading: Reading, first: tuple[int, int], second: tuple[int, int]
) -> bool | None:
    """Tell whether the first of two names in a text comes first on the way; None: it says nothing.

    Args:
        reading: The text.
        first: First word of a name, and the word after its last.
        second: The same of the next name.
    """
    words, (end, start) = reading.words, (first[1], second[0])
    if start - end > _LONGEST:
        return None
    before = words[first[0] - 1].canonical if first[0] - 1 in reading.sentences else ""
    if before in {"after", "before"} and first[0] and end not in reading.sentences:
        return before == "after"  # "After A, B"
    for between in words[end:start]:
        if between.flags & HINT_ORDER:
            break
    else:
        has_first = second[1] < len(words) and words[second[1]].canonical == "first"
        return False if has_first and "but" in _said(reading, end, start) else None
    for number in range(end, start):
        told = TELLING_TREE.after(words, number)
        if told is None or told[0] > start:
            continue
        word, meaning = words[number].canonical, told[1]
        alone = told[0] == number + 1
        if alone and word in {"after", "before"} and number in reading.sentences:
            continue  # "... A. After B it ..." tells of B and what follows
        if alone and word == "after" and not _is_after(reading, end, number, start):
            continue
        if meaning != "neither":
            return meaning == "before"
    return None


def before_then(reading: Reading, found: Sequence[Found]) -> frozenset[int]:
    """Return the numbers of roads of a list that "then" ends, but for the first: "A, B and then C".

    Args:
        reading: The text.
        found: Its names in order.
    """
    listed: set[int] = set()
    for number in range(len(found) - 1, 1, -1):
        between = _said(reading, found[number - 1].end, found[number].first)
        if between not in (["then"], ["and", "then"]):
            continue
        here = number - 1
        while here and _follows_comma(reading, found[here - 1], found[here]):
            listed.add(here)
            here -= 1
    return frozenset(listed)


def told_in_turn(reading: Reading, one: Found, other: Found) -> bool:
    """Tell whether a caption goes from a road to the next: "takes A by the sea and goes on on B".

    Not where words of order stand around them, which may turn it round: "Before A it goes on B".

    Args:
        reading: The text.
        one: The first road.
        other: The road after it.
    """
    around = reading.words[max(one.first - _AROUND, 0) : other.end + _AROUND]
    if any(word.flags & HINT_ORDER for word in around):
        return False
    between = _said(reading, one.end, other.first)
    return len(between) > 1 and between[-1] in _ONTO and _NOT_NEXT.isdisjoint(between)


def _follows_comma(reading: Reading, one: Found, other: Found) -> bool:
    roads = one.is_road() and other.is_road()
    return roads and one.end == other.first and "," in reading.gap(other.first)


def _is_after(reading: Reading, end: int, after: int, start: int) -> bool:
    """Tell whether "after" between two names says that the first comes after the second."""
    if after > end and reading.words[after - 1].canonical in _DONE_AFTER:
        return False  # "A, and ends after B on C"
    return _OF_NAME.issuperset(_said(reading, after + 1, start))  # "after five minutes" is not


def _said(reading: Reading, first: int, end: int) -> list[str]:
    return [word.canonical for word in reading.words[first:end]]
