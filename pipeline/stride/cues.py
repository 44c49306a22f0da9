"""Find in a plain text what its words say of a crowd, and what they deny.

    cues = read_cues(PROMPTS / "stride" / "cues.yaml")
    cues.found_in("Nobody flees; a few people just stand and listen.")
    ->  [Found("flee", "flees", denied=True, few=False, refuted=True),
         Found("still", "stand", denied=False, few=True), Found("watch", "listen", ...)]

A cue is a thing said in any of several phrases (prompts/stride/cues.yaml). Where phrases overlap
the longest counts, so that "hardly moves" is not "moves". A negation reaches from its word to the
end of the clause: "nobody stops, people walk on" denies the stop and not the walk.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from pipeline.keys import Text
from pipeline.language.prompts import PROMPTS
from pipeline.params import document_of

FILE = PROMPTS / "stride" / "cues.yaml"
# The cue that people stand or walk body to body.
DENSE = "body to body"
_GAP = r"(?:[\s,']+[\w']+){0,4}?[\s,']+"
_BETWEEN = r"[\s']+"
# Who or what a new clause is about: a negation before it does not reach it.
_SUBJECT = (
    r"(?:the|a|an|they|he|she|it|we|you|people|pedestrians|everyone|everybody|all|most|many|some"
    r"|others|those|who|whoever|nobody|no one|none|nothing|half|both|each|one|two|three|instead"
    r"|just|only|then|visitors|fans|passengers|travellers|spectators|walkers)"
)
_CLAUSE = re.compile(
    r"[.;:!?()]|\b(?:but|while|whereas|although|though|yet|because|until|when|as|so)\b"
    rf"|\b(?:and|or)[\s,]+(?={_SUBJECT}\b)"
    # "Without panic people walk": what is left out ends where who it is about begins.
    rf"|\b(?:without|instead of|rather than)(?:\s+(?:any|a|the))?\s+\w+\s+(?={_SUBJECT}\b)"
    # "Not allowed to run and follows": the second verb has a subject of its own.
    r"|\bto\s+\w+\s+and\s+(?=\w+[^s]s\b)"
    # A list goes on: "nobody stops, sits or waits".
    r"|,(?!(?:\s+[\w']+){1,2}\s+(?:or|nor)\b)"
)
_NOT = re.compile(
    r"\b(?:nobody|no one|noone|none|nothing|no|not|never|neither|nor|without|instead of"
    r"|rather than|far from|free of|(?:hardly|barely|scarcely) (?:any\w*|ever)|avoid\w*|prevent\w*"
    r"|refuse\w* to|unlike)\b|(?<!\ba )(?<!quite a )\bfew\b"
)
# What is not of this moment is neither said nor denied.
_UNREAL = re.compile(r"\b(?:if|used to|might|would|yesterday|tomorrow|last (?:week|year|month))\b")
# These only look like a negation, or make it one of a part.
_NOT_ALL = re.compile(
    r"\bnot (?:only|just|merely|all|every\w*|many|far|long)\b|\bno (?:longer than)\b"
)
# "Nobody in the packed hall": what says who does not is no part of what they do not.
_WHO = re.compile(
    r"\b(?:nobody|no one|none|no \w+)\s+(?:of|in|on|at|among)\s+(?:the|this|that|these|those|a)"
    r"(?:\s+\w+)?\s*$"
)
# What comes after a cue and says that it is not so, or no longer.
_OVER = re.compile(
    r"\s+(?:is|are|was|were|has been|have been) (?:cancell?ed|called off|banned|over|forbidden"
    r"|prohibited|finished|not)\b|\s+(?:stops|ends|dissolves|is gone)(?=\s*(?:[.,;:!?]|$))"
    r"|\s+(?:do|does|did|will) not (?:form|meet|appear|exist|happen|occur|start|begin|take place)\b"
)
# A question says nothing.
_ASKED = re.compile(r"[^.;:!?]*\?")
# "never stop running" runs.
_CEASE = re.compile(r"(?<!the )(?<!a )(?<!bus )\b(?:stop\w*|cease\w*)\s*$")
_LEADS = 3  # a subject stands among the first words of its clause
# What is over when the text begins, or has not begun: "after the march", "before boarding".
_BACKGROUND = re.compile(
    r"\b(?:after|before(?! (?:it|him|her|them)\b)|since)(?:\s+(?!other\b)[\w']+){0,2}\s*$"
)
_FEW = re.compile(
    r"\b(?:a few(?! (?:hundred|thousand|dozen))"
    r"|some(?! (?:of )?(?:\d|twenty|thirty|forty|fifty|sixty|hundred))"
    r"|several(?! (?:hundred|thousand|dozen))|one or two"
    r"|two or three|a couple|a handful|others|one man|one woman"
    r"|somebody|someone|a man|a woman|here and there|now and then|occasional\w*|sometimes)\b"
)


class Found(NamedTuple):
    """A cue in a text.

    Attributes:
        cue: Which.
        words: As the text has them, in lower case.
        begin: Where they begin in the text read.
        denied: The text says that this does not happen, or not now, or asks whether it does.
        few: The text says it of a few only.
        refuted: The text says that this does not happen.
    """

    cue: str
    words: str
    begin: int
    denied: bool
    few: bool
    refuted: bool = False


class Cue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing a text can say.

    Attributes:
        says: In words.
        phrases: How; see prompts/stride/cues.yaml.
        denies: Cue that is said where this one is denied ("nobody moves"); null for none.
        beside: Whether its phrases count beside longer ones that overlap them.
        where: Whether it only says where: "nobody stops at the gate" does not deny the gate.
    """

    says: Text
    phrases: Annotated[list[Text], Meta(min_length=1)]
    denies: Text | None = None
    beside: bool = False
    where: bool = False


class CueSheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """prompts/stride/cues.yaml: cues by name, nouns for people and for others that move."""

    people: Annotated[list[Text], Meta(min_length=1)]
    others: Annotated[list[Text], Meta(min_length=1)]
    cues: Annotated[dict[Text, Cue], Meta(min_length=1)]

    def __post_init__(self) -> None:
        for name, cue in self.cues.items():
            if cue.denies is not None and cue.denies not in self.cues:
                raise ValueError(f"cues: {name}: denies: expected a cue, found {cue.denies!r}")


class Cues:
    """All cues, ready to be looked for."""

    def __init__(self, sheet: CueSheet) -> None:
        self.sheet = sheet
        self._people, self._others = _nouns(sheet.people), _nouns(sheet.others)
        self._forms = [
            (name, re.compile("|".join(map(_phrase, cue.phrases))))
            for name, cue in sheet.cues.items()
        ]

    def found_in(self, text: str) -> list[Found]:
        """Return the cues in a text, in its order; of phrases that overlap the longest."""
        plain = plain_words(text)
        spans = [
            (match.start(), match.end(), name)
            for name, forms in self._forms
            for match in forms.finditer(plain)
        ]
        taken: list[tuple[int, int, str]] = []
        for begin, end, name in sorted(spans, key=lambda one: (one[0] - one[1], one[0], one[2])):
            if self.sheet.cues[name].beside or all(
                end <= other[0] or begin >= other[1] or (begin, end) == other[:2]
                for other in taken
                if not self.sheet.cues[other[2]].beside
            ):
                taken.append((begin, end, name))
        return [self._found(plain, *span) for span in sorted(taken)]

    def _found(self, plain: str, begin: int, end: int, name: str) -> Found:
        clause = plain[_clause_begin(plain, begin) : begin]
        whole = plain[_sentence_begin(plain, begin) : begin]
        elsewhere = bool(
            _BACKGROUND.search(whole) or _UNREAL.search(clause) or _ASKED.match(plain[end:])
        ) or self._of_others(clause)
        cue, few = self.sheet.cues[name], bool(_FEW.search(clause))
        negated = _negated(clause) or bool(_OVER.match(plain[end:]))
        refuted = negated and not elsewhere and not cue.where
        found = Found(name, plain[begin:end], begin, elsewhere or negated, few, refuted)
        other = cue.denies
        if found.refuted and other is not None:
            said = _NOT.search(clause)
            words = plain[begin - len(clause) + (said.start() if said else 0) : end]
            return found._replace(cue=other, words=words.strip(), denied=False, refuted=False)
        return found

    def _of_others(self, clause: str) -> bool:
        """Tell whether a clause is about cars or pigeons: the last subject before a cue is."""
        others = [match.start() for match in self._others.finditer(clause)]
        people = [match.start() for match in self._people.finditer(clause)]
        return bool(others) and max(others) > max(people, default=-1) and _leads(clause, others)


