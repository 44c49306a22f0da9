"""The names of a city: its roads, places and districts, how texts may write them, where they lie.

    names = gazetteer_of("Porto", roads=roads, road_cells=road_cells, cells=cells, names=names, ...)
    names.longest(reading, 2)        ->  (5, [Candidate(EXACT, Name(...))])
    names.of("Rua do Campo Alegre")  ->  Name("Rua do Campo Alegre", {"road"}, ...)

Names are kept word by word in a tree, so looking through a text takes one step per word, however
many names there are, and the longest name always wins. Each name is there in every form that is
soundly the same name: with short words long or short, without "de" and "of", without an apostrophe
(EXACT), and without its type, as in "Boavista" for "Avenida da Boavista" (SHORT), which only flags.
"""

import re
from collections.abc import Iterable, Iterator, Set
from typing import Any, Literal

import msgspec
import polars as pl

from pipeline.errors import ContractError
from pipeline.quality.folding import all_words, fold, split_words
from pipeline.quality.reading import CONNECTOR, Reading
from pipeline.quality.tables import WordTables

NameKind = Literal["road", "place", "district", "city"]
How = Literal["exact", "short", "glossed", "unknown", "doubtful"]
EXACT, SHORT = 0, 1
# Exact while the words may be no other name of the city, else short.
EXACT_ALONE = -1
# Marks that part a name from what is said of it: "Le Louis XV - Alain Ducasse", "Otto (ATM)".
_PARTS = ("(", ";", " / ", " - ", ", ", " • ", " | ", ": ")
_SHORTEST_PART = 3
# "&" and its words between two parts of a name; texts may write any of them.
_AND = re.compile(r"\s*[&+]\s*|\s(?:and|ja|och|et|und|e|y)\s", re.IGNORECASE)
_ROMAN_LETTERS = frozenset("ivxdlcm")


class Site(msgspec.Struct, frozen=True, gc=False):
    """Where something lies: the id of its road segment, place, cell or OSM object, and a point."""

    id: str
    lon: float
    lat: float


