"""Stage 1: every name in a text must rest on the trip's own evidence, in the right phase.

    "From Rua A to Café Ceuta via Zanzibar Plaza"
    ->  Mention("Rua A", grounded, phase 0), Mention("Café Ceuta", grounded, phase 15),
        Mention("Zanzibar Plaza", invented); Finding(invented_name, reject)

The trip's evidence comes first, the city's names second. Of a name that means several things any
reading that fits will do. Likeness of letters never grounds a name: 16th Street is as like 6th Street
as two ways of writing one name are (notes in tests/quality/test_likeness.py), so it only adds a hint
to a name that is rejected anyway. Paper: 3.3 (noun, location and phase grounding), A.3.6.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from pipeline.quality.evidence import Evidence, Spot
from pipeline.quality.folding import fold, folded_words
from pipeline.quality.gazetteer import EXACT, Candidate, Gazetteer, Name, Site
from pipeline.quality.mentions import Found, NameFinder
from pipeline.quality.reading import Reading
from pipeline.quality.roles import NameRole, RoleReader
from pipeline.quality.rules import Hit, Rule
from pipeline.quality.tables import Role, WordTables
from pipeline.records import Mention

# Letters in common from which on an unknown name is told to be like one of the trip's, 0-1.
_LIKE = 0.85


class Grounded(NamedTuple):
    """The names of one text and what is wrong with them.

    Attributes:
        mentions: Each name and what it rests on.
        hits: Rules broken.
        doubtful: Words that may be names; for the verifier.
    """

    mentions: list[Mention]
    hits: list[Hit]
    doubtful: list[tuple[int, int]]


class _Verdict(NamedTuple):
    """What a name rests on."""

    name: Name
    level: int
    spot: Spot | None
    rule: Rule | None


class Grounder:
    """Grounds the texts of one city."""

    def __init__(self, names: Gazetteer, tables: WordTables) -> None:
        """Keep the city's names and the word tables."""
        self._city = names.of(names.city)
        self._finder = NameFinder(names, tables)
        self._roles = RoleReader(tables)
        self._tables = tables

    def ground(self, reading: Reading, evidence: Evidence, *, field: str) -> Grounded:
        """Find and judge every name of a text.

        Args:
            reading: The text.
            evidence: The trip's own record.
            field: Which of the seven texts it is.
        """
        found = self._finder.find(reading, evidence)
        if not found:
            return Grounded([], [], [])
        doubtful = [_span(reading, one) for one in found if one.how == "doubtful"]
        found = [one for one in found if one.how != "doubtful"]
        roles = self._roles.roles(reading, found, caption=field == "trajectory_caption")
        mentions, hits = [], []
        for one, role in zip(found, roles, strict=True):
            start, end = _span(reading, one)
            text = reading.text[start:end]
            if not one.candidates:
                mentions.append(_unknown(field, start, end, text))
                hits.append(Hit(Rule.INVENTED_NAME, start, end, f"{text}: no such name in the city"))
                hits += self._like(evidence, start, end, text)
                continue
            verdict = self._verdict(one.candidates, role, evidence)
            mentions.append(_mention(field, start, end, text, one, verdict))
            hits += self._hits(one, verdict, role.role, evidence, start, end)
        return Grounded(mentions, hits, doubtful)

    def _verdict(
        self, candidates: Sequence[Candidate], role: NameRole, evidence: Evidence
    ) -> _Verdict:
        """Return the first reading that fits the role; else the first of the trip; else any."""
        elsewhere: _Verdict | None = None
        for level, name in candidates:
            spots = evidence.spots.get(name)
            if spots is None:
                continue
            for spot in spots:
                if _fits(spot.phase, role.role, evidence.last):
                    return _Verdict(name, level, spot, None)
            elsewhere = elsewhere or _Verdict(name, level, spots[0], Rule.WRONG_PHASE)
        if elsewhere is not None:
            return elsewhere
        for level, name in candidates:
            if name is self._city:
                return _Verdict(name, level, None, None)
        level, name = candidates[0]
        return _Verdict(name, level, None, None if role.role == "avoid" else Rule.OFF_ROUTE_NAME)

    def _hits(
        self,
        one: Found,
        verdict: _Verdict,
        role: Role | None,
        evidence: Evidence,
        start: int,
        end: int,
    ) -> list[Hit]:
        hits = []
        name = verdict.name.text
        if verdict.rule is Rule.WRONG_PHASE:
            phases = ", ".join(map(str, dict.fromkeys(evidence.phases_of(verdict.name))))
            detail = f"{name}: {_WANTED[role]}, found in {phases} of 0-{evidence.last}"
            hits.append(Hit(Rule.WRONG_PHASE, start, end, detail))
        elif verdict.rule is not None:
            hits.append(Hit(verdict.rule, start, end, f"{name}: in the city, not on this trip"))
        elif one.how == "glossed":
            hits.append(Hit(Rule.GLOSSED_NAME, start, end, f"for {name}"))
        elif verdict.level != EXACT:
            hits.append(Hit(Rule.SHORT_NAME, start, end, f"for {name}"))
        return hits

    def _like(self, evidence: Evidence, start: int, end: int, text: str) -> list[Hit]:
        """Hint at the name of the trip that an unknown name may be a misspelling of."""
        best, name = max(
            ((likeness(text, name.text, self._tables), name.text) for name in evidence.spots),
            default=(0.0, ""),
        )
        if best < _LIKE:
            return []
        return [Hit(Rule.NEAR_NAME, start, end, f"{best:.2f} like {name}, which is on this trip")]


