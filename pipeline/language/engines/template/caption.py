"""The caption of a trip: when, where from, the key roads and areas in order, where to, how long.

-> "At 8:15 PM on a Sunday, the drive leaves Rua A in Cedofeita, heading northwest. It follows Rua B
    southwest past parks and gardens and turns north onto Rua C. It ends on Rua D near Central after
    about 3 minutes."

Third person, present tense, facts alone. However long the trip, six roads at most are told.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pipeline.language.engines.template.banks import Banks
from pipeline.language.engines.template.choices import Choices
from pipeline.language.engines.template.evidence import Evidence, Reader
from pipeline.language.engines.template.legs import (
    STRAIGHT,
    Leg,
    chosen_legs,
    compass_word,
    legs_of,
    turned_deg,
)
from pipeline.language.engines.template.wording import (
    capital,
    ended,
    in_a_row,
    rounded_distance,
    rounded_duration,
)

MOST_ROADS, FEWEST_ROADS = 6, 3
MOST_SCENES = 3
# Sentences of a caption: two to four.
MOST_SENTENCES = 4
# Headings this close are one direction, from this angle on it is another, degrees.
SAME_DEG, OTHER_DEG = 30.0, 45.0
# The zone that is nearly everywhere says least, so any other is told first.
_PLAIN_ZONE = "urban"


class Told(NamedTuple):
    """Something of the middle phases that a caption tells: a road or district, or a zone."""

    what: str
    named: bool
    phases: Sequence[int]


class Caption(NamedTuple):
    """A caption and what it tells of the way, for the record of what it rests on."""

    text: str
    told: Sequence[Told]


class Captioner:
    """Writes captions; one for all trips."""

    def __init__(self, banks: Banks, reader: Reader) -> None:
        self._banks, self._reader = banks, reader

    def write(self, evidence: Evidence) -> Caption:
        """Return the caption of a trip."""
        return _Writing(evidence, self._banks, self._reader).caption()


class _Writing:
    """One caption under way."""

    def __init__(self, evidence: Evidence, banks: Banks, reader: Reader) -> None:
        self._evidence, self._banks, self._reader = evidence, banks, reader
        self._phases = evidence.trip.phases
        self._choices = Choices(evidence.trip.trip_id, "caption")
        subject = self._choices.pick(banks.subjects)
        self._subject = {"subject": subject, "Subject": capital(subject)}
        self._told_scenes: set[str] = set()
        self._scenes: list[Told] = []
        self._used: set[str] = set()
        self._links = list(banks.caption["links"])

    def caption(self) -> Caption:
        first = self._phases[0]
        opening, start = self._opening()
        without = {name for name in (start, self._evidence.end_road) if name}
        most = FEWEST_ROADS + self._choices.below(MOST_ROADS - FEWEST_ROADS + 1)
        legs = chosen_legs(legs_of(self._phases, without=without), most)
        heading = first.heading_deg if first.heading_strength >= STRAIGHT else None
        clauses = self._leg_clauses(legs, heading) or self._nameless_clause()
        ending, tells_duration = self._ending()
        most = MOST_SENTENCES if tells_duration else MOST_SENTENCES - 1
        sentences = self._joined(opening, heading, [*clauses, ending], most)
        if not tells_duration:
            sentences += self._total()
        told = [Told(leg.road, True, leg.phases) for leg in legs]
        text = ended(" ".join(sentences), self._evidence.marked)
        return Caption(text, [*told, *self._scenes])

    # ---- the start ------------------------------------------------------------------------------

    def _opening(self) -> tuple[str, str | None]:
        """Return the first clause, and the name it gives the start, if any."""
        evidence, values = self._evidence, dict(self._subject)
        if evidence.clock is not None:
            clock = {
                "exact": evidence.clock.exact, "rounded": evidence.clock.rounded,
                "day": evidence.clock.day, "date": evidence.clock.date,
            }  # fmt: skip
            values["when"] = self._pick("times", clock)
            values["When"] = capital(values["when"])
        start = next((s for s in evidence.starts if s.preposition != "in"), None)
        start = start or next(iter(evidence.starts), None)
        if start is not None:
            if start.preposition != "near":  # nothing shows that anybody left a place nearby
                values["origin"] = start.name
            values["origin_on"] = f"{start.preposition} {start.name}"
            if evidence.first.district not in {None, start.name}:
                values["area"] = evidence.first.district or ""
        named = [
            phrase
            for phrase in self._banks.caption["openings"]
            if start is None or "origin" in phrase.text
        ]
        phrase = self._choices.pick_fitting(named, values)
        if "area" in phrase.slots:
            self._told_scenes.add(values["area"])
        return phrase.fill(values), start.name if start else None

    # ---- the way --------------------------------------------------------------------------------

    def _leg_clauses(self, legs: Sequence[Leg], heading: float | None) -> list[str]:
        """Return a clause for each leg: "turns north onto Rua C past a stretch of green"."""
        said, before, last = [], heading, -1
        for leg in legs:
            now = leg.heading_deg
            values = {"road": leg.road, "scene": self._scene(leg.phases)}
            if now is None:
                kind = "along"
            else:
                values["heading"] = compass_word(now)
                kind = self._change(before, now, adjacent=leg.number == last + 1)
            said.append(self._fresh(kind, values))
            before, last = now if now is not None else before, leg.number
        return said

    @staticmethod
    def _change(before: float | None, now: float, *, adjacent: bool) -> str:
        if before is None:
            return "later"
        if turned_deg(before, now) <= SAME_DEG:
            return "straight"
        other = turned_deg(before, now) >= OTHER_DEG and compass_word(before) != compass_word(now)
        return "turn" if adjacent and other else "later"

    def _nameless_clause(self) -> list[str]:
        """Return a clause for a way without roads to tell: its direction, or what it passes."""
        middle = self._phases[1:-1]
        if not middle:
            return []
        whole = Leg("", 0)
        for phase in middle:
            whole.add(phase, roads=1)
        scene = self._scene([phase.p for phase in middle])
        heading = whole.heading_deg
        if heading is not None:
            return [self._pick("nameless", {"heading": compass_word(heading), "scene": scene})]
        return [self._pick("scene_only", {"scene": scene})] if scene else []

    def _scene(self, phases: Sequence[int]) -> str:
        """Return what most of these phases lie in, with a space before; each is told once."""
        if len(self._told_scenes) >= MOST_SCENES or not self._choices.chance(70):
            return ""
        areas = [self._reader.area(self._phases[p].desc) for p in phases]
        district = areas[0].district
        if district and all(area.district == district for area in areas):
            ends = {self._evidence.first.district, self._evidence.last.district}
            if district not in self._told_scenes | ends:
                self._told_scenes.add(district)
                self._scenes.append(Told(district, True, phases))
                return self._pick("districts", {"area": district})
        shared = [
            zone
            for zone in areas[0].zones
            if zone not in self._told_scenes and all(zone in area.zones for area in areas)
        ]
        shared.sort(key=lambda zone: zone == _PLAIN_ZONE)
        if not shared:
            return ""
        self._told_scenes.add(shared[0])
        self._scenes.append(Told(shared[0], False, phases))
        return f" {self._choices.pick(self._banks.zones[shared[0]]['scene'])}"

    # ---- the end --------------------------------------------------------------------------------

    def _ending(self) -> tuple[str, bool]:
        """Return the clause of the end, and whether it tells the duration."""
        values = self._measures()
        values["end_at"] = self._end_at()
        kind = "endings" if values["end_at"] else "bare_endings"
        phrase = self._choices.pick_fitting(self._banks.caption[kind], values)
        return phrase.fill(values), "duration" in phrase.slots

    def _end_at(self) -> str:
        evidence = self._evidence
        places = {
            "end": evidence.end_road,
            "area": evidence.last.district,
            "near": evidence.near_end,
        }
        values = {slot: name for slot, name in places.items() if name}
        if values.get("area") in self._told_scenes and len(values) > 1:
            values.pop("area")
        if values.get("near") == values.get("end"):
            values.pop("near", None)
        if "end" in values:
            return self._pick("road_ends", values)
        if evidence.last.zones:
            zone = self._banks.zones[evidence.last.zones[0]]
            values["somewhere"] = self._choices.pick(zone["somewhere"])
        return self._pick("other_ends", values) if values else ""

    def _measures(self) -> dict[str, str]:
        meta = self._evidence.trip.meta
        measures = {}
        if meta.time_spent_s >= 5:
            measures["duration"] = f"about {rounded_duration(meta.time_spent_s)}"
        if meta.length_m >= 25:
            measures["distance"] = f"about {rounded_distance(meta.length_m)}"
        return measures

    def _total(self) -> list[str]:
        values = self._measures() | self._again()
        phrases = self._banks.caption["totals"]
        if not any(all(slot in values for slot in phrase.slots) for phrase in phrases):
            return []
        return [self._choices.pick_fitting(phrases, values).fill_capital(values)]

    # ---- all of it ------------------------------------------------------------------------------

    def _joined(self, opening: str, heading: float | None, left: list[str], most: int) -> list[str]:
        """Spread the clauses that are left over a few sentences; "it" begins every other one."""
        sentences = []
        if heading is not None and self._choices.chance(60):
            words = {"heading": compass_word(heading)}
            opening = f"{opening}, {self._pick('first_headings', words)}"
            sentences.append(f"{opening}.")
        elif len(left) > 1 and " and " not in left[0] and self._choices.chance(60):
            sentences.append(f"{opening} and {left.pop(0)}.")
        else:
            sentences.append(f"{opening}.")
        while left:
            fewest = -(-len(left) // (most - len(sentences)))
            count = max(fewest, 1 + self._choices.below(3))
            if len(left) - count == 1 and self._choices.chance(50):
                count += 1
            now, left = left[:count], left[count:]
            first = "It" if len(sentences) == 1 else self._again()["It"]
            link = first if len(sentences) % 2 else self._link()
            sentences.append(f"{link} {in_a_row(now)}.")
        return sentences

    def _link(self) -> str:
        """Return how a further sentence begins, each way once."""
        return self._links.pop(self._choices.below(len(self._links))).fill(self._again())

    def _again(self) -> dict[str, str]:
        """Return the trip once named: mostly "it"."""
        again = "it" if self._choices.chance(70) else self._subject["subject"]
        return {"it": again, "It": capital(again)}

    def _fresh(self, kind: str, values: dict[str, str]) -> str:
        """Return a phrase that this caption has not used, as long as there is one."""
        phrases = self._banks.caption[kind]
        unused = [phrase for phrase in phrases if phrase.text not in self._used] or phrases
        phrase = self._choices.pick(unused)
        self._used.add(phrase.text)
        return phrase.fill(values)

    def _pick(self, kind: str, values: dict[str, str]) -> str:
        return self._choices.pick_fitting(self._banks.caption[kind], values).fill(values)
