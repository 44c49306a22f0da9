"""Stage 1: every name in a text must rest on the trip's own evidence, in the right phase.

    "From Rua A to Café Ceuta via Zanzibar Plaza"
    ->  Mention("Rua A", grounded, phase 0), Mention("Café Ceuta", grounded, phase 15),
        Mention("Zanzibar Plaza", invented); Finding(invented_name, reject)

The trip's evidence comes first, the city's names second. Of a name that means several things any
reading that fits will do. What a text tells of two names is held against both ("A, then B", "A on
B"). Likeness of letters never grounds a name: 16th Street is as like 6th Street as two ways of
writing one name are (tests/quality/test_likeness.py), so it only adds a hint to a name that is
rejected anyway. Paper: 3.3 (noun, location and phase grounding), A.3.6.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal

import msgspec
from msgspec.structs import replace

from pipeline.quality.evidence import Evidence, Spot, site_of
from pipeline.quality.folding import fold, folded_words
from pipeline.quality.gazetteer import EXACT, Candidate, Found, Gazetteer, Name
from pipeline.quality.mentions import NameFinder
from pipeline.quality.pairs import Pairs
from pipeline.quality.reading import Reading
from pipeline.quality.role_meant import role_meant
from pipeline.quality.roles import NameRole, RoleReader
from pipeline.quality.rules import Hit, Rule
from pipeline.quality.tables import Role, WordTables
from pipeline.records import Mention, Phase

_ROMAN = re.compile(r"[ivx]{1,5}")
# Roles that are false of what is so, and all of names that need not be on the trip.
_DENIED = frozenset({"avoid", "no_origin", "no_destination"})
_NOT_DRIVEN = _DENIED | {"aside"}
# Roles of the road that a trip starts or ends on, and words that set it on that very road.
_ENDS: tuple[Role, ...] = ("origin", "destination", "ends")
_ON = frozenset({"on", "at"})
# Rules, or none, that leave a name on the trip.
_ON_TRIP = frozenset({None, Rule.UNVERIFIED})
# Letters in common from which on an unknown name is told to be like one of the trip's, 0-1.
_LIKE = 0.9


class Grounded(msgspec.Struct, frozen=True, gc=False):
    """The names of one text and what is wrong with them.

    Attributes:
        mentions: Each name and what it rests on.
        hits: Rules broken.
        doubtful: Words that may be names; for the verifier.
    """

    mentions: list[Mention]
    hits: list[Hit]
    doubtful: list[tuple[int, int]]


# What a name rests on: the name, how fully it was written, its thing on the trip, the broken rule.
_Verdict = tuple[Name, int, Spot | None, Rule | None]


class Grounder:
    """Grounds the texts of one city."""

    def __init__(self, names: Gazetteer, tables: WordTables) -> None:
        """Keep the city's names and the word tables."""
        self._city = names.of(names.city)
        self.finder = NameFinder(names, tables)
        self._roles = RoleReader(tables)
        self._tables = tables

    def ground(self, reading: Reading, evidence: Evidence, *, field: str) -> Grounded:
        """Find and judge every name of a text.

        Args:
            reading: The text.
            evidence: The trip's own record.
            field: Which of the seven texts it is.
        """
        found = self.finder.find(reading, evidence)
        if not found:
            return Grounded([], [], [])
        doubtful = [_span(reading, one) for one in found if one.how == "doubtful"]
        if doubtful:
            found = [one for one in found if one.how != "doubtful"]
        caption, query = field == "trajectory_caption", field.startswith("retrieval_query")
        roles = self._roles.roles(reading, found, caption=caption)
        mentions: list[Mention] = []
        hits: list[Hit] = []
        pairs = Pairs(reading, found, evidence, caption=caption)
        for number, (one, role) in enumerate(zip(found, roles, strict=True)):
            span = _span(reading, one)
            if one.candidates:
                verdict = self._verdict(one.candidates, role.role, evidence, told=caption or query)
                # "Now that we are on A" of an instruction may be said on the way.
                told = caption or query or role.role == "destination"
                if told and _is_other_end(reading, found[number:], role, verdict, evidence):
                    verdict = *verdict[:3], Rule.WRONG_PHASE
                if verdict[3] is not None:
                    meant = role_meant(reading, found, number, roles, caption=caption, query=query)
                    verdict = _excused(verdict, meant, found[number + 1 :], evidence)
                if verdict[0].lead or verdict[0].tail:
                    span = _with_marks(reading.text, span, verdict[0])
                mentions.append(_mention(field, span, reading.text, one, verdict))
                if verdict[3] is not None or one.how != "exact" or verdict[1] != EXACT:
                    hits.append(self._hit(one, verdict, role.role, evidence, span))
                spot = verdict[2] if verdict[3] is None and role.role not in _NOT_DRIVEN else None
                denied = pairs.denied(number, verdict[0], spot, span)
                if denied is not None:
                    hits.append(denied)
                    mentions[-1] = _as_denied(mentions[-1], denied.rule)
            else:
                pairs.forget()
                text = reading.text[span[0] : span[1]]
                mentions.append(_unknown(field, span, text))
                hits.append(Hit(Rule.INVENTED_NAME, *span, f"{text}: no such name in the city"))
                hits += self._like(evidence, span, text)
        return Grounded(mentions, hits, doubtful)

    def _verdict(
        self, candidates: Sequence[Candidate], role: Role | None, evidence: Evidence, *, told: bool
    ) -> _Verdict:
        """Return the first reading that fits the role; else the first of the trip; else any.

        Where a drive is told, a road or district is kept off only if it is not driven at all; an
        instruction may keep off one that the speaker stands on, or goes to.
        """
        elsewhere: _Verdict | None = None
        for one in candidates:
            level, name = one.level, one.name
            spots = evidence.spots.get(name.text)
            if spots is None:
                continue
            if role is None:
                return name, level, spots[0], None
            if role in _DENIED or role == "pass":
                spot, denied = _kept_off(spots, name, role, evidence, told=told)
                return name, level, spot, Rule.DRIVEN_NAME if denied else None
            for spot in spots:
                if _fits(spot[0], role, evidence.last) or (
                    role == "way" and _is_driven_through(spot, name, evidence.last)
                ):
                    return name, level, spot, None
            elsewhere = elsewhere or (name, level, spots[0], Rule.WRONG_PHASE)
        return elsewhere or self._off_trip(candidates, role)

    def _off_trip(self, candidates: Sequence[Candidate], role: Role | None) -> _Verdict:
        for one in candidates:
            if one.name is self._city:
                return one.name, one.level, None, None
        first = candidates[0]
        rule = None if role in _NOT_DRIVEN else Rule.OFF_ROUTE_NAME
        return first.name, first.level, None, rule

    def _hit(
        self,
        one: Found,
        verdict: _Verdict,
        role: Role | None,
        evidence: Evidence,
        span: tuple[int, int],
    ) -> Hit:
        name, _, spot, rule = verdict
        if rule is None:
            rule = Rule.GLOSSED_NAME if one.how == "glossed" else Rule.SHORT_NAME
            return Hit(rule, *span, f"for {name.text}")
        if rule is Rule.OFF_ROUTE_NAME:
            return Hit(rule, *span, f"{name.text}: in the city, not on this trip")
        end = evidence.end_road(spot[0]) if spot and _fits(spot[0], role, evidence.last) else None
        if role in _ENDS and end is not None:
            return Hit(rule, *span, f"{name.text}: {_WANTED[role]}, where the road is {end}")
        phases = ", ".join(map(str, evidence.phases_of(name)))
        found = f"found in {phases} of 0-{evidence.last}"
        return Hit(rule, *span, f"{name.text}: {_WANTED[role or 'stay']}, {found}")

    def _like(self, evidence: Evidence, span: tuple[int, int], text: str) -> list[Hit]:
        """Hint at the name of the trip that an unknown name may be a misspelling of."""
        best, name = max(
            ((likeness(text, name, self._tables), name) for name in evidence.spots),
            default=(0.0, ""),
        )
        if best < _LIKE:
            other = self._numbered_otherwise(evidence, text)
            told = f"{other}, which is on this trip, has another number"
            return [Hit(Rule.NEAR_NAME, *span, told)] if other else []
        return [Hit(Rule.NEAR_NAME, *span, f"{best:.2f} like {name}, which is on this trip")]

    def _numbered_otherwise(self, evidence: Evidence, text: str) -> str | None:
        """Return the name of the trip that a text gives another number: "Quai Antoine 2"."""
        words = _unnumbered(text, self._tables)
        if len(words) < len(folded_words(text)):
            for name in evidence.spots:
                if _unnumbered(name, self._tables) == words and words:
                    return name
        return None