_WANTED: dict[Role | None, str] = {
    "origin": "expected in phase 0",
    "destination": "expected in the last phase",
    "way": "expected between the first and the last phase",
    "stop": "expected after phase 0",
    "ends": "expected in the first or the last phase",
    "avoid": "expected off the way",
}


def _fits(phase: int, role: Role | None, last: int) -> bool:
    """Tell whether a phase is one that a role allows; with two phases there is no between."""
    match role:
        case "origin":
            return phase == 0
        case "destination":
            return phase == last
        case "way":
            return 0 < phase < last or last < 2
        case "stop":
            return phase > 0
        case "ends":
            return phase in {0, last}
        case "avoid":
            return phase in {0, last}
        case _:
            return True


def _span(reading: Reading, one: Found) -> tuple[int, int]:
    return reading.starts[one.first], reading.end(one.end - 1)


def _unknown(field: str, start: int, end: int, text: str) -> Mention:
    return Mention(field, start, end, text, "unknown", "invented", text, None, "", None, None, "none")


def _mention(
    field: str, start: int, end: int, text: str, one: Found, verdict: _Verdict
) -> Mention:
    name, spot = verdict.name, verdict.spot
    kind = spot.kind if spot is not None else next(iter(name.sites))
    site: Site | None = spot.site(name) if spot is not None else name.sites[kind]
    if kind == "city":
        site = None
    how = one.how if one.how == "glossed" else ("exact" if verdict.level == EXACT else "short")
    return Mention(
        field=field,
        start=start,
        end=end,
        text=text,
        kind=kind,
        verdict="off_route" if verdict.rule is not None else "grounded",
        name=name.text,
        phase=spot.phase if spot is not None else None,
        id=site.id if site is not None else "",
        lon=site.lon if site is not None else None,
        lat=site.lat if site is not None else None,
        method=how if spot is not None or kind == "city" else f"city_{how}",
    )


def likeness(one: str, other: str, tables: WordTables) -> float:
    """Return how like two names are, 0-1; 0 where a number, direction or type parts them.

    Only ever a hint: names that differ may be more alike than one name written in two ways.
    """
    words = [[tables.canonical(word) for word in folded_words(text)] for text in (one, other)]
    types = tables.types["road"] | tables.types["place"]
    for telling in (str.isdigit, tables.directions.__contains__, types.__contains__):
        if _picked(words[0], telling) != _picked(words[1], telling):
            return 0.0
    return SequenceMatcher(None, fold(one), fold(other), autojunk=False).ratio()


def _picked(words: list[str], telling: object) -> set[str]:
    if telling is str.isdigit:
        return {word for word in words if word[0].isdigit()}
    assert callable(telling)
    return {word for word in words if telling(word)}
