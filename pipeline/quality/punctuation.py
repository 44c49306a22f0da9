"""Stage 5: marks that released texts do without are mended, or the text is refused.

    "To Café Ceuta — quickly; no stops"  ->  "To Café Ceuta, quickly, no stops"
    "It takes ~8 minutes"                ->  "It takes about 8 minutes"
    "Via Rua A (then Rua B."             ->  hit `brackets`: the bracket is never closed

A repair never guesses: where a bracket should close, or whether an unseen mark joins two letters or
parts them, nobody can tell. Names keep every mark they have, a dash or a semicolon too; such a text
cannot be mended and is refused. Each rule mends one thing, in the order of `PUNCTUATION_RULES`.
Paper: 3.3, A.3.6.
"""

import re
from collections.abc import Callable, Sequence

from pipeline.quality.folding import split_words
from pipeline.quality.reading import UNTIDY, Reading, is_tidy
from pipeline.quality.rules import Hit, Rule
from pipeline.quality.spans import Span, is_free, spans_of
from pipeline.quality.stated import NUMBER
from pipeline.records import Mention

# Marks of a markup language, and pictures.
_SIGN = (
    r"(?:</?[A-Za-z][^<>]*>|[*_#~|\\{}<^=\u2022\u25cf\u2248\u223c]+"
    r"|[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]+)"
)
_UNSEEN = (
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters
    r"\u00ad\u180e\u200b-\u200d\u2060-\u2064\ufe00-\ufe0f\ufeff"  # no width
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # which way to read
    r"\u206a-\u206f\ufff9-\ufffb\U000e0000-\U000e0fff]+"  # notes to the program
)
# What the second byte of a letter in UTF-8 becomes where it is read as Latin-1 or Windows-1252.
_BYTES = "".join(
    {
        mark
        for code in ("latin-1", "cp1252")
        for mark in bytes(range(0x80, 0xC0)).decode(code, "ignore")
    }
)
# The first becomes one of these letters. "Ã" and "Â" stand before no such sign, after no small
# letter and not alone; of the others only signs that are no letter and part no words tell.
_MISREAD = (
    rf"[ÃÂ][{_BYTES}]|(?<=[a-zß-ÿ])[ÃÂ](?![A-Z])|(?<!\w)[ÃÂ](?=\s)|(?<!\w)Ã(?=[a-z])"
    r"|[ÄÅÎÏÐÑØÙ][\x80-\x9f¡-©¬®-³µ¶¸¹¼-¿€ƒ†‡ˆ‰™Ÿ\u201a\u201e]"
    r"|â(?:€|‚¬|[\x80-\x9f])|ï»¿"
)
_PATTERNS: dict[Rule, re.Pattern[str]] = {
    Rule.DASH: re.compile(r"\s*[\u2012-\u2015]\s*|\s+-{1,2}(?=\s)\s*|(?<=\w)--+(?=\w)|--+"),
    Rule.SEMICOLON: re.compile(r"\s*[;\uff1b\u037e]\s*"),
    # A blank on both sides of a mark that goes would leave two, so one goes along.
    Rule.QUOTES: re.compile(
        r"(?<!\S)[\"\u201c\u201e\u00ab]\s+|\s+[\"\u201d\u00bb](?=[\s,.!?]|$)"
        r"|[\"\u201c\u201d\u201f\u00ab\u00bb\u2018\u2019\u201b\u00b4`]"
        r"|(?<![ÂÃÄÅâ])[\u201a\u201e]"  # else a letter read wrongly, as below
        r"|(?<!\w)'(?=\w[^']*'(?!\w))"  # opens
        r"|(?<=\w)'(?!\w)"  # closes
    ),
    Rule.MARKUP: re.compile(rf"^\s*(?:{_SIGN}\s*)+|\s+{_SIGN}+(?=[\s,.!?]|$)|{_SIGN}"),
    Rule.INVISIBLE: re.compile(rf"^{_UNSEEN}\s+|\s+{_UNSEEN}(?=\s|$)|{_UNSEEN}"),
    Rule.UNREADABLE: re.compile(
        rf"[\ufffd\ufdd0-\ufdef\ufffe\uffff\ue000-\uf8ff\U000f0000-\U0010ffff]+|{_MISREAD}"
    ),
    Rule.SPACING: re.compile(
        r"[^\S ]+|\s{2,}|^\s+|\s+$"
        r"|\s+(?=(?!\.\.\.)[,!?.:]+(?:\s|$))"  # before a mark
        r"|,(?=[^\W\d])|(?<=[a-z\u00df-\u024f]{2})[.!?](?=[A-Z][a-z])"  # none after a mark
        r"|[,.]{2,}|([!?])[!?]+|,\s*(?=[.!?])"  # marks in a row
    ),
}
# Signs that say "about" before an amount, and words after which that is said already.
_ABOUT = frozenset("~\u2248\u223c")
_AMOUNT = re.compile(rf"\s?(?:{NUMBER}|an?\s)\b", re.IGNORECASE)
_SAID_ABOUT = re.compile(r"\b(?:about|around|approx\.?|approximately|roughly)\s*$", re.IGNORECASE)
# No released text may hold these, within names or without.
_NOWHERE = frozenset("\u2014\u2015;\uff1b\u037e\u202d\u202e")
# These change the order in which a text is seen, so nobody can tell which order was meant.
_REORDERING = frozenset("\u202d\u202e")
# Between letters these may join or part words.
_PARTING = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b]")
_ELLIPSIS = re.compile(r"\.{3,}")
_OPENED = re.compile(r"(?<!\w)'\w[^']*$")
_PAIRS = {")": "(", "]": "["}
PUNCTUATION_RULES = (
    Rule.DASH,
    Rule.SEMICOLON,
    Rule.QUOTES,
    Rule.MARKUP,
    Rule.INVISIBLE,
    Rule.UNREADABLE,
    Rule.SPACING,
    Rule.BRACKETS,
)