class Name:
    """A name of the city; a road and a place may share one.

    Attributes:
        text: As the data holds it.
        sites: One site of each kind of thing so named; the first by id.
        in_cells: For a road its segment in each cell.
        category_words: For places: words of their categories, canonical.
        joined: Whether a sign or word for "and" joins its parts.
        lead: Marks before its first word, such as "@ ".
        tail: Marks after its last word, such as ")" or ".".
    """

    __slots__ = ("category_words", "in_cells", "joined", "lead", "sites", "tail", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        gaps = split_words(text)[1]
        self.joined = _AND.search(text, 1, len(text) - 1) is not None
        self.lead, self.tail = gaps[0], gaps[-1]
        self.sites: dict[NameKind, Site] = {}
        self.in_cells: dict[str, Site] = {}
        self.category_words: frozenset[str] = frozenset()


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A name that some words of a text may be, and whether in full or short.

    Attributes:
        level: EXACT or SHORT.
        name: The name.
        alone: Whether it is EXACT only while the words may be no other name.
    """

    level: int
    name: Name
    alone: bool = False


class Found(msgspec.Struct, frozen=True, gc=False):
    """Some words of a text that name something, or seem to.

    Attributes:
        first: Number of the first word.
        end: Number of the word after the last.
        candidates: Names of the city they may be; none for an unknown name.
        how: How they were found.
    """

    first: int
    end: int
    candidates: list[Candidate]
    how: How

    def is_road(self) -> bool:
        """Tell whether all it may be are roads; an unknown name may be one."""
        return all("road" in one.name.sites for one in self.candidates)


# The longest run of words that is a name: the number of the word after it, and the names it may be,
# those in full first.
Match = tuple[int, list[Candidate]]


class Gazetteer:
    """All names of a city.

    Attributes:
        city: The city's own name.
        tree: The names word by word; what they may be stands under "".
    """

    def __init__(self, city: str, tables: WordTables) -> None:
        """Begin with the name of the city itself.

        Args:
            city: Its name in texts.
            tables: What makes two ways of writing one name.
        """
        self.city = city
        self._tables = tables
        self._names: dict[str, Name] = {}
        # A kind of place begins a name in small letters that the city does not have.
        kinds = tables.foreign_place_types | tables.shared_place_types
        self.tree: dict[str, Any] = {kind: {} for kind in sorted(kinds)}
        self.add(city, "city", Site("", 0.0, 0.0))

    def add(self, text: str, kind: NameKind, site: Site) -> Name:
        """Add a thing with a name; of things of one kind and name the first stays the example."""
        name = self._names.get(text)
        if name is None:
            name = Name(text)
            self._names[text] = name
            for words, level in written_forms(text, self._tables):
                alone = level == EXACT_ALONE
                self._plant(words, Candidate(EXACT if alone else level, name, alone))
        name.sites.setdefault(kind, site)
        return name

    def add_elsewhere(self, text: str, kind: NameKind, site: Site) -> None:
        """Add a name that no trip can pass, known in full and where nothing else is written so.

        No name of ordinary words or a mere type ("Yes", "Impasse"), and no short form:
        those are words of many a right text, such as "opera" for "Place de l'Opéra".
        """
        own = [word for word in _canonical(text, self._tables) if not self._tables.is_common(word)]
        if text in self._names or not is_telling(own, self._tables):
            return
        name = Name(text)
        name.sites[kind] = site
        self._names[text] = name
        for words, level in written_forms(text, self._tables):
            if level == EXACT and not self.spelled(words):
                self._plant(words, Candidate(level, name))

    def _plant(self, words: tuple[str, ...], candidate: Candidate) -> None:
        node = self.tree
        for word in words:
            node = node.setdefault(word, {})
        found: list[Candidate] = node.setdefault("", [])
        if all(one.name is not candidate.name for one in found):
            found.append(candidate)
            if len(found) > 1:
                found[:] = [Candidate(SHORT, one.name) if one.alone else one for one in found]
                found.sort(key=lambda one: one.level)

    def spelled(self, words: Iterable[str]) -> list[Candidate]:
        """Return the names that are written with just these canonical words; [] for none."""
        node: dict[str, Any] | None = self.tree
        for word in words:
            node = node.get(word) if node else None
        return node.get("", []) if node else []

    def roads(self) -> Iterator[str]:
        """Yield the names of roads."""
        return (text for text, name in self._names.items() if "road" in name.sites)

    @property
    def heads(self) -> frozenset[str]:
        """Return the canonical words a name may begin with."""
        return frozenset(self.tree)

    def __len__(self) -> int:
        return len(self._names)

    def of(self, text: str) -> Name:
        """Return the name that the data writes so.

        Raises:
            ContractError: The city's tables do not have it.
        """
        try:
            return self._names[text]
        except KeyError:
            raise ContractError(
                f"name {text!r}: expected a road, place or district of {self.city}, found none so"
                " named in its roads and cells; rebuild the trips with `dvc repro`"
            ) from None

    def check(self, texts: Set[str]) -> None:
        """Look that the data has all of some names.

        Raises:
            ContractError: The city's tables lack one of them.
        """
        if not texts <= self._names.keys():
            for text in texts:
                self.of(text)

    def longest(self, reading: Reading, first: int) -> Match | None:
        """Return the longest name that begins with a word of a text, if any does.

        A comma or bracket stands only within a name that has one there; "de" and the like may stand
        in the text though not in the name.
        """
        words = reading.words
        node = self.tree.get(words[first].canonical)
        if node is None:
            return None
        best: Match | None = None
        marks = ""
        here = first
        while True:
            end = here + 1
            payload = node.get("")
            if payload is not None:
                if marks:
                    payload = [c for c in payload if all(mark in c.name.text for mark in marks)]
                if payload:
                    best = end, payload
            here = end
            if here == len(words):
                return best
            following = node.get(words[here].canonical)
            while following is None and words[here].flags & CONNECTOR and here + 1 < len(words):
                marks += reading.breaks(here)
                here += 1
                following = node.get(words[here].canonical)
            if following is None:
                return best
            marks += reading.breaks(here)
            node = following


def written_forms(text: str, tables: WordTables) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the ways a text may write a name, as canonical words, each with its level.

    A name without letters or digits has none.
    """
    words = _canonical(text, tables)
    if not words:
        return
    seen: set[tuple[str, ...]] = set()
    for form, level in _forms(text, words, tables):
        if form and form not in seen:
            seen.add(form)
            yield form, level


def _forms(
    text: str, words: tuple[str, ...], tables: WordTables
) -> Iterator[tuple[tuple[str, ...], int]]:
    yield words, EXACT
    joined = _canonical(_without(text, ".'’‘´`"), tables)
    yield joined, EXACT
    if _AND.search(text):
        for joiner in (" and ", " "):
            yield _canonical(_AND.sub(joiner, text), tables), EXACT
    inner = words[:1] + _dropped(words[1:], tables.connectors)
    yield _if_telling(inner, tables), EXACT
    yield from _with_initials(words, tables)
    yield _if_telling(_dropped(words, tables.connectors), tables), SHORT
    for short in _short_forms(text, words, tables):
        yield _if_telling(short, tables), SHORT


def _with_initials(
    words: tuple[str, ...], tables: WordTables
) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield what is left of a person's road when first names are letters: "Avenue J.F. Kennedy".

    One letter may stand for many first names, so it is short. So are letters for the last name too
    ("Avenue JFK"), which only people that have a middle initial are known by.
    """
    types = tables.types["road"]
    first = next((n for n, word in enumerate(words) if word not in types), len(words))
    own = _dropped(words[first:], tables.connectors)
    lead = words[:first]
    *given, last = own or ("",)
    if not lead or not given or len(last) < _SHORTEST_PART or not all(map(str.isalpha, own)):
        return
    if tables.directions & set(own) or _ROMAN_LETTERS.issuperset(last):
        return
    initials = tuple(word[0] for word in given)
    level = EXACT_ALONE if len(given) > 1 else SHORT
    yield (*lead, *initials, last), level
    yield (*lead, "".join(initials), last), level
    yield (*lead, initials[0], last), SHORT
    yield (*initials, last), SHORT
    if len(given) > 1 and any(len(word) == 1 for word in given):
        letters = "".join((*initials, last[0]))
        yield (*lead, letters), SHORT
        yield (letters,), SHORT


def _canonical(text: str, tables: WordTables) -> tuple[str, ...]:
    return tuple(tables.canonical(word) for word in all_words(text) if fold(word))


def _without(text: str, marks: str) -> str:
    return text.translate(str.maketrans("", "", marks))


def _dropped(words: Iterable[str], some: frozenset[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in some)


def _short_forms(
    text: str, words: tuple[str, ...], tables: WordTables
) -> Iterator[tuple[str, ...]]:
    """Yield what people make of a long name: its first part, its own part, no middle initial."""
    for mark in _PARTS:
        for part in text.split(mark) if mark == ";" else text.split(mark)[:1]:
            short = _canonical(part, tables)
            if short != words:
                yield short
    types = tables.types["road"] | tables.types["place"] | tables.types["district"]
    droppable = types | tables.connectors
    first, end = 0, len(words)
    while first < end and words[first] in droppable:
        first += 1
    while end > first and words[end - 1] in droppable:
        end -= 1
    own = words[first:end]
    if own != words and not tables.directions & set(words[:first] + words[end:]):
        for start in range(1, first):
            if words[start] not in tables.connectors:
                yield words[start:]  # "Hotel St. George" is St. George before it is George
        yield own
        yield _dropped(own, tables.connectors)
    initials = {
        word for word in words[1:-1] if len(word) == 1 and word.isalpha() and word not in "ivxdl"
    }
    if initials:
        yield _dropped(words, frozenset(initials))


def _if_telling(words: tuple[str, ...], tables: WordTables) -> tuple[str, ...]:
    return words if is_telling(words, tables) else ()


def is_telling(words: Iterable[str], tables: WordTables) -> bool:
    """Tell whether canonical words still say what is named: more than types and numbers."""
    types = tables.types["road"] | tables.types["place"] | tables.types["district"]
    return any(
        word not in types | tables.connectors | tables.directions
        and (len(word) >= _SHORTEST_PART or not word.isascii())
        and not word.isdigit()
        for word in words
    )


def gazetteer_of(
    city: str,
    *,
    roads: pl.DataFrame,
    road_cells: pl.DataFrame,
    cells: pl.DataFrame,
    names: pl.DataFrame,
    tables: WordTables,
) -> Gazetteer:
    """Read the names of a city from its tables.

    What only `names` holds lies where no trip passes: see `Gazetteer.add_elsewhere`.

    Args:
        city: Its name in texts.
        roads: Rows of `road`: edge_id, name, u_lon, u_lat, v_lon, v_lat; degrees.
        road_cells: Rows of `road_cell`: edge_id, cell.
        cells: Rows of `cell`: cell, lon, lat, district, pois.
        names: Rows of `city_name`: name, kind, id, lon, lat.
        tables: What makes two ways of writing one name.
    """
    found = Gazetteer(city, tables)
    named = roads.filter(pl.col("name").is_not_null()).join(
        road_cells.select("edge_id", "cell"), on="edge_id", how="left"
    )
    segments = named.select(
        "name",
        "cell",
        "edge_id",
        lon=(pl.col("u_lon") + pl.col("v_lon")) / 2,
        lat=(pl.col("u_lat") + pl.col("v_lat")) / 2,
    ).sort("name", "edge_id")
    for text, cell, *site in segments.iter_rows():
        road = found.add(text, "road", Site(*site))
        road.in_cells.setdefault(cell, Site(*site))
    for text, *site in (
        cells.filter(pl.col("district").is_not_null())
        .select("district", "cell", "lon", "lat")
        .sort("district", "cell")
        .iter_rows()
    ):
        found.add(text, "district", Site(*site))
    for text, category, *site in _places(cells).iter_rows():
        place = found.add(text, "place", Site(*site))
        place.category_words |= frozenset(_canonical(category or "", tables))
    for text, kind, *site in names.sort("name").iter_rows():
        found.add_elsewhere(text, kind, Site(*site))
    return found


def _places(cells: pl.DataFrame) -> pl.DataFrame:
    from pipeline.language.places import named_places  # noqa: PLC0415 - brings geometry along

    return named_places(cells).select("name", "category", "id", "lon", "lat").sort("name", "id")
