"""Ratings by people: each line counts once, as a rating or with the reason it does not."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import SourceError
from pipeline.language.vocabulary import VOCABULARY_FILE, read_vocabulary, vocabulary
from pipeline.quality import ratings
from pipeline.quality.ratings import (
    item_hash,
    rated_trips,
    rating_of,
    ratings_frame,
    read_ratings,
)
from pipeline.quality.rubric import rubric
from pipeline.records import Rating
from pipeline.schemas import arrow_schema
from tests.language.trips import planned_trip
from tests.quality.judged import HASH, TEXTS, checked_trip, rating, sealed

RUBRIC = rubric().hash
HASHES = {"t1": HASH, "t2": HASH}


def write(folder: Path, name: str, *lines: dict | str) -> None:
    """Write a file of ratings; a line that is text stands as it is."""
    folder.mkdir(exist_ok=True)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / name).write_text("\n".join(texts) + "\n", "utf-8")


def read(folder: Path):
    return read_ratings(folder, stage="agree", hashes=HASHES, rubric_hash=RUBRIC)


def reasons(folder: Path) -> list[tuple[str, str]]:
    return read(folder).rejected.select("item_id", "reason").rows()


def test_ratings_come_sorted_by_rater_trip_and_criterion(tmp_path):
    write(tmp_path, "H2.jsonl", rating("t1", "H2", "caption_accuracy", 5))
    unsorted = [("t2", "caption_accuracy", 4), ("t1", "queries_accuracy", 3),
                ("t1", "caption_accuracy", 2)]  # fmt: skip
    write(
        tmp_path, "H1.jsonl", *(rating(trip, "H1", code, score) for trip, code, score in unsorted)
    )
    kept, rejected = read(tmp_path)
    assert [(one.rater, one.trip_id, one.criterion, one.score) for one in kept] == [
        ("H1", "t1", "caption_accuracy", 2), ("H1", "t1", "queries_accuracy", 3),
        ("H1", "t2", "caption_accuracy", 4), ("H2", "t1", "caption_accuracy", 5),
    ]  # fmt: skip
    assert rejected.height == 0


def test_without_a_folder_there_are_no_ratings(tmp_path):
    assert read(tmp_path / "nowhere").kept == []
    assert rated_trips(tmp_path / "nowhere") == set()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"score": 6}, "breaks_schema"),
        ({"score": 0}, "breaks_schema"),
        ({"score": 4.5}, "breaks_schema"),
        ({"score": "4"}, "breaks_schema"),
        ({"score": None}, "breaks_schema"),
        ({"criterion": "caption_beauty"}, "breaks_schema"),
        ({"rater": "Jane Doe"}, "breaks_schema"),
        ({"seconds": -1}, "breaks_schema"),
        ({"extra": 1}, "breaks_schema"),
        ({"rubric_hash": "1"}, "breaks_schema"),
        ({"checksum": ""}, "breaks_schema"),
        ({"score": 5}, "broken_checksum"),
        ({"trip_id": "t1"}, "broken_checksum"),
        ({"comment": "fine"}, "broken_checksum"),
        ({"seconds": 30.1}, "broken_checksum"),
        ({"checksum": "00000000"}, "broken_checksum"),
    ],
)
def test_a_line_that_was_changed_costs_itself_alone(tmp_path, changes, reason):
    good = rating("t1", "H1", "caption_accuracy", 4)
    write(tmp_path, "H1.jsonl", good, rating("t2", "H1", "caption_accuracy", 4) | changes)
    assert [one.trip_id for one in read(tmp_path).kept] == ["t1"]
    assert reasons(tmp_path) == [("H1.jsonl:2", reason)]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"rubric_hash": "0" * 16}, "other_rubric"),
        ({"trip_id": "t9"}, "unknown_trip"),
        ({"item_hash": "00" * 32}, "other_texts"),
    ],
)
def test_a_line_about_something_else_costs_itself_alone(tmp_path, changes, reason):
    good = rating("t1", "H1", "caption_accuracy", 4)
    other = {"trip_id": "t2"} | changes
    write(tmp_path, "H1.jsonl", good, sealed(good, **other))
    assert [one.trip_id for one in read(tmp_path).kept] == ["t1"]
    assert reasons(tmp_path) == [("H1.jsonl:2", reason)]


def test_a_line_says_which_checksum_its_fields_have(tmp_path):
    row = rating("t1", "H1", "caption_accuracy", 4)
    write(tmp_path, "H1.jsonl", row | {"score": 5})
    expected = sealed(row, score=5)["checksum"]
    detail = read(tmp_path).rejected["detail"][0]
    assert detail == (
        f"$.checksum: expected {expected} by the other fields, found {row['checksum']}: the line"
        " was changed after the page wrote it; bring the file as it was exported"
    )


@given(st.floats(0, 1e6))
def test_a_number_written_in_another_way_keeps_its_checksum(tenths):
    seconds = round(tenths, 1)
    row = rating("t1", "H1", "caption_accuracy", 4, seconds=seconds)
    text = json.dumps(row).replace(f'"seconds": {seconds}', f'"seconds": {seconds:.3f}')
    assert isinstance(rating_of(text), Rating)


@pytest.mark.parametrize("text", ["{", "Sure!", '{"score": NaN}', '{"a": 1, "a": 2}', "[" * 3000])
def test_a_line_that_is_no_json_costs_itself_alone(tmp_path, text):
    write(tmp_path, "H1.jsonl", text, rating("t1", "H1", "caption_accuracy", 4))
    assert reasons(tmp_path) == [("H1.jsonl:1", "no_json")]
    assert len(read(tmp_path).kept) == 1


def test_a_score_given_twice_counts_neither_time(tmp_path):
    given = [("caption_accuracy", 4), ("queries_accuracy", 4), ("caption_accuracy", 2)]
    write(tmp_path, "H1.jsonl", *(rating("t1", "H1", code, score) for code, score in given))
    assert [one.criterion for one in read(tmp_path).kept] == ["queries_accuracy"]
    assert reasons(tmp_path) == [("H1.jsonl:1", "rated_twice"), ("H1.jsonl:3", "rated_twice")]


def test_a_rater_in_two_files_is_for_a_person_to_settle(tmp_path):
    write(tmp_path, "a.jsonl", rating("t1", "H1", "caption_accuracy", 4))
    write(tmp_path, "b.jsonl", rating("t2", "H1", "caption_accuracy", 4))
    with pytest.raises(SourceError, match=r"b\.jsonl: .* found 'H1' in a\.jsonl as well"):
        read(tmp_path)


def test_a_file_that_is_no_utf_8_is_named(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"\xff\xfe{")
    with pytest.raises(SourceError, match=r"a\.jsonl: expected a file of ratings as"):
        read(tmp_path)


def test_marks_that_editors_leave_are_no_fault(tmp_path):
    line = json.dumps(rating("t1", "H1", "caption_accuracy", 4))
    (tmp_path / "a.jsonl").write_bytes(f"\ufeff{line}\r\n\r\n".encode())
    assert len(read(tmp_path).kept) == 1
    assert reasons(tmp_path) == []


def test_rated_trips_are_those_any_line_speaks_of(tmp_path):
    write(tmp_path, "a.jsonl", rating("t1", "H1", "caption_accuracy", 4),
          rating("t9", "H1", "caption_accuracy", 4), "no JSON")  # fmt: skip
    assert rated_trips(tmp_path) == {"t1", "t9"}


def test_the_hash_knows_all_a_rater_is_shown_and_nothing_else():
    trip = checked_trip("t1")
    known = item_hash(trip)
    assert known == item_hash(checked_trip("t1", writer=("vllm", "other")))
    others = [
        checked_trip("t2"),
        checked_trip("t1", texts=msgspec.structs.replace(TEXTS, instruction_concise="Home.")),
        checked_trip("t1", planned_trip(persona="anxious")),
    ]
    assert known not in {item_hash(one) for one in others}


def test_the_hash_knows_the_speaker_in_words(tmp_path, monkeypatch):
    trip = checked_trip("t1")
    voice = vocabulary().persona(trip.intents.persona).voice
    text = VOCABULARY_FILE.read_text("utf-8")
    known = item_hash(trip)
    first = " ".join(voice.split()[:3])
    assert text.count(first) == 1
    edited = tmp_path / "vocabulary.yaml"
    edited.write_text(text.replace(first, f"Hardly {first}"), "utf-8")
    monkeypatch.setattr(ratings, "vocabulary", lambda: read_vocabulary(edited))
    assert item_hash(trip) != known
    edited.write_text("# a remark\n" + text, "utf-8")
    assert item_hash(trip) == known


def test_ratings_make_rows_of_their_schema(tmp_path):
    write(tmp_path, "a.jsonl", rating("t1", "H1", "caption_accuracy", 4))
    kept = read(tmp_path).kept
    assert ratings_frame(kept).to_arrow().cast(arrow_schema("rating")).to_pylist() == [
        rating("t1", "H1", "caption_accuracy", 4)
    ]
    assert ratings_frame([]).columns == arrow_schema("rating").names
