"""What a name is to the trip, by the words around it: its start, its end, on the way, kept off.

    "Trips from A to B in C via D, then E"  ->  origin, destination, destination, way, way

The longest phrase before the name counts (tables/roles.yaml). "In", "near" and the like give the
role of the name before; a list goes on in the role it began with. Where the words leave it open,
the name may lie anywhere on the trip. Paper: A.3.6, "Phase Alignment".
"""

from collections.abc import Sequence
from typing import Literal, get_args

import msgspec

from pipeline.quality.folding import word_set
from pipeline.quality.gazetteer import Found
from pipeline.quality.reading import CAPITAL, Reading
from pipeline.quality.tables import Role, WordTables

# Words looked at before a name.
_WINDOW = 7
# After "to X" these make X a stage of the way, not its end.
_GOES_ON = frozenset({"first", "then", "before", "onto"})
# After "from X" these make X a stage of the way, not its start.
_LEADS_ON = frozenset({"onto", "into", "through", "along"})
# Words after a name that may take its role back.
_TAKING_BACK = _GOES_ON | _LEADS_ON | {"behind"}
# Words on the way from a road that is left to the next one, where no drive is told in order.
_TURNING = word_set("onto into turn turning take taking swing swinging switch follow")
_FARTHEST_NEXT = 8
_TURNED = word_set("turn turning turns swing swings swinging bend bends veer veers branch off")
# "To a halt on A" is no end where one of these follows.
_HALT = word_set("halt stop standstill rest")
_AFTER_A_HALT = word_set("for before briefly until while then and again twice")
_PREFERRING = word_set("prefer prefers preferring")
# Roles of something on the way, after which "then" may lead to the end.
_ON_THE_WAY = frozenset({"way", "pass"})
_GIVING = frozenset({"give", "giving", "leave", "leaving", "keep", "keeping", "put"})
_LAST = frozenset({"then", "finally", "last", "lastly", "to"})
_TOWARD = frozenset({"to", "toward", "towards", "into"})
_POLITE = frozenset({"please", "pls", "thanks", "now", "asap", "quick", "quickly"})
# Roles that a comma or "then" hands on to the next name of a list, and that "in" or "near" shares.
_LISTED = frozenset({"way", "pass", "avoid", "aside", "ends", "stay"})
_SHARED = frozenset({"leaves", "origin", "destination", "avoid"})
# Roles of a name that a text may go on to after "to A and", what it goes on with, and the words on
# the way there.
_STAGES = frozenset({None, "stop", "stay"})
_GOES_ON_WITH = frozenset({"and", "then"})
_ONWARD = (
    _GOES_ON_WITH
    | _TURNING
    | _POLITE
    | word_set(
        "from there on to at in the a stop stopping continue carry keep go pick up along down left "
        "right straight ahead next finally"
    )
)
# Roles of what a way comes from.
_FROM = frozenset({"leaves", "origin"})
# Words that tell where a trip starts or ends, how many words may tell what lies there, and what
# parts one thing told from the next.
_ENDING = word_set(
    "end ends ending finish finishes finishing start starts starting begin begins beginning stop"
)
_MOST_OF_A_THING = 6
_AT_A_THING = frozenset({"at", "by", "near", "to", "beside"})
_PARTING = frozenset({"and", "then", "before", "after", "that", "which", "while", "with"})


class NameRole(msgspec.Struct, frozen=True, gc=False):
    """The role of a name, and whether it only shares that of the name before ("B in C")."""

    role: Role | None
    shared: bool = False


# Every name has one of these, so none is made anew.
_OPEN = NameRole(None)
_ROLE = {role: NameRole(role) for role in get_args(Role)}
_SHARED_ROLE = {role: NameRole(role, shared=True) for role in get_args(Role)}


