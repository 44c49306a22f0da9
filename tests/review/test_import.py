"""Ratings come home checked line by line; whatever is wrong, nothing is lost or half done."""

import fcntl
import json

import pytest
from msgspec.structs import replace

from pipeline.errors import ContractError, SourceError
from pipeline.quality.ratings import read_ratings
from pipeline.quality.rubric import CRITERIA, rubric
from pipeline.review.assignment import FILE, assignment_text
from pipeline.review.merge import ImportWish, import_files
from tests.quality.judged import sealed
from tests.review.trips import IDS, assignment_of, checked_trip, review_items, rows_of
from tests.show.project import CITY

PLAIN = ImportWish(update=False, set_aside=False, dry_run=False, all_rows=False)
ITEMS = review_items()
ASSIGNMENT = assignment_of(ITEMS)


@pytest.fixture
def root(tmp_path):
    put_assignment(tmp_path, ASSIGNMENT)
    return tmp_path


def put_assignment(root, assignment):
    folder = root / "data/reviews" / assignment.city
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(assignment_text(assignment), "utf-8")


def sent(root, rows, name="sent.jsonl"):
    """Write what a rater sent; rows may be texts of lines."""
    file = root / name
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    file.write_text("".join(line + "\n" for line in lines), "utf-8")
    return file


def bring(root, *files, **wish):
    return list(import_files(root, list(files), PLAIN._replace(**wish)))


def merged(root, rater="H1", city=CITY):
    file = root / "data/reviews" / city / f"{rater}.jsonl"
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def counts(lines, *, new=0, completed=0, replaced=0, there=0, outdated=0):
    return (
        f"{lines} lines: {new} new, {completed} completed, {replaced} replaced, {there} there"
        f" already, {outdated} outdated, 0 faulty"
    )


def state(root):
    files = sorted((root / "data").rglob("*"))
    return {str(file): file.read_bytes() for file in files if file.is_file()}


def refused(root, rows, words, **wish):
    """Import rows, expect one error with these words, and that no file has changed."""
    file, before = sent(root, rows), state(root)
    with pytest.raises(SourceError, match=words) as fault:
        bring(root, file, **wish)
    assert "nothing was merged" in str(fault.value)
    assert "\n" not in str(fault.value)
    assert state(root) == before


# ---- what goes well -----------------------------------------------------------------------------


def test_rows_come_home_sorted_whatever_their_order(root):
    rows = rows_of(ASSIGNMENT, "H1")
    told = bring(root, sent(root, rows[::-1]))
    assert merged(root) == rows
    assert told == [
        "50 lines: 50 new, 0 completed, 0 replaced, 0 there already, 0 outdated, 0 faulty",
        "tiny",
        "  H1  50 of 50 scores, 5 of 5 trips",
        "  H2  0 of 50 scores, 0 of 5 trips",
        f"      without all scores: {', '.join(ASSIGNMENT.raters[1].trip_ids)}",
        "  agreement: `dvc repro agree@tiny` (it counts what is there)",
        "wrote data/reviews/tiny/H1.jsonl",
    ]


def test_the_stage_that_compares_raters_reads_what_was_merged(root):
    bring(root, sent(root, rows_of(ASSIGNMENT, "H1") + rows_of(ASSIGNMENT, "H2", 5)))
    ratings = read_ratings(
        root / "data/reviews/tiny", stage="agree", hashes=ASSIGNMENT.hashes,
        rubric_hash=ASSIGNMENT.rubric_hash,
    )  # fmt: skip
    assert len(ratings.kept) == 100
    assert ratings.rejected.height == 0


def test_the_same_file_twice_and_two_files_that_agree_change_nothing(root):
    rows = rows_of(ASSIGNMENT, "H1")
    bring(root, sent(root, rows))
    before = state(root)
    later = [sealed(row, seconds=99.0) for row in rows]
    told = bring(root, sent(root, rows), sent(root, later, "again.jsonl"))
    assert (
        told[0]
        == "100 lines: 0 new, 0 completed, 0 replaced, 100 there already, 0 outdated, 0 faulty"
    )
    assert not any(line.startswith("wrote") for line in told)
    assert state(root) == before


def test_a_later_export_adds_what_is_new(root):
    rows = rows_of(ASSIGNMENT, "H1")
    bring(root, sent(root, rows[:13]))
    told = bring(root, sent(root, rows))
    assert (
        told[0]
        == "50 lines: 37 new, 0 completed, 0 replaced, 13 there already, 0 outdated, 0 faulty"
    )
    assert merged(root) == rows


