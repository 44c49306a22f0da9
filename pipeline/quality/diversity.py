"""Stage 4: no phrase, opener or template may fill a city; each has a quota, the rest is found.

    survey = Survey(settings, seed=7)
    survey.add(inspected, readings)         # each trip
    excess = survey.excess(passing)         # among the trips that nothing else refuses
    excess.findings("1626278", policies)    ->  [Finding(opener, "trips from": 41 of at most 30)]

Texts of one style (literal, concise, chatty, query, caption) are compared with names masked, else
different streets hide one template. Four quotas: the first two words (`opener`), the whole masked
text (`template`), near copies of longer texts (`near_duplicate`: MinHash over runs of three masked
words, in bands), and exact copies of short ones (`exact_copy`), where likeness means nothing.

Who stays within a quota is decided by a hash of the trip's id, so neither the order of trips nor
their shards matter. Kept per text: six numbers. Paper: 3.3 (lexical diversity enforcement).
"""

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Sequence, Set
from math import ceil
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta

from pipeline.quality.inspection import FIELDS, Inspected
from pipeline.quality.reading import NUMBERS_FROM, Reading
from pipeline.quality.rules import STAGE_OF, Policies, Rule
from pipeline.records import Finding
from pipeline.seeds import rng_for

STYLES = ("literal", "concise", "chatty", "query", "caption")
_STYLE_OF = {
    field: next(number for number, style in enumerate(STYLES) if style in field) for field in FIELDS
}
_OPENER_WORDS, _RUN_WORDS = 2, 3
# Texts whose words are kept until they are brought to their numbers.
_TEXTS_AT_A_TIME = 7 * 512
# Codes that take the place of a name and of a number.
_NAME, _NUMBER = 1, 2
_Numbers = npt.NDArray[np.uint64]
_MIX = np.uint64(0x9E3779B97F4A7C15)
_QUOTAS = (Rule.EXACT_COPY, Rule.TEMPLATE, Rule.OPENER, Rule.NEAR_DUPLICATE)


Share = Annotated[float, Meta(ge=0, le=1)]