def _unnumbered(text: str, tables: WordTables) -> list[str]:
    """Return the canonical words of a name but for its numbers, Roman ones among them."""
    words = map(tables.canonical, folded_words(text))
    return [word for word in words if not word[0].isdigit() and not _ROMAN.fullmatch(word)]


def _is_other_end(
    reading: Reading, found: Sequence[Found], role: NameRole, verdict: _Verdict, evidence: Evidence
) -> bool:
    """Tell whether a text sets the start or end on a road that the first or last segment is not of.

    Args:
        reading: The text.
        found: The road and the names after it: of "ends on A and B" one is enough.
        role: Its role.
        verdict: What it rests on.
        evidence: The trip's own record.
    """
    one = found[0]
    if verdict[3] is not None or role.role not in _ENDS or role.shared or not one.first:
        return False
    if reading.words[one.first - 1].canonical not in _ON:
        return False
    spots = evidence.spots.get(verdict[0].text, ())
    here = [spot for spot in spots if _fits(spot[0], role.role, evidence.last)]
    ends = {evidence.end_road(spot[0]) if spot[1] == "road" else None for spot in here}
    listed = [other for other in found if other.first - one.end <= 1]
    told = {candidate.name.text for other in listed for candidate in other.candidates}
    return bool(ends) and None not in ends and ends.isdisjoint(told)