def test_what_is_missing_is_counted_and_named(root):
    share = ASSIGNMENT.raters[0].trip_ids
    own = {share[0]: CRITERIA, share[2]: CRITERIA[:3]}
    rows = [
        row for row in rows_of(ASSIGNMENT, "H1") if row["criterion"] in own.get(row["trip_id"], ())
    ]
    told = bring(root, sent(root, rows))
    assert "  H1  13 of 50 scores, 1 of 5 trips, 1 begun" in told
    missing = [share[1], share[2], share[3], share[4]]
    assert f"      without all scores: {', '.join(missing)}" in told


def test_long_lists_of_missing_trips_are_cut_unless_asked_for(tmp_path):
    many = [ITEMS[0]._replace(trip=checked_trip(str(i))) for i in range(100, 120)]
    assignment = assignment_of(many, "H1")
    put_assignment(tmp_path, assignment)
    file = sent(tmp_path, rows_of(assignment, "H1")[:10])
    assert "and 14 more (--all)" in "\n".join(bring(tmp_path, file))
    assert all(
        one in "\n".join(bring(tmp_path, file, all_rows=True)) for one in map(str, range(101, 120))
    )


def test_a_dry_run_writes_nothing(root):
    before = state(root)
    told = bring(root, sent(root, rows_of(ASSIGNMENT, "H1")), dry_run=True)
    assert "  H1  50 of 50 scores, 5 of 5 trips" in told
    assert state(root) == before


def test_files_of_two_cities_go_each_to_their_own(root):
    other = [ITEMS[0]._replace(trip=checked_trip(str(i))) for i in (900, 901)]
    porto = replace(assignment_of(other), city="porto")
    put_assignment(root, porto)
    bring(root, sent(root, rows_of(porto, "H2") + rows_of(ASSIGNMENT, "H1")))
    assert merged(root, "H2", "porto") == rows_of(porto, "H2")
    assert merged(root, "H1") == rows_of(ASSIGNMENT, "H1")


def test_a_file_from_windows_reads_as_any_other(root):
    file = root / "sent.jsonl"
    rows = rows_of(ASSIGNMENT, "H1")
    file.write_bytes(("\ufeff" + "".join(json.dumps(row) + "\r\n" for row in rows)).encode())
    bring(root, file)
    assert merged(root) == rows


# ---- what stops an import -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"score": 6}, r"sent\.jsonl:8: \$\.score: 6 is greater than the maximum of 5"),
        ({"score": 0}, r"\$\.score: 0 is less than the minimum of 1"),
        ({"score": 3.5}, r"\$\.score: 3\.5 is not of type 'integer'"),
        ({"score": None}, r"\$\.score"),
        ({"criterion": "beauty"}, r"\$\.criterion: 'beauty' is not one of"),
        ({"mood": "good"}, "Additional properties"),
        (
            {"score": 5},
            r"sent\.jsonl:8: \$\.checksum: expected [0-9a-f]{8} by .*: the line was changed after",
        ),
        ({"rater": "H2"}, r"\$\.checksum: "),
        ({"comment": "fine"}, r"\$\.checksum: "),
    ],
)
def test_one_line_that_was_changed_stops_the_import_and_is_named(root, change, words):
    rows = rows_of(ASSIGNMENT, "H1")
    rows[7] |= change
    refused(root, rows, words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rater": "H7"}, "H7 is no rater of tiny, which has H1, H2"),
        ({"trip_id": "999"}, r"trip 999 stands in no assignment \(tiny\)"),
        ({"item_hash": "0" * 64}, "the texts of trip .* were others on that page"),
    ],
)
def test_one_line_about_something_else_stops_the_import_and_is_named(root, change, words):
    rows = rows_of(ASSIGNMENT, "H1")
    rows[7] = sealed(rows[7], **change)
    refused(root, rows, r"sent\.jsonl:8: " + words)


def test_ratings_by_another_rubric_than_that_of_today_stop_the_import(tmp_path):
    """The page, its assignment and the ratings agree; the rubric was edited since."""
    before = replace(ASSIGNMENT, rubric_hash="0" * 16)
    put_assignment(tmp_path, before)
    words = (
        rf"sent\.jsonl:1: scored by the rubric 0{{16}}, prompts/judge/rubric\.yaml is"
        rf" {rubric().hash} now: its words have changed since the page was written \(see"
        r" --set-aside\); 49 more"
    )
    refused(tmp_path, rows_of(before, "H1"), words)
    told = bring(tmp_path, sent(tmp_path, rows_of(before, "H1")), set_aside=True)
    assert told[0] == counts(50, outdated=50)
    assert len(merged(tmp_path, "set_aside/H1")) == 50