class RoleReader:
    """Reads the roles of names."""

    def __init__(self, tables: WordTables) -> None:
        """Keep the words that tell roles."""
        self._markers = tables.markers
        self._attaching = tables.attaching
        self._filling, self._joining = tables.filling, tables.joining
        self._refused_after = tables.refused_after
        self._told_after = tables.told_after
        self._telling_after = _TAKING_BACK.union(tables.refused_after.root, tables.told_after.root)

    def roles(self, reading: Reading, found: Sequence[Found], *, caption: bool) -> list[NameRole]:
        """Return the role of each name of a text; None where the words leave it open.

        Args:
            reading: The text.
            found: Its names in order.
            caption: Whether it tells a drive in order, where "to" is no end yet.
        """
        roles: list[NameRole] = []
        words, count = reading.words, len(reading.words)
        end, role = -1, _OPEN
        for number, one in enumerate(found):
            role = self._role(reading, one.first, end, role.role, caption=caption)
            end = one.end
            if end < count and words[end].canonical in self._telling_after:
                following = found[number + 1].first if number + 1 < len(found) else count
                role = self._looked_on(reading, one, role, following)
            roles.append(role)
        if not caption and len(found) == 2 and _is_pair(reading, *found):
            roles[0] = _ROLE["origin"]
        if not caption and found and found[0].first == 0 and _is_via(reading, found[0].end):
            roles[0] = _ROLE["destination"]  # "A via B and C"
        if len(found) == 1 and role.role is None and _is_all(reading, found[0]):
            return [_ROLE["destination"]]
        return _one_end(roles)

    def _role(
        self, reading: Reading, first: int, before: int, previous: Role | None, *, caption: bool
    ) -> NameRole:
        """Return the role of the name that begins with a word.

        Args:
            reading: The text.
            first: Number of its first word.
            before: Number of the word after the name before; -1 for none.
            previous: Role of that name.
            caption: As in `roles`.
        """
        lowest = max(before, first - _WINDOW, 0)
        here = max(lowest, reading.sentence(first)) if len(reading.sentences) > 1 else lowest
        role, end, attached = self._told(reading, first, here)
        if role is not None:
            if role == "avoid" and "," in reading.gap(first):
                return _OPEN  # "No, Mikonkatu"
            toward = reading.words[end - 1].canonical in _TOWARD
            leads_on = caption and role == "destination" and toward
            return _OPEN if leads_on else _ROLE[role]
        if here != before or before in reading.sentences or end < 0 or previous is None:
            return _OPEN
        return self._handed_on(reading, before, end, previous, attached=attached)

    def _told(self, reading: Reading, first: int, lowest: int) -> tuple[Role | None, int, bool]:
        """Return what the words before a name say, down to the lowest.

        Returns:
            The role, if they tell one; the number of the word after what is left of them, -1 where
            a comma parts them; whether a preposition of place was among them.
        """
        words = reading.words
        role = self._markers.before(words, first, lowest)
        end, attached = first, False
        while role is None and end > lowest:
            length = self._attaching.before(words, end, lowest)
            if length is not None:
                attached = True
                end -= length
                if end > lowest and "," in reading.gap(end):
                    return None, -1, attached  # "near the end, on X"
            elif words[end - 1].canonical in self._filling:
                end -= 1
            else:
                break
            role = self._markers.before(words, end, lowest)
        if role is None and attached:
            role = self._said_of_a_thing(reading, end, lowest)
        return role, end, attached

    def _said_of_a_thing(self, reading: Reading, end: int, lowest: int) -> Role | None:
        """Return the role of a thing that lies where a name is: "ends at a car dealer on X".

        Args:
            reading: The text.
            end: Number of the word after those that tell the thing.
            lowest: Number of the first word that may tell the role.
        """
        words = reading.words
        for here in range(end, max(lowest, end - _MOST_OF_A_THING), -1):
            role = self._markers.before(words, here, lowest)
            if role is not None:
                return role if words[here - 1].canonical in _ENDING else None
            before = words[here - 1]
            if before.after != " " or before.flags & CAPITAL or before.canonical in _PARTING:
                return None
        return None

    def _handed_on(
        self, reading: Reading, before: int, end: int, previous: Role, *, attached: bool
    ) -> NameRole:
        """Return the role that a name takes from the one before it; see `_told`."""
        if end > before:
            left = {word.canonical for word in reading.words[before:end]}
            if previous not in _LISTED or not left <= self._joining:
                return _OPEN
            # "Via A, then B": B may be the end that the way leads to.
            ends = previous in _ON_THE_WAY and not _LAST.isdisjoint(left)
            return _ROLE["stop" if ends else previous]
        if attached:
            shares = (
                previous in _SHARED
                and "," not in reading.gap(before)
                and reading.words[before].canonical
                != "by"  # "to A by B": beside B, or by way of it
            )
            if shares and previous == "avoid":
                return _ROLE["aside"]  # the way may go on in B, off A
            return _SHARED_ROLE[previous] if shares else _OPEN
        if previous == "avoid":
            return _ROLE["aside"]  # "not A, B": B may be kept off too, or be the way
        return _ROLE[previous] if previous in _LISTED else _OPEN

    def _looked_on(self, reading: Reading, one: Found, role: NameRole, following: int) -> NameRole:
        """Look at the words after a name, which may take its role back or keep it off.

        Args:
            reading: The text.
            one: The name.
            role: What the words before it say.
            following: Number of the first word of the next name.
        """
        words, end = reading.words, one.end
        before = words[one.first - 1].canonical if one.first else ""
        if before in _GIVING and not reading.breaks(end) and self._refused_after.after(words, end):
            return _ROLE["avoid"]  # "give X a miss"
        if role.role is not None:
            return _taken_back(reading, end, role, following)
        told = None if end in reading.sentences else self._told_after.after(words, end)
        if told is None or (told[1] == "avoid" and not _is_road(one)):
            return role
        return _ROLE[told[1]]


