"""Seed examples, and which of them stand as shots in a trip's prompt.

    seeds = read_seeds(PROMPTS / "annotate/seeds.jsonl")
    chosen_shots(seeds, "1626278", intents, n=2)  ->  [Seed("monaco-04", ...), Seed("helsinki-11")]

The rule: seeds that share most scenarios with the trip, among these those with fewest others,
then those of the same persona, then by a hash of trip and seed. A seed made from the same trip is
never shown to it. The best comes last, next to the question (paper A.3.6: few-shot examples).
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import msgspec

from pipeline.errors import PromptError
from pipeline.language.shown import ShownTrip
from pipeline.records import Intents


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
    """An example: a trip as a prompt shows it, what was to be said of it, and what was written."""

    seed_id: str
    city: str
    trip: ShownTrip
    intents: Intents
    answer: Written


def read_seeds(file: Path) -> tuple[Seed, ...]:
    """Read the seed examples, one JSON object a line, sorted by id.

    Raises:
        PromptError: The file is missing, a line is no seed, or an id stands twice; names the line.
    """
    try:
        # Not splitlines: it also cuts at U+2028, which stands in a JSON string as it is.
        lines = file.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as fault:
        raise PromptError(
            f"{file}: expected seed examples, found: {fault}; restore it with `git checkout`"
        ) from fault
    seeds: dict[str, Seed] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        seed = _seed(line, f"prompts/{file.parent.name}/{file.name} line {number}")
        if seed.seed_id in seeds:
            raise PromptError(
                f"prompts/{file.parent.name}/{file.name} line {number}: expected each seed_id once,"
                f" found {seed.seed_id} again; remove one"
            )
        seeds[seed.seed_id] = seed
    return tuple(seeds[seed_id] for seed_id in sorted(seeds))


def _seed(line: str, where: str) -> Seed:
    try:
        return msgspec.json.decode(line, type=Seed)
    except msgspec.DecodeError as fault:
        raise PromptError(f"{where}: expected a seed, found: {fault}; mend the line") from fault


def chosen_shots(seeds: Iterable[Seed], trip_id: str, intents: Intents, n: int) -> list[Seed]:
    """Return the shots of a trip, the best last; fewer than `n` only where there are no more."""
    wanted = frozenset(intents.scenarios)

    def rank(seed: Seed) -> tuple[int, int, bool, bytes]:
        told = frozenset(seed.intents.scenarios)
        digest = hashlib.blake2b(f"{trip_id}\x1f{seed.seed_id}".encode(), digest_size=8).digest()
        other_persona = seed.intents.persona != intents.persona
        return -len(told & wanted), len(told - wanted), other_persona, digest

    others = [seed for seed in seeds if seed.trip.traj_id != trip_id] if n else []
    return sorted(others, key=rank)[:n][::-1]