def _excused(
    verdict: _Verdict,
    meant: Role | Literal["stretch"] | None,
    following: Sequence[Found],
    evidence: Evidence,
) -> _Verdict:
    """Return the verdict of a name that breaks a rule, given what `role_meant` says it is."""
    if meant == "stretch" and verdict[3] is Rule.WRONG_PHASE:
        return *verdict[:3], Rule.UNVERIFIED
    if meant == "aside" or (meant == "stay" and verdict[3] is Rule.WRONG_PHASE):
        return *verdict[:3], None
    spot = None
    if meant == "leaves":
        spot = _left(verdict[0], following, evidence)
    elif meant == "pass" and verdict[3] is Rule.WRONG_PHASE:
        spot = _passed(verdict[0], following[0], evidence)
    elif meant == "stop" and verdict[3] is Rule.WRONG_PHASE:
        ends = (one for one in evidence.spots[verdict[0].text] if one[0] == evidence.last)
        spot = next(ends, None)
    return verdict if spot is None else (*verdict[:2], spot, None)


def _passed(road: Name, following: Found, evidence: Evidence) -> Spot | None:
    """Return where the trip is on a road from which it comes to the next name; None for nowhere."""
    phases = [p for one in following.candidates for p in evidence.phases_of(one.name)]
    latest = max(phases, default=-1)
    return next((spot for spot in evidence.spots[road.text] if spot[0] <= latest), None)


def _left(road: Name, following: Sequence[Found], evidence: Evidence) -> Spot | None:
    """Return where the trip leaves a road for the next one of a text; None where it does not."""
    roads = (
        evidence.spots[candidate.name.text]
        for one in following
        for candidate in one.candidates
        if "road" in candidate.name.sites and candidate.name.text in evidence.spots
    )
    onto = {spot[0] for spot in next(roads, ()) if spot[1] == "road"}
    for spot in evidence.spots.get(road.text, ()):
        if spot[1] == "road" and not onto.isdisjoint((spot[0], spot[0] + 1)):
            return spot
    return None


_WANTED: dict[Role, str] = {
    "leaves": "expected in phase 0",
    "origin": "expected in phase 0",
    "destination": "expected in the last phase",
    "way": "expected between the first and the last phase",
    "stop": "expected after phase 0",
    "ends": "expected in the first or the last phase",
    "stay": "expected on the trip",
    "avoid": "expected off the way",
    "no_origin": "expected not at the start",
    "no_destination": "expected not at the end",
}