def _taken_back(reading: Reading, end: int, role: NameRole, following: int) -> NameRole:
    """Look at the words after a name, which may take its role back.

    Args:
        reading: The text.
        end: Number of the word after the name.
        role: What the words before it say.
        following: Number of the first word of the next name.
    """
    after = reading.words[end].canonical
    if end in reading.sentences:
        return role
    if after == "behind":
        return role if role.role == "leaves" else _ROLE["origin"]
    if role.shared:
        return role
    is_next = following - end <= 3
    if role.role == "destination" and (after == "first" or (after in _GOES_ON and is_next)):
        return _OPEN
    if role.role in _FROM and after in _LEADS_ON and is_next:
        return _OPEN
    return role


def role_meant(
    reading: Reading,
    found: Sequence[Found],
    number: int,
    roles: Sequence[NameRole],
    *,
    caption: bool,
    query: bool,
) -> Role | Literal["stretch"] | None:
    """Look again at the role of a name that breaks a rule in it.

    "From A it turns onto B" leaves A for B on the way, "turn off A into B" takes B, "I prefer A to
    B" goes to neither, "to A, please, and then B" to B; "via A and B, C" and "via A, B and C" may
    end in C. In a caption "From A it ..." goes on from A but for its first sentence. In a query
    "past the shops from A to B" may be a stretch of the way.

    Args:
        reading: The text.
        found: Its names in order.
        number: Which of them is meant.
        roles: Their roles so far.
        caption: Whether the text tells a drive in order, where any words may lie between A and B.
        query: Whether it asks for trips.
    """
    role = roles[number].role
    if query and _is_stretch(found, number, roles):
        return "stretch"
    if role == "destination":
        return _led_to(reading, found, number, roles)
    if role == "way" and number and number + 1 == len(found):
        return "stop" if _ends_list(reading, found[: number + 1]) else role
    if caption and role in _FROM and _goes_on_from(reading, found, number, roles):
        return "stay"
    return _left(reading, found[number:], caption=caption) if role == "leaves" else role


def _led_to(
    reading: Reading, found: Sequence[Found], number: int, roles: Sequence[NameRole]
) -> Role:
    """Return the role of a name that a text leads to: the end, or a road that it goes on from."""
    if _goes_on(reading, found[number:], roles[number + 1 :]):
        return "pass"
    if number + 1 == len(found) and _is_road(found[number]) and _then(reading, found[number]):
        return "stay"
    return _no_end(reading, found[max(number - 1, 0) : number + 1])


def _then(reading: Reading, one: Found) -> bool:
    """Tell whether a sentence goes on from its last name to a thing: "to A, then to a bar"."""
    words = [word.canonical for word in reading.words[one.end : one.end + _WINDOW]]
    if words[:1] == ["and"]:
        words.pop(0)
    return words[:1] == ["then"] and not _AT_A_THING.isdisjoint(words)


def _left(reading: Reading, found: Sequence[Found], *, caption: bool) -> Role:
    """Return the role of a name that is left, given with those after it."""
    if len(found) < 2:
        return "leaves"
    end, following = found[0].end, found[1].first
    if following - end > _FARTHEST_NEXT or reading.sentence(following) >= end:
        return "origin"
    turns = any(word.canonical in _TURNING for word in reading.words[end:following])
    return "leaves" if caption or turns else "origin"


