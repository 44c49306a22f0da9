"""Which slots and roles a phrase bank may use, kind by kind: the contract between banks and code.

    KINDS["stop"]  ->  Kind(slots={"stop", ...}, roles=WAY_ROLES, optional=set())

A slot that is `optional` has no value in some trips; each role keeps a phrase without it.
"""

from typing import NamedTuple

WAY_ROLES = (
    "do", "do_chatty", "with", "with_chatty", "bit", "order", "abbr", "line", "say", "that",
)  # fmt: skip
# Those of what a driver may stop at: on record it is only passed.
STOP_ROLES = (*WAY_ROLES, "passing")
# Roles that end as sentences do, and roles that are joined and ended elsewhere.
SENTENCE_ROLES = ("line", "say")
FRAGMENT_ROLES = ("bit", "order", "abbr", "short")
END_ROLES = ("to", "toward", "at", "dest", "short")
ZONE_SLOTS = (
    "spot", "somewhere", "through", "across", "streets", "away", "zone", "no_zone", "scene",
)  # fmt: skip
_ZONE = frozenset(ZONE_SLOTS) - {"scene"}
_STOP = frozenset({"stop", "stop_plain", "stop_noun"})
_HEADING = frozenset({"heading", "heading_ly", "a_heading_ly", "heading_letters"})
_CLOCK = frozenset({"on_when", "when", "when_adj", "when_short", "when_abbr", "on_day"})
# Slots that begin with a proper name, which is never capitalised.
NAME_SLOTS = frozenset({
    "name", "road", "district", "roads", "series", "first", "rest", "chain", "origin", "end",
    "near", "area",
})  # fmt: skip

# Slots of a destination told in a few words.
BARE = frozenset({"name", "stop_plain", "stop_noun"})


class Kind(NamedTuple):
    """What phrases of one kind of target may use."""

    slots: frozenset[str]
    roles: tuple[str, ...]
    optional: frozenset[str] = frozenset()


KINDS = {
    "place": Kind(frozenset({"name"}), END_ROLES, frozenset({"road", "district"})),
    "road": Kind(frozenset({"name"}), END_ROLES, frozenset({"district"})),
    "zone_end": Kind(_ZONE, END_ROLES),
    "facility_end": Kind(_STOP, END_ROLES),
    "unnamed_end": Kind(frozenset(), END_ROLES),
    "roads": Kind(
        frozenset({"roads", "chain"}), WAY_ROLES, frozenset({"series", "first", "rest", "second"})
    ),
    "stop": Kind(_STOP, STOP_ROLES),
    "pass": Kind(_ZONE, STOP_ROLES),
    "district": Kind(frozenset({"district"}), WAY_ROLES),
    "prefer": Kind(_ZONE, WAY_ROLES),
    "avoid": Kind(_ZONE, WAY_ROLES),
    "stay_on": Kind(frozenset({"road"}), WAY_ROLES),
    "heading": Kind(_HEADING, WAY_ROLES),
    "few_turns": Kind(frozenset(), WAY_ROLES),
    "many_turns": Kind(frozenset(), WAY_ROLES),
    "zone_and_heading": Kind(_ZONE | _HEADING, WAY_ROLES),
    "zone_and_few_turns": Kind(_ZONE, WAY_ROLES),
    "zone_and_many_turns": Kind(_ZONE, WAY_ROLES),
    "zone_and_road": Kind(_ZONE | {"road"}, WAY_ROLES),
    "clock": Kind(_CLOCK, WAY_ROLES, frozenset({"hour"})),
    "slow": Kind(frozenset(), WAY_ROLES, frozenset({"minutes"})),
    "steady": Kind(frozenset(), WAY_ROLES, frozenset({"minutes"})),
    "brisk": Kind(frozenset(), WAY_ROLES, frozenset({"minutes"})),
}
# The same for captions, list by list; all but those of `legs` and `districts` are optional.
CAPTION_SLOTS = {
    "times": frozenset({"exact", "rounded", "day", "date"}),
    "openings": frozenset({"When", "when", "Subject", "subject", "origin", "origin_on", "area"}),
    "first_headings": frozenset({"heading"}),
    "along": frozenset({"road", "scene"}),
    "straight": frozenset({"heading", "road", "scene"}),
    "turn": frozenset({"heading", "road", "scene"}),
    "later": frozenset({"heading", "road", "scene"}),
    "nameless": frozenset({"heading", "scene"}),
    "scene_only": frozenset({"scene"}),
    "districts": frozenset({"area"}),
    "links": frozenset({"It", "it"}),
    "endings": frozenset({"end_at", "duration", "distance"}),
    "bare_endings": frozenset({"duration", "distance"}),
    "road_ends": frozenset({"end", "near", "area"}),
    "other_ends": frozenset({"near", "area", "somewhere"}),
    "totals": frozenset({"It", "it", "duration", "distance"}),
}
# Slots of which each list keeps an entry without any other.
CAPTION_CORE = {"endings": frozenset({"end_at"}), "road_ends": frozenset({"end"})}
_END = frozenset(END_ROLES)
# Slots of skeletons beside those of `skeletons`: the destination, and words of a voice.
PLAIN_SLOTS = {
    "literal": _END,
    "concise": _END,
    "chatty": _END | {"lead", "ask", "gripe", "gripe_comma", "story", "story_comma", "mood",
                      "mood_first", "close", "trail"},
    "queries": _END | {"records", "nouns", "from"},
}  # fmt: skip
# Slots that hold whole sentences: after them another one begins.
SENTENCE_SLOTS = frozenset({"Gripe", "Story", "Mood_first", "Frags_first", "gripe", "story"})