@pytest.mark.parametrize(
    "text", ["{", "[1]", "null", '{"score": 1, "score": 5}', "NaN", "plain words"]
)
def test_a_line_that_is_no_rating_stops_the_import(root, text):
    rows = [*rows_of(ASSIGNMENT, "H1"), text]
    refused(root, rows, r"sent\.jsonl:51: ")


def test_all_faults_are_counted_and_a_dry_run_lists_them(root):
    rows = rows_of(ASSIGNMENT, "H1")
    for number in (3, 5, 8):
        rows[number] |= {"score": 9}
    refused(root, rows, r"sent\.jsonl:4: .*; 2 more \(--dry-run lists all\)")
    told = bring(root, sent(root, rows), dry_run=True)
    assert [line.split(": ")[1] for line in told if line.startswith("would stop")] == [
        "sent.jsonl:4", "sent.jsonl:6", "sent.jsonl:9",
    ]  # fmt: skip


def test_two_scores_of_one_rater_name_both_lines(root):
    rows = rows_of(ASSIGNMENT, "H1")
    refused(
        root, [*rows, sealed(rows[0], score=1)],
        r"sent\.jsonl:51: H1 170 instructions_correctness is also in sent\.jsonl:1: 1 here, 4 t",
    )  # fmt: skip


def test_another_comment_is_another_rating(root):
    rows = rows_of(ASSIGNMENT, "H1")
    refused(root, [*rows, sealed(rows[0], comment="hm")], "is also in .*: another comment")


def test_another_score_than_the_one_merged_stops_the_import_unless_it_shall_replace_it(root):
    rows = rows_of(ASSIGNMENT, "H1")
    bring(root, sent(root, rows))
    later = [sealed(rows[0], score=1), *rows[1:]]
    refused(root, later, r"is also in data/reviews/tiny/H1\.jsonl:1: 1 here, 4 there; .*--update")
    told = bring(root, sent(root, later), update=True)
    assert (
        told[0]
        == "50 lines: 0 new, 0 completed, 1 replaced, 49 there already, 0 outdated, 0 faulty"
    )
    assert merged(root) == later
    aside = root / "data/reviews/tiny/set_aside/H1.jsonl"
    assert [json.loads(line) for line in aside.read_text("utf-8").splitlines()] == [rows[0]]


def test_outdated_ratings_can_be_set_aside_and_are_kept(root):
    rows = rows_of(ASSIGNMENT, "H1")
    old = sealed(rows[9], item_hash="0" * 64)
    for _ in range(2):
        told = bring(root, sent(root, [old, *rows[:9]]), set_aside=True)
    assert (
        told[0] == "10 lines: 0 new, 0 completed, 0 replaced, 9 there already, 1 outdated, 0 faulty"
    )
    assert merged(root) == rows[:9]
    aside = root / "data/reviews/tiny/set_aside/H1.jsonl"
    assert [json.loads(line) for line in aside.read_text("utf-8").splitlines()] == [old]


def test_a_trip_that_is_not_for_this_rater_stops_the_import(tmp_path):
    shares = [replace(ASSIGNMENT.raters[0], trip_ids=IDS[:2]), ASSIGNMENT.raters[1]]
    put_assignment(tmp_path, replace(ASSIGNMENT, raters=shares))
    refused(tmp_path, rows_of(ASSIGNMENT, "H1"), "trip 172 is not for H1 to rate")


def test_a_merged_file_changed_by_hand_is_left_alone(root):
    bring(root, sent(root, rows_of(ASSIGNMENT, "H1")))
    file = root / "data/reviews/tiny/H1.jsonl"
    file.write_text(file.read_text("utf-8").replace('"score":4', '"score":40', 1), "utf-8")
    before = state(root)
    with pytest.raises(ContractError, match=r"data/reviews/tiny/H1\.jsonl:1: .*40 is greater"):
        bring(root, sent(root, rows_of(ASSIGNMENT, "H1")))
    assert state(root) == before