def _kept_off(
    spots: Sequence[Spot], name: Name, role: Role, evidence: Evidence, *, told: bool
) -> tuple[Spot, bool]:
    """Return what of a name matters most to a role that denies something, or passes it.

    Also tells whether that is denied though it is so; what passes a name denies nothing.
    """
    last = evidence.last
    if role in {"avoid", "pass"}:
        everywhere = told and role == "avoid"
        so = [spot for spot in spots if 0 < spot[0] < last or (everywhere and spot[1] != "place")]
    else:
        end: Role = "origin" if role == "no_origin" else "destination"
        so = [spot for spot in spots if _is_end(spot, name, end, evidence)]
    return (so or spots)[0], role != "pass" and bool(so)


def _is_end(spot: Spot, name: Name, role: Role, evidence: Evidence) -> bool:
    """Tell whether a thing of a trip lies at its start or end; a road that its first or last is."""
    if not _fits(spot[0], role, evidence.last):
        return False
    road = evidence.end_road(spot[0]) if spot[1] == "road" else None
    return road is None or road == name.text


def _is_driven_through(spot: Spot, road: Name, last: int) -> bool:
    """Tell whether the first phase goes on to a road, or the last one goes on from it."""
    phase, kind, thing = spot
    if kind != "road" or not isinstance(thing, Phase):
        return False
    roads = thing.road_names
    return (phase == 0 and roads[0] != road.text) or (phase == last and roads[-1] != road.text)


def _fits(phase: int, role: Role | None, last: int) -> bool:
    """Tell whether a phase is one that a role allows; with two phases there is no between."""
    match role:
        case "origin" | "leaves":
            return phase == 0
        case "destination":
            return phase == last
        case "way":
            return 0 < phase < last or last < 2
        case "stop":
            return phase > 0
        case "ends":
            return phase in {0, last}
        case _:
            return True


def _span(reading: Reading, one: Found) -> tuple[int, int]:
    starts, last = reading.starts, one.end - 1
    return starts[one.first], starts[last] + reading.words[last].size


def _with_marks(text: str, span: tuple[int, int], name: Name) -> tuple[int, int]:
    """Return a span with the marks that begin and end a name, where the text has them."""
    start, end = span
    if name.lead and text.endswith(name.lead, 0, start):
        start -= len(name.lead)
    if name.tail and text.startswith(name.tail, end):
        end += len(name.tail)
    return start, end


def _as_denied(mention: Mention, rule: Rule) -> Mention:
    wrong = rule is Rule.WRONG_PHASE
    return replace(mention, verdict="off_route") if wrong else mention


def _unknown(field: str, span: tuple[int, int], text: str) -> Mention:
    return Mention(field, *span, text, "unknown", "invented", text, None, "", None, None, "none")


def _mention(
    field: str, span: tuple[int, int], text: str, one: Found, verdict: _Verdict
) -> Mention:
    name, level, spot, rule = verdict
    how = one.how if one.how == "glossed" else ("exact" if level == EXACT else "short")
    start, end = span
    if spot is not None:
        site = site_of(spot, name)
        return Mention(
            field, start, end, text[start:end], spot[1],
            "grounded" if rule in _ON_TRIP else "off_route",
            name.text, spot[0], site.id, site.lon, site.lat, how,
        )  # fmt: skip
    kind, site = next(iter(name.sites.items()))
    if kind == "city":
        return Mention(
            field, start, end, text[start:end], kind, "grounded", name.text,
            None, "", None, None, how,
        )  # fmt: skip
    return Mention(
        field, start, end, text[start:end], kind,
        "grounded" if rule in _ON_TRIP else "off_route",
        name.text, None, site.id, site.lon, site.lat, f"city_{how}",
    )  # fmt: skip


def likeness(one: str, other: str, tables: WordTables) -> float:
    """Return how like two names are, 0-1; 0 where a number, direction or type parts them.

    Only ever a hint: names that differ may be more alike than one name written in two ways.
    """
    types = tables.types["road"] | tables.types["place"]

    def telling(text: str) -> set[str]:
        words = map(tables.canonical, folded_words(text))
        return {w for w in words if w[0].isdigit() or w in tables.directions or w in types}

    if telling(one) != telling(other):
        return 0.0
    return SequenceMatcher(None, fold(one), fold(other), autojunk=False).ratio()
