"""Read what people scored: data/reviews/<city>/*.jsonl, as the review page exports them.

    {"trip_id": "1626278", "rater": "H1", "criterion": "caption_accuracy", "score": 4, ...}
    ->  a Rating, or a rejection: no_json, breaks_schema, broken_checksum (changed after the page
        wrote it), other_rubric, unknown_trip, other_texts (changed since), rated_twice

What is measured is `score`, the first one, given before any model's score was seen; a second
thought after that (`revised`) is counted and never measured. Every line is counted once. One faulty
line costs that line; only what nobody but a person can settle, a rater in two files, stops the run.
The checksum finds accidents in editors and on the way; it keeps nobody from changing a rating.
Paper: A.3.5.
"""

import hashlib
import json
import math
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec
import polars as pl

from pipeline.errors import SourceError
from pipeline.language.outcome import strict_json
from pipeline.language.vocabulary import vocabulary
from pipeline.records import CheckedTrip, Rating
from pipeline.schemas import describe_fault, fits

_REJECTION = ("item_id", "stage", "reason", "detail")


class Ratings(NamedTuple):
    """What the files of a city hold.

    Attributes:
        kept: Ratings that count, by rater, trip and criterion.
        rejected: Columns item_id (file:line), stage, reason, detail; one row for each other line.
    """

    kept: list[Rating]
    rejected: pl.DataFrame


class Fault(NamedTuple):
    """Why a line is no rating, or none that counts: a reason code, and words."""

    reason: str
    detail: str


class _Line(NamedTuple):
    place: str
    rating: Rating


def item_hash(trip: CheckedTrip) -> str:
    """Return the hash of what a rater is shown of a trip, 64 hexadecimal digits.

    The trip, its places, the persona in words and the seven texts: when one of them changes, older
    ratings no longer speak of it. The marks on names and claims are help beside that, and left out:
    a rule of quality control that changes undoes no rating.

    Raises:
        ParameterError: The trip was planned with a code that the vocabulary has no more.
    """
    words = vocabulary()
    words.expect_codes(
        trip.intents,
        f"checked trip {trip.trip_id}",
        remedy="make the texts anew, `dvc repro check@CITY`, or bring the code back",
    )
    persona = words.persona(trip.intents.persona)
    told = [persona.name, persona.voice]
    shown = [trip.trip_id, trip.meta, trip.phases, trip.places, told, trip.texts]
    return hashlib.sha256(msgspec.json.encode(shown)).hexdigest()


def checksum(rating: Rating) -> str:
    """Return the checksum the page gives a rating: CRC-32 of its other fields in hexadecimal.

    Seconds count in whole tenths, as numbers are written differently here and there.
    """
    one = rating
    scored = [one.trip_id, one.rater, one.criterion, one.score, one.revealed, one.revised]
    tenths = math.floor(10 * one.seconds + 0.5)
    fields = [*scored, one.comment, tenths, one.rubric_hash, one.item_hash]
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return f"{zlib.crc32(text.encode()):08x}"


def review_files(folder: Path) -> list[Path]:
    """Return a city's files of ratings by name; none where the folder is missing."""
    return sorted(folder.glob("*.jsonl"))


def rated_trips(folder: Path) -> set[str]:
    """Return the ids of the trips that a city's ratings speak of, whether they count or not."""
    found = (rating_of(text) for file in review_files(folder) for _, text in _lines_in(file))
    return {rating.trip_id for rating in found if isinstance(rating, Rating)}