def test_a_merged_score_changed_by_hand_within_the_scale_is_noticed(root):
    bring(root, sent(root, rows_of(ASSIGNMENT, "H1")))
    file = root / "data/reviews/tiny/H1.jsonl"
    file.write_text(file.read_text("utf-8").replace('"score":4', '"score":2', 1), "utf-8")
    with pytest.raises(ContractError, match=r"H1\.jsonl:1: .*\$\.checksum: .* back from git$"):
        bring(root, sent(root, rows_of(ASSIGNMENT, "H1")))


def test_without_an_assignment_the_next_command_is_named(tmp_path):
    with pytest.raises(SourceError, match="review export CITY"):
        bring(tmp_path, sent(tmp_path, []))


def test_a_missing_file_is_one_clear_error(root):
    with pytest.raises(SourceError, match=r"nobody\.jsonl: expected a file of ratings"):
        bring(root, root / "nobody.jsonl")


def test_two_imports_at_once_do_not_mix(root):
    with (root / "data/reviews/tiny" / FILE).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(SourceError, match="expected no other import"):
            bring(root, sent(root, rows_of(ASSIGNMENT, "H1")))
    bring(root, sent(root, rows_of(ASSIGNMENT, "H1")))


def test_a_fault_while_writing_leaves_all_files_as_they_were(root, monkeypatch):
    bring(root, sent(root, rows_of(ASSIGNMENT, "H1")[:5]))
    before = state(root)
    (root / "data/reviews/tiny/.H2.jsonl.new").mkdir()
    with pytest.raises(OSError, match="directory"):
        bring(root, sent(root, rows_of(ASSIGNMENT, "H1") + rows_of(ASSIGNMENT, "H2")))
    assert state(root) == before
    assert list((root / "data/reviews/tiny/.H2.jsonl.new").iterdir()) == []


# ---- the models' scores were shown --------------------------------------------------------------


def test_what_followed_the_first_scores_is_added_to_them(root):
    rows = rows_of(ASSIGNMENT, "H1")
    bring(root, sent(root, rows))
    later = [sealed(row, revealed=True) for row in rows[:10]] + rows[10:]
    later[3] = sealed(later[3], revised=2)
    assert bring(root, sent(root, later))[0] == counts(50, completed=10, there=40)
    assert merged(root) == later
    assert bring(root, sent(root, rows))[0] == counts(50, there=50)  # an older file takes nothing
    assert merged(root) == later


def test_no_update_replaces_a_score_that_was_given_blind_by_one_that_was_not(root):
    rows = rows_of(ASSIGNMENT, "H1", revealed=True)
    bring(root, sent(root, rows))
    words = r"1 here, 4 there; the models' scores have been shown since, so the first score stays"
    refused(root, [sealed(rows[0], score=1)], words, update=True)
    refused(root, [sealed(rows[0], score=1, revealed=False)], words, update=True)
    refused(root, [sealed(rows[0], comment="hm", revealed=False)], "the first", update=True)


def test_a_second_thought_gives_way_to_a_third_only_by_update(root):
    rows = rows_of(ASSIGNMENT, "H1", revealed=True, revised=3)
    bring(root, sent(root, rows))
    later = [sealed(rows[0], revised=2), *rows[1:]]
    refused(root, later, r"another second thought; import with --update to replace it")
    assert bring(root, sent(root, later), update=True)[0] == counts(50, replaced=1, there=49)
    assert merged(root) == later


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"revised": 3}, r"\$\.revealed: True was expected"),
        ({"revealed": True, "revised": 4}, r"\$\.revised: expected another score than 4"),
        ({"revealed": True, "revised": 6}, r"\$\.revised: 6 is greater"),
        ({"revealed": None}, r"\$\.revealed: None is not of type 'boolean'"),
    ],
)
def test_a_second_thought_that_cannot_be_is_refused(root, change, words):
    rows = rows_of(ASSIGNMENT, "H1")
    rows[7] |= change
    refused(root, rows, r"sent\.jsonl:8: " + words)


def test_a_line_that_does_not_say_whether_scores_were_shown_is_refused(root):
    rows = rows_of(ASSIGNMENT, "H1")
    del rows[2]["revealed"]
    refused(root, rows, r"sent\.jsonl:3: \$: 'revealed' is a required property")


@pytest.mark.parametrize("rows", [[], [""]])
def test_an_empty_file_is_refused_by_name(root, rows):
    refused(root, rows, r"sent\.jsonl: expected ratings, found an empty file")
