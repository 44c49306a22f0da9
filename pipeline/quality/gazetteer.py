"""The names of a city: its roads, places and districts, how texts may write them, where they lie.

    names = gazetteer_of("Porto", roads=roads, road_cells=road_cells, cells=cells, names=names, ...)
    names.longest(reading, 2)        ->  (5, [Candidate(EXACT, Name(...))])
    names.of("Rua do Campo Alegre")  ->  Name("Rua do Campo Alegre", {"road"}, ...)

Names are kept word by word in a tree, so looking through a text takes one step per word, however
many names there are, and the longest name always wins. Each name is there in every form that is
soundly the same name: with short words long or short, without "de" and "of", without an apostrophe
(EXACT), and without its type, as in "Boavista" for "Avenida da Boavista" (SHORT), which only flags.
"""

from collections.abc import Iterable, Iterator, Set
from typing import Any, Literal

import msgspec
import polars as pl

from pipeline.errors import ContractError
from pipeline.quality.folding import all_words, fold, split_words
from pipeline.quality.reading import CONNECTOR, Reading
from pipeline.quality.tables import WordTables

NameKind = Literal["road", "place", "district", "city"]
EXACT, SHORT = 0, 1
# Marks that part a name from what is said of it: "Le Louis XV - Alain Ducasse", "Otto (ATM)".
_PARTS = ("(", ";", " / ", " - ", ", ", " • ", " | ", ": ")
_SHORTEST_PART = 3


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
        lead: Marks before its first word, such as "@ ".
        tail: Marks after its last word, such as ")" or ".".
    """

    __slots__ = ("category_words", "in_cells", "lead", "sites", "tail", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        gaps = split_words(text)[1]
        self.lead, self.tail = gaps[0], gaps[-1]
        self.sites: dict[NameKind, Site] = {}
        self.in_cells: dict[str, Site] = {}
        self.category_words: frozenset[str] = frozenset()


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A name that some words of a text may be, and whether in full or short."""

    level: int
    name: Name


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
        self.tree: dict[str, Any] = {}
        self.add(city, "city", Site("", 0.0, 0.0))

    def add(self, text: str, kind: NameKind, site: Site) -> Name:
        """Add a thing with a name; of things of one kind and name the first stays the example."""
        name = self._names.get(text)
        if name is None:
            name = Name(text)
            self._names[text] = name
            for words, level in written_forms(text, self._tables):
                self._plant(words, Candidate(level, name))
        name.sites.setdefault(kind, site)
        return name

    def add_elsewhere(self, text: str, kind: NameKind, site: Site) -> None:
        """Add a name that no trip can pass, known in full and where nothing else is written so.

        Not a mere type ("Impasse"), and no short form: those are words of many a right text, such
        as "opera" for "Place de l'Opéra".
        """
        if text in self._names or not _if_telling(_canonical(text, self._tables), self._tables):
            return
        name = Name(text)
        name.sites[kind] = site
        self._names[text] = name
        for words, level in written_forms(text, self._tables):
            if level == EXACT and not self._is_written(words):
                self._plant(words, Candidate(level, name))

    def _is_written(self, words: tuple[str, ...]) -> bool:
        node = self.tree
        for word in words:
            node = node.get(word, {})
        return "" in node

    def _plant(self, words: tuple[str, ...], candidate: Candidate) -> None:
        node = self.tree
        for word in words:
            node = node.setdefault(word, {})
        found: list[Candidate] = node.setdefault("", [])
        if all(one.name is not candidate.name for one in found):
            found.append(candidate)
            found.sort(key=lambda one: one.level)

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
    inner = words[:1] + _dropped(words[1:], tables.connectors)
    yield _if_telling(inner, tables), EXACT
    yield _if_telling(_dropped(words, tables.connectors), tables), SHORT
    for short in _short_forms(text, words, tables):
        yield _if_telling(short, tables), SHORT


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
        yield own
        yield _dropped(own, tables.connectors)
    initials = {
        word for word in words[1:-1] if len(word) == 1 and word.isalpha() and word not in "ivxdl"
    }
    if initials:
        yield _dropped(words, frozenset(initials))


def _if_telling(words: tuple[str, ...], tables: WordTables) -> tuple[str, ...]:
    """Return the words if they still tell what is named; () for a type or a number alone."""
    types = tables.types["road"] | tables.types["place"] | tables.types["district"]
    telling = [
        word
        for word in words
        if word not in types | tables.connectors | tables.directions
        and (len(word) >= _SHORTEST_PART or not word.isascii())
        and not word.isdigit()
    ]
    return words if telling else ()


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