def read_ratings(
    folder: Path, *, stage: str, hashes: Mapping[str, str], rubric_hash: str
) -> Ratings:
    """Read every rating of a city.

    Args:
        folder: data/reviews/<city>; may be missing or empty.
        stage: Name the rejections bear.
        hashes: Hash of what is shown of each trip now (`item_hash`), by trip id.
        rubric_hash: Hash of the rubric that counts now.

    Raises:
        SourceError: A rater stands in two files, or a file is no UTF-8.
    """
    rejected: list[tuple[str, str, str, str]] = []
    lines: list[_Line] = []
    files: dict[str, Path] = {}
    for file in review_files(folder):
        for place, text in _lines_in(file):
            rating = rating_of(text)
            fault = rating if isinstance(rating, Fault) else None
            if isinstance(rating, Rating):
                _check_one_file(rating.rater, file, files)
                fault = _outdated(rating, hashes, rubric_hash)
                if fault is None:
                    lines.append(_Line(place, rating))
            if fault is not None:
                rejected.append((place, stage, *fault))
    times = Counter(_key(line.rating) for line in lines)
    kept = [line.rating for line in lines if times[_key(line.rating)] == 1]
    for line in lines:
        if times[_key(line.rating)] > 1:
            detail = " ".join(_key(line.rating)) + ": expected one score; keep the one that counts"
            rejected.append((line.place, stage, "rated_twice", detail))
    frame = pl.DataFrame(rejected, schema=dict.fromkeys(_REJECTION, pl.String), orient="row")
    return Ratings(sorted(kept, key=_key), frame)


def ratings_frame(ratings: list[Rating]) -> pl.DataFrame:
    """Return ratings as rows of the schema `rating`, in the order given."""
    columns = {
        "trip_id": pl.String,
        "rater": pl.String,
        "criterion": pl.String,
        "score": pl.Int64,
        "revealed": pl.Boolean,
        "revised": pl.Int64,
        "comment": pl.String,
        "seconds": pl.Float64,
        "rubric_hash": pl.String,
        "item_hash": pl.String,
        "checksum": pl.String,
    }
    return pl.DataFrame([msgspec.structs.asdict(one) for one in ratings], schema=columns)


def _key(rating: Rating) -> tuple[str, str, str]:
    return rating.rater, rating.trip_id, rating.criterion


def lines_of(file: Path, *, shown: str) -> Iterator[tuple[str, str]]:
    """Yield "file:line" and the text of each line that is not empty.

    Args:
        file: A file of ratings.
        shown: What a message calls it.

    Raises:
        SourceError: It cannot be read, or is no UTF-8.
    """
    try:
        content = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise SourceError(
            f"{shown}: expected a file of ratings as the page exports it, found"
            f" {getattr(fault, 'strerror', fault)}; export it again"
        ) from fault
    for number, text in enumerate(content.split("\n"), start=1):
        if text.strip():
            yield f"{file.name}:{number}", text


def rating_of(text: str) -> Rating | Fault:
    """Return the rating on a line, or what is wrong with it."""
    try:
        record = strict_json(text)
    except (ValueError, RecursionError) as fault:
        return Fault("no_json", f"expected JSON, found {fault}")
    if not fits("rating", record):
        return Fault("breaks_schema", describe_fault("rating", record))
    rating = msgspec.convert(record, Rating, strict=False)  # 4.0 is a whole number in JSON
    if rating.revised == rating.score:
        return Fault("breaks_schema", f"$.revised: expected another score than {rating.score}")
    if rating.checksum != checksum(rating):
        return Fault(
            "broken_checksum",
            f"$.checksum: expected {checksum(rating)} by the other fields, found {rating.checksum}:"
            " the line was changed after the page wrote it; bring the file as it was exported",
        )
    return rating


def _lines_in(file: Path) -> Iterator[tuple[str, str]]:
    return lines_of(file, shown=_shown(file))


def _outdated(rating: Rating, hashes: Mapping[str, str], rubric_hash: str) -> Fault | None:
    """Return why a rating speaks of something else; None if it counts."""
    if rating.rubric_hash != rubric_hash:
        detail = f"expected the rubric {rubric_hash}, found {rating.rubric_hash}: its words changed"
        return Fault("other_rubric", detail)
    if rating.trip_id not in hashes:
        return Fault("unknown_trip", f"expected a checked trip, found {rating.trip_id!r}")
    if rating.item_hash != hashes[rating.trip_id]:
        detail = f"trip {rating.trip_id}: its texts or phases have changed since it was rated"
        return Fault("other_texts", detail)
    return None


def _check_one_file(rater: str, file: Path, files: dict[str, Path]) -> None:
    first = files.setdefault(rater, file)
    if first != file:
        raise SourceError(
            f"{_shown(file)}: expected each rater in one file, found {rater!r} in {first.name} as"
            " well; merge the files if it is the same person, or give one another code"
        )


def _shown(file: Path) -> str:
    return f"data/reviews/{file.parent.name}/{file.name}"
