"""What a name is to the trip, by the words around it: its start, its end, on the way, kept off.

    "Trips from A to B in C via D, then E"  ->  origin, destination, destination, way, way

The longest phrase before the name counts (tables/roles.yaml). "In", "near" and the like give the
role of the name before; a list goes on in the role it began with. Where the words leave it open,
the name may lie anywhere on the trip. Paper: A.3.6, "Phase Alignment".
"""

from collections.abc import Sequence
from typing import get_args

import msgspec

from pipeline.quality.folding import word_set
from pipeline.quality.gazetteer import Found
from pipeline.quality.reading import CAPITAL, Reading
from pipeline.quality.tables import Role, WordTables

# Words looked at before a name.
WINDOW = 7
# After "to X" these make X a stage of the way, not its end.
_GOES_ON = frozenset({"first", "then", "before", "onto"})
# After "from X" these make X a stage of the way, not its start.
_LEADS_ON = frozenset({"onto", "into", "through", "along"})
# Words after a name that may take its role back.
_TAKING_BACK = _GOES_ON | _LEADS_ON | {"behind"}
# Roles of something on the way, after which "then" may lead to the end.
_ON_THE_WAY = frozenset({"way", "pass"})
_GIVING = frozenset({"give", "giving", "leave", "leaving", "keep", "keeping", "put"})
_LAST = frozenset({"then", "finally", "last", "lastly", "to"})
TOWARD = frozenset({"to", "toward", "towards", "into"})
POLITE = frozenset({"please", "pls", "thanks", "now", "asap", "quick", "quickly"})
# Roles that a comma or "then" hands on to the next name of a list, and that "in" or "near" shares.
_DENIED = frozenset({"avoid", "no_origin", "no_destination"})
_LISTED = frozenset({"way", "pass", "aside", "ends", "stay"}) | _DENIED
_SHARED = frozenset({"leaves", "origin", "destination"}) | _DENIED
# Roles of what a way comes from.
FROM = frozenset({"leaves", "origin"})
# Words that tell where a trip starts or ends, how many words may tell what lies there, and what
# parts one thing told from the next.
_ENDING = word_set(
    "end ends ending finish finishes finishing start starts starting begin begins beginning stop"
)
_MOST_OF_A_THING = 6
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
        lowest = max(before, first - WINDOW, 0)
        here = max(lowest, reading.sentence(first)) if len(reading.sentences) > 1 else lowest
        role, end, attached = self._told(reading, first, here)
        if role is not None:
            if role == "avoid" and "," in reading.gap(first):
                return _OPEN  # "No, Mikonkatu"
            toward = reading.words[end - 1].canonical in TOWARD
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
            if shares and previous in _DENIED:
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
        if told is None or (told[1] == "avoid" and not one.is_road()):
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
    if role.role in FROM and after in _LEADS_ON and is_next:
        return _OPEN
    return role


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


def _is_all(reading: Reading, one: Found) -> bool:
    """Tell whether a name is a whole sentence, but for a word of courtesy: "Mikonkatu, please."."""
    end = one.end
    if one.first not in reading.begins:
        return False
    if end < len(reading.words) and reading.words[end].canonical in POLITE:
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