def _is_stretch(found: Sequence[Found], number: int, roles: Sequence[NameRole]) -> bool:
    """Tell whether a road is an end of "from A to B", without a word of trips before it."""
    if not _is_road(found[number]):
        return False
    ends = [one.role for one in roles]
    if ends[number] == "leaves":
        return "destination" in ends[number + 1 :]
    return ends[number] == "destination" and "leaves" in ends[:number]


def _goes_on_from(
    reading: Reading, found: Sequence[Found], number: int, roles: Sequence[NameRole]
) -> bool:
    """Tell whether a sentence after the first begins with "From" and a name, or what it lies in."""
    while roles[number].shared:
        number -= 1
    before = found[number].first - 1
    return before in reading.sentences[1:] and reading.words[before].canonical == "from"


def _goes_on(reading: Reading, found: Sequence[Found], following: Sequence[NameRole]) -> bool:
    """Tell whether a text goes on from a road that it leads to: "to A, please, and then B".

    Args:
        reading: The text.
        found: The road and the names after it.
        following: The roles of these.
    """
    if not following or following[0].role not in _STAGES or not _is_road(found[0]):
        return False
    one, other = found[:2]
    toward = one.first and reading.words[one.first - 1].canonical in _TOWARD
    if not toward or reading.sentence(other.first) >= one.end:
        return False
    between = [word.canonical for word in reading.words[one.end : other.first]]
    while between and between[0] in _POLITE:
        between.pop(0)
    if not between or not ("then" in between or _ONWARD.issuperset(between)):
        return False
    return (
        "then" in between
        or between[0] in _GOES_ON_WITH
        or ("," in reading.gap(one.end) and between[0] in _TURNING)
    )


def _ends_list(reading: Reading, found: Sequence[Found]) -> bool:
    """Tell whether the last name ends a list, by a comma or, of three or more, by "and"."""
    one, before = found[-1], found[-2]
    if before.end == one.first:
        return "," in reading.gap(one.first)
    joined = before.end + 1 == one.first and reading.words[before.end].canonical == "and"
    long = len(found) > 2 and found[-3].end == before.first and "," in reading.gap(before.first)
    return joined and long


def _is_via(reading: Reading, number: int) -> bool:
    return number < len(reading.words) and reading.words[number].canonical == "via"


def _is_pair(reading: Reading, one: Found, other: Found) -> bool:
    """Tell whether a text begins with one name, then "to" and another: "A to B, please"."""
    words, end = reading.words, one.end
    return (
        one.first == 0
        and other.first == end + 1
        and words[end].canonical == "to"
        and not reading.breaks(end)
    )


def _no_end(reading: Reading, found: Sequence[Found]) -> Role:
    """Return the role of a name that seems to be the end, given with the name before if any."""
    words, one, last = reading.words, found[0], found[-1].first
    if words[last - 1].canonical == "into":
        before = words[max(last - _WINDOW, reading.sentence(last)) : last]
        turned = any(word.canonical in _TURNED for word in before)
        return "stay" if turned else "destination"
    end = found[-1].end
    if last > 1 and words[last - 2].canonical in _HALT and end < len(words):
        return "stay" if words[end].canonical in _AFTER_A_HALT else "destination"
    before_one = words[one.first - 1].canonical if one.first else ""
    to = last == one.end + 1 and words[one.end].canonical == "to"
    return "aside" if to and before_one in _PREFERRING else "destination"


def _is_road(one: Found) -> bool:
    return all("road" in candidate.name.sites for candidate in one.candidates)


def _is_all(reading: Reading, one: Found) -> bool:
    """Tell whether a name is a whole sentence, but for a word of courtesy: "Mikonkatu, please."."""
    end = one.end
    if one.first not in reading.begins:
        return False
    if end < len(reading.words) and reading.words[end].canonical in _POLITE:
        end += 1
    return end == len(reading.words) or end in reading.begins


def _one_end(roles: list[NameRole]) -> list[NameRole]:
    """Leave the end to the last name that is one: "to A, then to B" goes to B."""
    if len(roles) < 2:
        return roles
    ends = [n for n, role in enumerate(roles) if role.role == "destination" and not role.shared]
    if len(ends) < 2:
        return roles
    last = ends[-1]
    return [
        _OPEN if role.role == "destination" and number < last else role
        for number, role in enumerate(roles)
    ]