def _leads(clause: str, others: Sequence[int]) -> bool:
    """Tell whether one of them begins the clause: it is no place ("in the bus") and no object."""
    return any(len(clause[:at].split()) <= _LEADS for at in others)


def _nouns(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(plain_words(word) for word in words)})\b")


def _negated(clause: str) -> bool:
    if _WHO.search(clause):
        return False
    negations = list(_NOT.finditer(_NOT_ALL.sub(lambda part: "x" * len(part[0]), clause)))
    return bool(negations) and not _CEASE.search(clause[negations[-1].end() :])


def _clause_begin(plain: str, end: int) -> int:
    last = 0
    for match in _CLAUSE.finditer(plain):
        if match.end() > end:
            break
        last = match.end()
    return last


def _sentence_begin(plain: str, end: int) -> int:
    return max(plain.rfind(sign, 0, end) for sign in ".;:!?,") + 1


def plain_words(text: str) -> str:
    """Return a text in lower case, hyphens and short forms undone: "don't" is "do not"."""
    plain = " ".join(text.casefold().replace("’", "'").split())
    plain = re.sub(r"\s+[-–—]+\s+", " ; ", plain)
    plain = re.sub(r"(?<=\w)[-–](?=\w)", " ", plain).replace("—", ";")
    return re.sub(r"n't\b", " not", plain).replace("cannot", "can not")


def _phrase(phrase: str) -> str:
    """Return what finds a phrase as whole words."""
    made, between = "", ""
    for part in plain_words(phrase).split():
        if part == "..":
            between = _GAP
            continue
        made += between + f"(?:{'|'.join(map(_word, part.split('/')))})"
        between = _BETWEEN
    return rf"(?<![\w']){made}(?![\w])"


def _word(word: str) -> str:
    """Return what finds a word; with `+`, also its plural and the usual forms of a verb."""
    if not word.endswith("+"):
        return re.escape(word)
    word = word[:-1]
    if word.endswith("at"):
        return rf"{word}(?:e|es|ed|ing|ion|ions)?"
    if word.endswith("e"):
        return rf"{word[:-1]}(?:e|es|ed|ers?|e?ings?)"
    if word.endswith("y"):
        return rf"{word[:-1]}(?:y|ys|ies|ied|yed|yings?)"
    return rf"{re.escape(word)}(?:e?s|{re.escape(word[-1])}?(?:ed|ers?|ings?))?"


def read_cues(path: Path) -> Cues:
    """Read the cues.

    Raises:
        ParameterError: The file is missing or broken.
    """
    sheet: CueSheet = document_of(path, CueSheet)
    return Cues(sheet)


@cache
def own_cues() -> Cues:
    """Return the project's own cues, read once."""
    return read_cues(FILE)


def says_dense(text: str) -> bool:
    """Tell whether a text says of its crowd that people stand or walk body to body."""
    found = own_cues().found_in(text)
    return any(one.cue == DENSE and not one.denied and not one.few for one in found)
