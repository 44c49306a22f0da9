"""A flipped bit in the ledger changes no answer in silence: it is found, named, and asked again."""

import json
import random
import sqlite3
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
from msgspec.structs import replace

from pipeline.errors import SourceError
from pipeline.language.asking import ask
from pipeline.language.checksums import Damaged
from pipeline.language.ledger import Ledger
from pipeline.language.ledger_command import export_answers, gc, stats, verify
from pipeline.language.outcome import answers_of
from pipeline.language.requests import Answer
from tests.language.engines import RuleEngine, answer_to, requests_about, sound

REQUESTS = requests_about(60)
ANSWERS = [
    replace(sound(r), text=json.dumps({"say": f"{r.item_id} is calm. ".ljust(3000, "x")}))
    for r in REQUESTS
]
BY_KEY = {answer.key: answer for answer in ANSWERS}


@pytest.fixture
def folder(tmp_path) -> Path:
    with Ledger(tmp_path / "store") as ledger:
        ledger.record(ANSWERS)
    return tmp_path / "store"


def flip(folder: Path, place: int, bit: int = 0) -> None:
    with (folder / "ledger.sqlite").open("r+b") as raw:
        raw.seek(place)
        (byte,) = raw.read(1)
        raw.seek(place)
        raw.write(bytes([byte ^ (1 << bit)]))


def place_of(folder: Path, words: str) -> int:
    content = (folder / "ledger.sqlite").read_bytes()
    assert content.count(words.encode()) == 1
    return content.index(words.encode())


def exported(folder: Path) -> tuple[list[Answer], list[str]]:
    says = list(export_answers(folder, folder / "out.parquet", task=None, model=None))
    return answers_of(pl.read_parquet(folder / "out.parquet")), says


# ---- one bit ------------------------------------------------------------------------------------


def test_a_flipped_bit_in_a_text_is_one_line_that_names_key_and_item(folder):
    flip(folder, place_of(folder, "item-000007 is calm"))
    with Ledger(folder) as ledger, pytest.raises(SourceError) as fault:
        ledger.answers([request.key for request in REQUESTS])
    line = str(fault.value)
    assert f"key {REQUESTS[7].key}, item item-000007, attempt 1: expected the answer" in line
    assert "\n" not in line
    assert "ledger gc --damaged" in line


@pytest.mark.parametrize("column", ["status", "reason", "item_id", "attempt", "model", "task"])
def test_a_changed_column_is_found_without_reading_the_text(folder, column):
    db = sqlite3.connect(folder / "ledger.sqlite")
    value = 2 if column == "attempt" else "malformed"
    db.execute(f"UPDATE answers SET {column} = ? WHERE key = ?", (value, REQUESTS[7].key))  # noqa: S608
    db.commit()
    db.close()
    with Ledger(folder) as ledger, pytest.raises(SourceError, match=REQUESTS[7].key):
        ledger.states([REQUESTS[7].key])


def test_a_run_asks_again_what_gc_has_dropped_and_gets_the_same(folder, capsys):
    for words in ("item-000007 is calm", "item-000031 is calm"):
        flip(folder, place_of(folder, words))
    lost = {REQUESTS[7].key, REQUESTS[31].key}
    with pytest.raises(SourceError, match="found 2 damaged answers and 58 sound ones"):
        list(verify(folder))
    kept, says = exported(folder)
    assert {answer.key for answer in kept} == BY_KEY.keys() - lost
    assert says[-1].startswith("left out: 2 damaged answers; run `python -m pipeline ledger gc")
    assert {f"damaged: key {key}, item {BY_KEY[key].item_id}, attempt 1" for key in lost} <= {*says}
    trial = list(gc(folder, keep=None, failed=False, damaged=True, dry_run=True))
    assert trial[-1] == "would forget 2 damaged answers"
    says = list(gc(folder, keep=None, failed=False, damaged=True, dry_run=False))
    assert says[2] == "forgot 2 damaged answers"
    assert list(verify(folder)) == [
        f"{folder / 'ledger.sqlite'}: 58 answers, all as they were recorded"
    ]
    engine = RuleEngine(lambda request: answer_to(request, BY_KEY[request.key].text))
    with Ledger(folder) as ledger:
        summary = ask(
            lambda: iter(REQUESTS), total=60, ledger=ledger, engine=lambda: engine, attempts=3,
            most_failed_share=0.0, desc="again",
        )  # fmt: skip
        assert (summary.reused, summary.ok) == (58, 2)
        texts = {key: some[0].text for key, some in ledger.answers(BY_KEY).items()}
    assert texts == {key: answer.text for key, answer in BY_KEY.items()}


def test_stats_say_that_something_is_damaged(folder, capsys):
    db = sqlite3.connect(folder / "ledger.sqlite")
    db.execute("UPDATE answers SET status = 'pk' WHERE key = ?", (REQUESTS[7].key,))
    db.commit()
    db.close()
    assert len(list(stats(folder, as_json=False))) == 3
    assert "1 damaged answer; `python -m pipeline ledger verify`" in capsys.readouterr().err


# ---- any byte, any page -------------------------------------------------------------------------


def left_of(folder: Path) -> tuple[list[Answer], list[Damaged]]:
    damaged: list[Damaged] = []
    with Ledger(folder, to_read=True) as ledger:
        return [one for some in ledger.stored(damaged=damaged) for one in some], damaged


@pytest.mark.parametrize("seed", range(40))
def test_flips_anywhere_change_no_answer_in_silence(folder, seed):
    rng = random.Random(seed)
    size = (folder / "ledger.sqlite").stat().st_size
    for _ in range(rng.choice([1, 14])):
        flip(folder, rng.randrange(16384, size), rng.randrange(8))
    with suppress(SourceError), Ledger(folder) as ledger:
        found = ledger.answers(BY_KEY)
        assert {key: some[0] for key, some in found.items() if some}.items() <= BY_KEY.items()
    left, damaged = left_of(folder)
    assert {answer.key: answer for answer in left}.items() <= BY_KEY.items()
    assert len(left) + len(damaged) >= 60  # what is lost is named
    kept, _ = exported(folder)
    assert kept == sorted(left, key=lambda answer: answer.key)
    with Ledger(folder) as ledger:
        assert ledger.mend(dry_run=False) == damaged
    assert left_of(folder) == (left, [])
    with Ledger(folder) as ledger:
        ledger.record(ANSWERS)
        assert {key: some[0] for key, some in ledger.answers(BY_KEY).items()} == BY_KEY


def test_lost_pages_take_their_own_rows_with_them_and_are_named_by_the_index(folder):
    with (folder / "ledger.sqlite").open("r+b") as raw:
        for page in (9, 10):
            raw.seek(page * 16384)
            raw.write(b"\xff" * 16384)
    left, damaged = left_of(folder)
    assert 0 < len(damaged) <= 12
    assert {one.key for one in damaged} | {one.key for one in left} == BY_KEY.keys()
    with pytest.raises(SourceError, match="damaged answers and"):
        list(verify(folder))


def test_what_runs_measured_outlives_the_mending(folder):
    with Ledger(folder) as ledger:
        ledger.remember_model("toy", "1", fingerprint="aaaa")
    flip(folder, place_of(folder, "item-000007 is calm"))
    with Ledger(folder) as ledger:
        (damaged,) = ledger.mend(dry_run=False)
        assert damaged.item_id == "item-000007"
        assert ledger._one("SELECT count(*) FROM fingerprints WHERE model = ?", ("toy",)) == 1
    assert [file.name for file in folder.iterdir() if file.is_dir()] == []
