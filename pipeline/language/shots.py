"""Seed examples, and which of them stand as shots in a trip's prompt.

    seeds = read_seeds(PROMPTS / "annotate/seeds")
    Shots(seeds).chosen("1626278", intents, n=2)  ->  [Seed("monaco-04", ...), Seed("porto-11")]

The rule: the first shot is of the trip's own persona and shares most scenarios with it; each
further one adds most of the trip's scenarios that none before it shows. Of equals the one that
shares most scenarios is better, then one of the trip's persona, then the one with fewest other
scenarios; a hash of trip and seed decides what is left. A seed made from the same trip is never
shown to it. The first stands last, next to the question. With the seeds there are, two shots show
every trip all its scenarios and its persona; a test goes through every plan there can be.
Paper A.3.6: few-shot examples.
"""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from pipeline.errors import PromptError
from pipeline.records import Intents, PlannedTrip

# Below the prompts of a task; a file for each city.
SEEDS = "seeds"


class Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The nine fields of an answer: two of planning, then the seven texts."""

    _intent_planning: str
    _retrieval_planning: str
    instruction_literal: str
    instruction_concise: str
    instruction_chatty: str
    retrieval_query_1: str
    retrieval_query_2: str
    retrieval_query_3: str
    trajectory_caption: str


class Seed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An example: a planned trip, and what was written on it.

    The whole record stands here, not only what a prompt shows of it: so quality control can look at
    an example as at any trip, and a prompt shows it as it shows the trip it asks about.
    """

    seed_id: str
    city: str
    trip: PlannedTrip
    answer: Written


def seed_files(folder: Path) -> list[Path]:
    """Return the files of seed examples in a folder, sorted by name.

    Raises:
        PromptError: There is none.
    """
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise PromptError(
            f"{_shown(folder)}: expected seed examples, <city>.jsonl, found none; restore them with"
            " `git checkout`"
        )
    return files


def read_seeds(folder: Path) -> tuple[Seed, ...]:
    """Read the seed examples, one JSON object a line, from the file of each city; sorted by id.

    Raises:
        PromptError: There is no file, a line is no seed or of another city than its file, or an id
            occurs twice; names the line.
    """
    seeds: dict[str, Seed] = {}
    for file in seed_files(folder):
        for number, line in enumerate(_lines(file), start=1):
            if not line.strip():
                continue
            where = f"{_shown(folder)}/{file.name} line {number}"
            seed = _seed(line, where)
            if seed.city != file.stem:
                raise PromptError(
                    f"{where}: expected a seed of {file.stem}, as the file's name says, found one"
                    f" of {seed.city}; move the line to {seed.city}.jsonl"
                )
            if seed.seed_id in seeds:
                raise PromptError(
                    f"{where}: expected each seed_id once, found {seed.seed_id} again; remove one"
                )
            seeds[seed.seed_id] = seed
    return tuple(seeds[seed_id] for seed_id in sorted(seeds))


def _lines(file: Path) -> list[str]:
    try:
        # Not splitlines: it also cuts at U+2028, which stands in a JSON string as it is.
        return file.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as fault:
        raise PromptError(
            f"{file}: expected seed examples, found: {fault}; restore it with `git checkout`"
        ) from fault


def _seed(line: str, where: str) -> Seed:
    try:
        return msgspec.json.decode(line, type=Seed)
    except msgspec.DecodeError as fault:
        raise PromptError(f"{where}: expected a seed, found: {fault}; mend the line") from fault


def _shown(folder: Path) -> str:
    """Return the path as a user names it: prompts/annotate/seeds."""
    return f"prompts/{folder.parent.name}/{folder.name}"


# What the choice of a shot rests on besides the hash: the trip's scenarios and persona, and the
# places (in the order of their ids) of the seeds chosen before.
_Asked = tuple[frozenset[str], str, tuple[int, ...]]


class Shots:
    """Chooses the shots of trips; what does not depend on the trip's id is worked out once.

    There are few plans (2,608 sets of scenarios with a persona) and millions of trips, so the seeds
    that are equally good for a plan are kept, and a trip only draws among them.
    """

    def __init__(self, seeds: Iterable[Seed]) -> None:
        """Keep the seeds; their order does not matter."""
        self._seeds = sorted(seeds, key=lambda seed: seed.seed_id)
        self._scenarios = [frozenset(seed.trip.intents.scenarios) for seed in self._seeds]
        self._of_trip: dict[str, list[int]] = {}
        for place, seed in enumerate(self._seeds):
            self._of_trip.setdefault(seed.trip.trip_id, []).append(place)
        self._best: dict[_Asked, list[int]] = {}

    def chosen(self, trip_id: str, intents: Intents, n: int) -> list[Seed]:
        """Return the shots of a trip, the first chosen last; fewer where there are no more.

        Args:
            trip_id: The trip; with a seed's id it decides among equals.
            intents: Its plan.
            n: How many are wanted.
        """
        own = self._of_trip.get(trip_id, [])
        wanted, persona = frozenset(intents.scenarios), intents.persona
        shots: list[int] = []
        for _ in range(min(n, len(self._seeds) - len(own))):
            asked = (wanted, persona, tuple(shots))
            if own:
                best = self._equals(asked, without=own)
            elif asked in self._best:
                best = self._best[asked]
            else:
                best = self._best[asked] = self._equals(asked)
            shots.append(min(best, key=lambda place: self._digest(trip_id, place)))
        return [self._seeds[place] for place in reversed(shots)]

    def _equals(self, asked: _Asked, *, without: Sequence[int] = ()) -> list[int]:
        """Return the places of the best seeds, which are equally good."""
        wanted, persona, shots = asked
        missing = wanted.difference(*(self._scenarios[place] for place in shots))

        def rank(place: int) -> tuple[bool, int, int, bool, int]:
            scenarios = self._scenarios[place]
            other_persona = self._seeds[place].trip.intents.persona != persona
            return (
                other_persona and not shots,
                -len(scenarios & missing),
                -len(scenarios & wanted),
                other_persona,
                len(scenarios - wanted),
            )

        left = [place for place in range(len(self._seeds)) if place not in {*shots, *without}]
        best = min(map(rank, left))
        return [place for place in left if rank(place) == best]

    def _digest(self, trip_id: str, place: int) -> bytes:
        text = f"{trip_id}\x1f{self._seeds[place].seed_id}"
        return hashlib.blake2b(text.encode(), digest_size=8).digest()