class Shares(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A share of each style's texts."""

    literal: Share
    concise: Share
    chatty: Share
    query: Share
    caption: Share


class Quota(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many texts of a style may be alike.

    Attributes:
        least: At least so many, however few texts there are.
        shares: Beyond that, so large a share of the style's texts.
    """

    least: Annotated[int, Meta(ge=1)]
    shares: Shares

    def of(self, style: str, texts: int) -> int:
        """Return the quota of a style for its number of texts."""
        share: float = getattr(self.shares, style)
        return max(self.least, ceil(share * texts))


class DiversitySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Key `diversity` of section `check` in params.yaml.

    Attributes:
        short_words: A text of up to so many words is short.
        bands: Bands of the near-copy search.
        rows: Minima in each band; (1 / bands) ^ (1 / rows) is about the likeness that is found.
        exact_copy: Short texts that are the same, word for word.
        template: Texts that are the same but for names and numbers.
        opener: Texts with the same first two words.
        near_duplicate: Longer texts that share a band.
    """

    short_words: Annotated[int, Meta(ge=0, le=100)]
    bands: Annotated[int, Meta(ge=1, le=32)]
    rows: Annotated[int, Meta(ge=1, le=32)]
    exact_copy: Quota
    template: Quota
    opener: Quota
    near_duplicate: Quota

    def quota(self, rule: Rule) -> Quota:
        """Return the quota of a rule of this stage."""
        found: Quota = getattr(self, rule.value)
        return found


class Survey:
    """Collects what is compared of a city's texts."""

    def __init__(self, settings: DiversitySettings, *, seed: int) -> None:
        """Begin with no texts.

        Args:
            settings: The quotas.
            seed: The data set's seed.
        """
        self._settings, self._seed = settings, seed
        count = settings.bands * settings.rows
        rng = rng_for(seed, "check", "minhash")
        self._factors: _Numbers = rng.integers(0, 2**63, count, np.uint64) * np.uint64(
            2
        ) + np.uint64(1)
        self._trip_ids: list[str] = []
        self._parts: list[dict[str, Any]] = []
        self._codes, self._lengths = array("Q"), array("q")
        self._names = array("q")  # words from, to, from, to ..., of all texts end to end

    def add(self, trip: Inspected, readings: Sequence[Reading]) -> None:
        """Add the texts of a trip.

        Args:
            trip: What was found in them.
            readings: Their words; used, not kept.
        """
        codes, names = self._codes, self._names
        mentions = iter(trip.mentions)
        mention = next(mentions, None)
        for field, reading in zip(FIELDS, readings, strict=True):
            starts, done, offset = reading.starts, 0, len(codes)
            count = len(reading.words)
            codes.fromlist([word.code for word in reading.words])
            self._lengths.append(count)
            while mention is not None and mention.field == field:
                first = bisect_left(starts, mention.start, done)
                done = bisect_left(starts, mention.end, first, count)
                names.append(offset + first)
                names.append(offset + done)
                mention = next(mentions, None)
        self._trip_ids.append(trip.trip_id)
        if len(self._lengths) >= _TEXTS_AT_A_TIME:
            self._sign()

    def _sign(self) -> None:
        """Bring the texts added since the last time to their numbers."""
        own = _Words(np.array(self._codes, np.uint64), np.array(self._lengths, np.int64))
        trips = len(self._lengths) // len(FIELDS)
        styles = np.tile(np.array([_STYLE_OF[field] for field in FIELDS]), trips)
        self._parts.append(self._signatures(own, _masked(own, self._names), styles))
        self._codes, self._lengths, self._names = array("Q"), array("q"), array("q")

    def _signatures(self, own: "_Words", masked: "_Words", styles: Any) -> dict[str, Any]:
        bands = masked.runs(_RUN_WORDS).minima(self._factors)
        return {
            "style": styles,
            "short": own.lengths <= self._settings.short_words,
            Rule.EXACT_COPY: own.hashes(),
            Rule.TEMPLATE: masked.hashes(),
            Rule.OPENER: masked.first(_OPENER_WORDS).hashes(),
            Rule.NEAR_DUPLICATE: _folded(
                bands.reshape(len(styles), self._settings.bands, self._settings.rows)
            ),
        }

    def excess(self, passing: Set[str]) -> "Excess":
        """Return which texts lie beyond which quota.

        Args:
            passing: The trips that are compared; the others are refused for another reason.
        """
        found = _Excess()
        trip_ids = [one for one in self._trip_ids if one in passing]
        if not trip_ids:
            return Excess({}, [])
        self._sign()
        compared = np.repeat(np.array([one in passing for one in self._trip_ids]), len(FIELDS))
        columns = {
            name: np.concatenate([part[name] for part in self._parts])[compared]
            for name in self._parts[0]
        }
        trips = np.repeat(_ranks(self._seed, trip_ids), len(FIELDS))
        ranks = trips * np.uint64(len(FIELDS)) + np.tile(
            np.arange(len(FIELDS), dtype=np.uint64), len(trip_ids)
        )
        figures = []
        for number, style in enumerate(STYLES):
            of_style = columns["style"] == number
            figure: dict[str, Any] = {"style": style, "texts": int(of_style.sum())}
            for rule in _QUOTAS:
                concerned = of_style
                if rule is Rule.EXACT_COPY:
                    concerned = of_style & columns["short"]
                elif rule is Rule.NEAR_DUPLICATE:
                    concerned = of_style & ~columns["short"]
                quota = self._settings.quota(rule).of(style, figure["texts"])
                keys = columns[rule][concerned]
                keys = keys if keys.ndim > 1 else keys[:, np.newaxis]
                places = np.flatnonzero(concerned)
                most, beyond = _beyond(keys, ranks[concerned], quota)
                for place, alike in zip(places[beyond > 0], beyond[beyond > 0], strict=True):
                    found.add(trip_ids[place // len(FIELDS)], int(place) % len(FIELDS), rule,
                              int(alike), quota)  # fmt: skip
                figure[rule.value] = {
                    "quota": quota,
                    "most_alike": most,
                    "beyond": int((beyond > 0).sum()),
                    "different": len(np.unique(keys[:, 0])),
                }
            figures.append(figure)
        return Excess(found.by_trip, figures)


class _Excess:
    """Gathers what lies beyond quotas."""

    def __init__(self) -> None:
        self.by_trip: dict[str, list[tuple[int, Rule, int, int]]] = {}

    def add(self, trip_id: str, field: int, rule: Rule, alike: int, quota: int) -> None:
        self.by_trip.setdefault(trip_id, []).append((field, rule, alike, quota))


class Excess(NamedTuple):
    """What lies beyond the quotas of a city.

    Attributes:
        by_trip: Of trips with such texts: text, rule, how many are alike, the quota.
        figures: Per style: texts, and per rule the quota, the most alike, the number beyond it and
            how many differ.
    """

    by_trip: dict[str, list[tuple[int, Rule, int, int]]]
    figures: list[dict[str, Any]]

    def findings(self, found: Inspected, policies: Policies) -> list[Finding]:
        """Return the findings on a trip's texts; a finding spans the words that are alike."""
        findings = []
        for field, rule, alike, quota in self.by_trip.get(found.trip_id, ()):
            name = FIELDS[field]
            text = getattr(found.texts, name)
            detail = f"{alike} texts of its style are alike, at most {quota} may be"
            findings.append(
                Finding(name, STAGE_OF[rule], rule.value, 0, len(text), detail,
                        policies.action(rule))
            )  # fmt: skip
        return findings


class _Words:
    """The words of several texts as numbers, end to end, and how many each text has."""

    def __init__(self, codes: Any, lengths: Any) -> None:
        self.codes, self.lengths = codes, lengths
        self.starts = np.cumsum(lengths) - lengths
        self.places = np.arange(len(codes)) - np.repeat(self.starts, lengths)

    def hashes(self) -> _Numbers:
        """Return one number for each text, the same for the same words in the same order."""
        with np.errstate(over="ignore"):
            places = (self.places.astype(np.uint64) + np.uint64(1)) * _MIX
            return _sums(_scrambled(self.codes + places), self.starts, self.lengths)

    def first(self, count: int) -> "_Words":
        """Return the first words of each text."""
        return _Words(self.codes[self.places < count], np.minimum(self.lengths, count))

    def runs(self, length: int) -> "_Words":
        """Return runs of neighbouring words as words; a shorter text is one run."""
        left = np.repeat(self.lengths, self.lengths) - self.places
        padded = np.concatenate([self.codes, np.zeros(length, np.uint64)])
        value = np.zeros(len(self.codes), np.uint64)
        with np.errstate(over="ignore"):
            for step in range(length):
                following = padded[step : step + len(value)] * (left > step)
                value = _scrambled(value * _MIX + following + np.uint64(step + 1))
        kept = (left >= length) | (self.places == 0)
        return _Words(
            value[kept], np.maximum(self.lengths - length + 1, np.minimum(self.lengths, 1))
        )

    def minima(self, factors: _Numbers) -> Any:
        """Return the least value of each text's words under each of some hashes; 0 without any."""
        some = self.lengths > 0
        least = np.zeros((len(self.lengths), len(factors)), np.uint64)
        if some.any():
            with np.errstate(over="ignore"):
                for number, factor in enumerate(factors):
                    # Runs are spread over all bits already, so a product is hash enough.
                    values = self.codes * factor
                    least[some, number] = np.minimum.reduceat(values, self.starts[some])
        return least


def _masked(own: _Words, names: Sequence[int]) -> _Words:
    """Return texts with each name and each number as one word of its own kind.

    Args:
        own: The words of the texts.
        names: Names as words from, to, from, to ..., of all texts end to end, in order.
    """
    codes = np.where(own.codes >= NUMBERS_FROM, np.uint64(_NUMBER), own.codes)
    kept = np.ones(len(codes), bool)
    if names:
        first, end = np.array(names, np.int64).reshape(-1, 2).T
        inside = np.zeros(len(codes) + 1, np.int64)
        np.add.at(inside, first, 1)
        np.add.at(inside, end, -1)
        kept = np.cumsum(inside)[:-1] == 0
        kept[first] = True
        codes[first] = _NAME
    return _Words(
        codes[kept], _sums(kept.astype(np.uint64), own.starts, own.lengths).astype(np.int64)
    )


def _scrambled(values: _Numbers) -> _Numbers:
    """Return values spread over all 64 bits (splitmix64); equal ones stay equal."""
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return values ^ (values >> np.uint64(31))


def _sums(values: _Numbers, starts: Any, lengths: Any) -> _Numbers:
    """Return the sum of each text's values, modulo 2^64; 0 without any."""
    sums = np.zeros(len(lengths), np.uint64)
    some = lengths > 0
    if some.any():
        sums[some] = np.add.reduceat(values, starts[some])
    return sums


def _folded(bands: Any) -> _Numbers:
    """Return one number for each band of each text."""
    value = np.zeros(bands.shape[:2], np.uint64)
    with np.errstate(over="ignore"):
        for row in range(bands.shape[2]):
            value = _scrambled(value * _MIX + bands[:, :, row])
    return value


def _ranks(seed: int, trip_ids: Sequence[str]) -> _Numbers:
    """Return each trip's place in line, by its id alone, as a number with room for its texts."""
    digests = (
        hashlib.blake2b(f"{seed}\x1fdiversity\x1f{one}".encode(), digest_size=7).digest()
        for one in trip_ids
    )
    return np.array([int.from_bytes(digest, "big") for digest in digests], np.uint64)


def _beyond(keys: Any, ranks: _Numbers, quota: int) -> tuple[int, Any]:
    """Return the most texts alike, and for each text beyond the quota how many are like it.

    Args:
        keys: One row per text; texts with one equal entry in a column are alike.
        ranks: Place in line of each text; within a group the first `quota` stay.
        quota: How many may stay.
    """
    texts = len(ranks)
    beyond = np.zeros(texts, np.int64)
    most = 0
    for column in range(keys.shape[1] if texts else 0):
        order = np.lexsort((ranks, keys[:, column]))
        sorted_keys = keys[order, column]
        new = np.r_[True, sorted_keys[1:] != sorted_keys[:-1]]
        starts = np.flatnonzero(new)
        sizes = np.diff(np.r_[starts, texts])
        place = np.arange(texts) - np.repeat(starts, sizes)
        alike = np.repeat(sizes, sizes)
        most = max(most, int(sizes.max()))
        beyond[order] = np.maximum(beyond[order], np.where(place >= quota, alike, 0))
    return most, beyond
