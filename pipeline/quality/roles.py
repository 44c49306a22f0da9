"""What a name is to the trip, by the words around it: its start, its end, on the way, kept off.

    "Trips from A to B in C via D, then E"  ->  origin, destination, destination, way, way

The longest phrase before the name counts (tables/roles.yaml). "In", "near" and the like give the
role of the name before; a list goes on in the role it began with. Where the words leave it open,
the name may lie anywhere on the trip. Paper: A.3.6, "Phase Alignment".
"""

from collections.abc import Sequence
from typing import NamedTuple

from pipeline.quality.mentions import Found
from pipeline.quality.reading import Reading
from pipeline.quality.tables import Role, WordTables

# Words looked at before a name.
_WINDOW = 7
_LONGEST_MARKER = 5
# After "to X" these make X a stage of the way, not its end.
_GOES_ON = frozenset({"first", "then", "before", "onto", "and"})
# Marks after which a capital is due and the sentence still goes on.
_GOES_WITH = frozenset(":>(\"“«")
_LAST = frozenset({"then", "finally", "last", "lastly", "to"})
# Roles a comma or "then" hands on to the next name of a list.
_LISTED = frozenset({"way", "avoid", "ends", "stay"})


class NameRole(NamedTuple):
    """The role of a name, and whether it only shares that of the name before ("B in C")."""

    role: Role | None
    shared: bool = False


class RoleReader:
    """Reads the roles of names."""

    def __init__(self, tables: WordTables) -> None:
        """Keep the words that tell roles."""
        self._markers = tables.markers
        self._attaching = tables.attaching
        self._filling, self._joining = tables.filling, tables.joining

    def roles(self, reading: Reading, found: Sequence[Found], *, caption: bool) -> list[NameRole]:
        """Return the role of each name of a text; None where the words leave it open.

        Args:
            reading: The text.
            found: Its names in order.
            caption: Whether it tells a drive in order, where "to" is no end yet.
        """
        roles: list[NameRole] = []
        for number, one in enumerate(found):
            before = found[number - 1] if number else None
            previous = roles[-1] if roles else NameRole(None)
            role = self._role(reading, one, before, previous.role)
            following = found[number + 1].first if number + 1 < len(found) else None
            role = self._looked_on(reading, one, role, following)
            if caption and role.role == "destination" and self._bare_to(reading, one):
                role = NameRole(None)
            roles.append(role)
        if len(found) == 1 and roles[0].role is None and _is_all(reading, found[0]):
            return [NameRole("destination")]
        return _one_end(roles)

    def _role(
        self, reading: Reading, one: Found, before: Found | None, previous: Role | None
    ) -> NameRole:
        begin = before.end if before is not None else 0
        first = max(begin, one.first - _WINDOW)
        for number in range(one.first, first, -1):
            if _new_sentence(reading, number):
                first, begin = number, -1
                break
        near = first == begin and before is not None and not _new_sentence(reading, first)
        left = [word[0] for word in reading.words[first : one.first]]
        found = self._marked(left)
        if found is not None:
            return NameRole(found)
        bare, attached = self._bare(left)
        found = self._marked(bare)
        if found is not None:
            return NameRole(found)
        if bare or not near:
            if not near or previous not in _LISTED or not self._joining.issuperset(bare):
                return NameRole(None)
            # "Via A, then B": B may be the end that the way leads to.
            ends = previous == "way" and not _LAST.isdisjoint(bare)
            return NameRole("stop" if ends else previous)
        if attached:
            shares = previous in {"origin", "destination", "avoid"} and "," not in (
                reading.between(begin)
            )
            return NameRole(previous if shares else None, shared=shares)
        return NameRole(previous if previous in _LISTED else None)

    def _marked(self, left: list[str]) -> Role | None:
        """Return the role that the words just before a name give it."""
        for length in range(min(_LONGEST_MARKER, len(left)), 0, -1):
            role = self._markers.get(tuple(left[-length:]))
            if role is not None:
                return role
        return None

    def _bare(self, left: list[str]) -> tuple[list[str], bool]:
        """Take words off the end that say nothing of the role; tell whether one was of place."""
        bare, attached = list(left), False
        while bare:
            for length in range(min(4, len(bare)), 0, -1):
                if tuple(bare[-length:]) in self._attaching:
                    bare, attached = bare[:-length], True
                    break
            else:
                if bare[-1] not in self._filling or self._marked(bare) is not None:
                    break
                bare = bare[:-1]
                continue
            if self._marked(bare) is not None:
                break
        return bare, attached

    def _looked_on(
        self, reading: Reading, one: Found, role: NameRole, following: int | None
    ) -> NameRole:
        """Look at the words after a name, which may take a role back."""
        words = reading.words[one.end : one.end + 2]
        if not words or (one.end < len(reading.words) and reading.begins_sentence(one.end)):
            return role
        after = words[0][0]
        if after == "behind":
            return NameRole("origin")
        if role.shared:
            return role
        is_next = following is not None and following - one.end <= 3
        if role.role == "destination" and (
            after == "first" or (after in _GOES_ON and is_next and after != "and")
        ):
            return NameRole(None)
        if role.role == "origin" and after in {"onto", "into", "through", "along"} and is_next:
            return NameRole(None)
        return role

    def _bare_to(self, reading: Reading, one: Found) -> bool:
        left = [word[0] for word in reading.words[max(0, one.first - 3) : one.first]]
        bare, _ = self._bare(left)
        return bool(bare) and bare[-1] in {"to", "toward", "towards", "into"}


def _new_sentence(reading: Reading, number: int) -> bool:
    """Tell whether a word begins a sentence; after "From:" and an opening bracket it does not."""
    return number > 0 and reading.begins_sentence(number) and not _GOES_WITH.intersection(
        reading.between(number)
    )


def _is_all(reading: Reading, one: Found) -> bool:
    """Tell whether a name is a whole sentence, but for a word of courtesy: "Mikonkatu, please."."""
    if not reading.begins_sentence(one.first):
        return False
    end = one.end
    polite = {"please", "pls", "thanks", "now", "asap", "quick", "quickly"}
    if end < len(reading.words) and reading.words[end][0] in polite:
        end += 1
    return end == len(reading.words) or reading.begins_sentence(end)


def _one_end(roles: list[NameRole]) -> list[NameRole]:
    """Leave the end to the last name that is one: "to A, then to B" goes to B."""
    ends = [n for n, role in enumerate(roles) if role.role == "destination" and not role.shared]
    if len(ends) < 2:
        return roles
    last = ends[-1]
    return [
        NameRole(None) if role.role == "destination" and number < last else role
        for number, role in enumerate(roles)
    ]