def may_be_at_fault(reading: Reading, mentions: Sequence[Mention]) -> bool:
    """Tell quickly whether any rule on marks or labels could find something in a text.

    Args:
        reading: The text.
        mentions: Its names, in order; marks within those known are their own.
    """
    text = reading.text
    if not reading.flags & UNTIDY:
        # Read wrongly, an "ó" is "Ã³", which is a word and no mark.
        return not text.isascii() and any(first in text for first in "ÃÂÄÅ")
    names = spans_of(mentions)
    if not names or not _NOWHERE.isdisjoint(text):
        return True
    if any(_unbalanced(text[start:end], []) for start, end in names):
        return True
    ends = [0, *(end for _, end in names)]
    begins = [*(start for start, _ in names), len(text)]
    # Any word will do in the place of a name.
    words, (before, *after), _ = split_words(
        "x".join(text[end:begin] for end, begin in zip(ends, begins, strict=True))
    )
    following = [*words[1:], ""]
    return bool(before) or not all(
        is_tidy(marks, word, last=not word) for marks, word in zip(after, following, strict=True)
    )


def faults(rule: Rule, text: str, names: Sequence[Span]) -> list[Hit]:
    """Return what a rule finds in a text, outside names where it minds a mark.

    Long dashes and semicolons are faults within names too: no released text may hold them.
    """
    if rule is Rule.BRACKETS:
        return _unbalanced(text, names)
    if rule is Rule.SPACING and not any(mark.isalpha() for mark in text):
        return []  # no words in it, so blanks part none
    return [
        Hit(rule, *match.span(), f"{match.group()!r}")
        for match in _PATTERNS[rule].finditer(text)
        if _minds(rule, match)
        and (not _NOWHERE.isdisjoint(match.group()) or is_free(match.span(), names))
    ]


def _minds(rule: Rule, match: re.Match[str]) -> bool:
    if rule is Rule.SPACING:
        return not _ELLIPSIS.fullmatch(match.group())
    if rule is Rule.DASH:
        return bool(match.group().strip())
    if rule is Rule.QUOTES and match.group() == "'" and match.string[match.end() - 2].isalnum():
        # "the drivers' way" and "goin'" end in an apostrophe that closes nothing.
        return bool(_OPENED.search(match.string, 0, match.start()))
    return True


def mend(rule: Rule, text: str, names: Sequence[Span]) -> str:
    """Return a text mended by one rule; names are left alone, and what takes guessing is."""
    mender = _MENDERS.get(rule)
    if mender is None:
        return text

    def mended(match: re.Match[str]) -> str:
        if not _minds(rule, match) or not is_free(match.span(), names):
            return match.group()
        return mender(match)

    return _PATTERNS[rule].sub(mended, text)


def _dash(match: re.Match[str]) -> str:
    before, after = match.string[: match.start()], match.string[match.end() :]
    if before[-1:].isdigit() and after[:1].isdigit():
        return "-"
    if not before or not after:
        return ""
    if after[0] in ",.!?:;" or before[-1] in ",.!?:;":
        return " " if before[-1] in ",.!?:;" else ""
    return ", "


def _semicolon(match: re.Match[str]) -> str:
    before, after = match.string[: match.start()], match.string[match.end() :]
    if not after:
        return "."
    if not before or before[-1] in ",.!?:":
        return " " if before else ""
    return ". " if after[0].isupper() else ", "


def _quote(match: re.Match[str]) -> str:
    mark = match.group()
    before, after = match.string[: match.start()], match.string[match.end() :]
    if mark in "\u2018\u2019\u201a\u201b\u00b4`'" and before[-1:].isalnum() and after[:1].isalnum():
        return "'"
    return ""


def _markup(match: re.Match[str]) -> str:
    before, after = match.string[: match.start()], match.string[match.end() :]
    if match.group().strip() in _ABOUT and _AMOUNT.match(after):
        if before[-1:].isdigit():
            return " to" if after[0].isspace() else "-"  # "5~6 minutes"
        begins = not before or before.rstrip()[-1:] in {".", "!", "?"}
        blank = "" if not before or before[-1].isspace() or before[-1] in "([" else " "
        if _SAID_ABOUT.search(before):
            return blank
        return f"{blank}{'About' if begins else 'about'}{'' if after[0].isspace() else ' '}"
    return " " if before[-1:].isalnum() and after[:1].isalnum() else ""


def _invisible(match: re.Match[str]) -> str:
    marks = match.group()
    before, after = match.string[: match.start()], match.string[match.end() :]
    between_letters = before[-1:].isalnum() and after[:1].isalnum()
    if not _REORDERING.isdisjoint(marks) or (between_letters and _PARTING.search(marks)):
        return marks
    return ""


def _spacing(match: re.Match[str]) -> str:
    mark = match.group()
    at_end = match.start() == 0 or match.end() == len(match.string)
    if not mark.strip():
        following = match.string[match.end() :][:1]
        return "" if at_end or following in {",", "!", "?"} or _ends_after(match) else " "
    if mark == ",":
        return ", "
    if len(mark) > 1 and not mark.strip(",."):
        return "." if "." in mark else ","
    if mark[0] == ",":
        return ""
    if match[1]:
        return "?" if "?" in mark else "!"
    return f"{mark} "


def _ends_after(match: re.Match[str]) -> bool:
    rest = match.string[match.end() :]
    return rest[:1] in {".", ":"} and (len(rest) == 1 or rest[1].isspace() or rest[1] in ",.!?")


_MENDERS: dict[Rule, Callable[[re.Match[str]], str]] = {
    Rule.DASH: _dash,
    Rule.SEMICOLON: _semicolon,
    Rule.QUOTES: _quote,
    Rule.MARKUP: _markup,
    Rule.INVISIBLE: _invisible,
    Rule.SPACING: _spacing,
}


def _unbalanced(text: str, names: Sequence[Span]) -> list[Hit]:
    """Return the brackets of a text that have no partner; a name keeps those that have one."""
    names = [(start, end) for start, end in names if not _unbalanced(text[start:end], [])]
    open_ones: list[tuple[str, int]] = []
    hits = []
    for place, mark in enumerate(text):
        if mark in "([" and is_free((place, place + 1), names):
            open_ones.append((mark, place))
        elif mark in _PAIRS and is_free((place, place + 1), names):
            if open_ones and open_ones[-1][0] == _PAIRS[mark]:
                open_ones.pop()
            else:
                hits.append(Hit(Rule.BRACKETS, place, place + 1, f"{mark!r} was never opened"))
    hits += [Hit(Rule.BRACKETS, at, at + 1, f"{mark!r} is never closed") for mark, at in open_ones]
    return sorted(hits, key=lambda hit: hit.start)
