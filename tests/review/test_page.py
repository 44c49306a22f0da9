"""The page works in a real browser: a person rates by keyboard and mouse and sends a file back."""

import json
import re

import numpy as np
import pytest

from pipeline.quality.ratings import Fault, rating_of
from pipeline.quality.rubric import CRITERIA
from pipeline.records import Rating
from pipeline.review.assignment import assignment_text, by_hash
from pipeline.review.merge import ImportWish, import_files
from pipeline.review.page import write_page
from pipeline.schemas import check_record
from tests.review.conftest import SETTING
from tests.review.hands import (
    FIRST,
    ORDER,
    count,
    export,
    fresh,
    go_to,
    middle,
    opened,
    rate,
    text_of,
)
from tests.review.trips import ARABIC, HINTED, IDS, TEXTS, assignment_of, rows_of
from tests.show.project import NASTY, PLACE

# ---- what it is made of -------------------------------------------------------------------------


def test_no_name_or_text_can_become_markup_and_nothing_points_outside(page):
    text = page.read_text("utf-8")
    assert NASTY not in text
    assert PLACE not in text
    assert "Tiny <b>town" not in text
    assert text.count("</script>") == 2
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


def test_nothing_tells_who_wrote_the_texts(page):
    assert "secret-writer" not in page.read_text("utf-8")


def test_the_same_trips_give_the_same_bytes(page, assignment, items, ground, tmp_path):
    write_page(tmp_path / "again.html", assignment, items, ground, SETTING)
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()


# ---- what a rater sees --------------------------------------------------------------------------


def test_it_asks_who_rates_and_gives_each_rater_an_own_order(chromium, page):
    fresh(chromium, page, name=None)
    assert chromium.run("document.getElementById('who').open")
    names = "[...document.querySelectorAll('.person b')].map((b) => b.textContent)"
    assert chromium.run(names) == ["H1", "H2"]
    chromium.run("document.querySelectorAll('.person')[1].click()")
    assert chromium.run("order") == by_hash(IDS, "H2") != ORDER


def test_the_texts_stand_as_they_are_and_run_nothing(browser):
    for task, fields in enumerate((list(TEXTS)[:3], list(TEXTS)[3:6], list(TEXTS)[6:])):
        browser.run(f"document.querySelectorAll('#tasks button')[{task}].click()")
        for field in fields:
            assert text_of(browser, f"[data-field={field}]") == TEXTS[field]
    assert browser.run("window.hacked === undefined")
    assert count(browser, "#work i, #record b, #work script, #record script") == 0


def test_a_text_from_right_to_left_is_set_so(browser):
    browser.run("document.querySelectorAll('#tasks button')[2].click()")
    shown = "document.querySelector('[data-field=trajectory_caption]')"
    assert browser.run(f"{shown}.textContent") == ARABIC
    assert browser.run(f"getComputedStyle({shown}).direction") == "rtl"


def test_names_and_claims_are_marked_where_they_stand_even_after_an_emoji(browser):
    marked = browser.run(
        "[...document.querySelectorAll('[data-field=instruction_literal] .evidence')]"
        ".map((e) => [e.textContent, e.className])"
    )
    assert marked == [
        ["Itäkatu", "evidence name grounded"],
        ["heading east", "evidence claim supported"],
        [PLACE, "evidence name grounded"],
        ["Kaukotie", "evidence name off_route"],
        ["Zorgstraat", "evidence name invented"],
    ]


def test_verdicts_differ_by_more_than_colour(browser):
    styles = browser.run(
        "['grounded', 'off_route', 'invented', 'supported', 'contradicted'].map((verdict) =>"
        " getComputedStyle(document.querySelector('#texts .' + verdict)).textDecorationStyle)"
    )
    assert styles == ["solid", "dashed", "wavy", "dotted", "double"]


def test_the_record_tells_times_headings_roads_surroundings_and_places(browser):
    first, _, last = browser.run(
        "[...document.querySelectorAll('#record .phase')].map((b) => b.innerText)"
    )
    assert "03:00:58" in first
    assert "E · 40 sec · 222 m · start" in first
    assert "GNN: WATERFRONT · Commercial: <dining> & shopping" in first
    assert NASTY in last
    assert f"{PLACE} (coffee shop)" in last


def test_the_path_is_drawn_in_as_many_colours_as_phases_and_its_ends_are_named(browser):
    colours = browser.run(
        "[...document.querySelectorAll('#map .leg')].map((leg) => getComputedStyle(leg).stroke)"
    )
    assert len(set(colours)) == 3
    pills = "[...document.querySelectorAll('.pill')].map((p) => p.textContent)"
    assert browser.run(pills) == ["start", "end"]
    assert count(browser, "#map .arrow") > 0
    assert count(browser, "#map .cell") == len(browser.run("trip.cells"))


def test_clicking_a_name_leads_to_it_on_the_map(browser):
    browser.click(*middle(browser, "[data-field=instruction_literal] .off_route"))
    assert text_of(browser, "#evidence") == "Kaukotie: a road of this city, but not of this trip."
    assert count(browser, ".pin.off_route") == 1
    assert count(browser, ".found-road") == 1
    pin, end = browser.run("[toScreen(found.x, found.y), toScreen(trip.ends[1].x, trip.ends[1].y)]")
    size = browser.run("[view.width, view.height]")
    for place in (pin, end):
        assert all(0 < here < room for here, room in zip(place, size, strict=True))


def test_clicking_a_name_of_the_trip_picks_its_phase(browser):
    browser.click(*middle(browser, "[data-field=instruction_literal] .evidence:nth-of-type(3)"))
    picked = "[...document.querySelectorAll('.phase[aria-pressed=true]')].map((b) => b.dataset.key)"
    assert browser.run(picked) == ["0:2"]
    assert count(browser, "#map .leg.picked") == 1
    browser.press("Escape")
    assert browser.run(picked) == []
    assert count(browser, ".pin") == 0


def test_clicking_a_claim_picks_the_phase_that_settles_it(browser):
    browser.click(*middle(browser, "#texts .supported"))
    assert text_of(browser, "#evidence") == "The record agrees: E in phase 1."
    assert browser.run("picked") == "0:1"


def test_an_invented_name_and_a_claim_say_so_without_moving_the_map(browser):
    before = browser.run("[view.scale, view.x, view.y]")
    browser.click(*middle(browser, "#texts .invented"))
    assert text_of(browser, "#evidence").startswith("Zorgstraat: no road, place or district")
    browser.click(*middle(browser, "#texts .contradicted"))
    assert text_of(browser, "#evidence") == "The record says otherwise: 3 AM."
    assert browser.run("[view.scale, view.x, view.y]") == before


def test_the_rubric_is_in_view_with_what_each_score_means(browser):
    for code in CRITERIA:
        criterion = SETTING.rubric.criterion(code)
        browser.run(f"goToCriterion('{code}')")
        assert text_of(browser, "#open h3") == criterion.name
        assert text_of(browser, "#open .question") == criterion.question
        marks = browser.run(
            "[...document.querySelectorAll('.marks-list button')].map((b) => b.textContent)"
        )
        assert marks == [f"{score}{words}" for score, words in criterion.marks]


# ---- what a rater does --------------------------------------------------------------------------


def test_keys_give_scores_and_lead_through_all_ten(browser):
    rate(browser, (5, 4, 3, 2))
    assert text_of(browser, "#tasks [aria-current]") == "Retrieval queries0/3"
    rate(browser, (1, 2, 3, 4, 5, 4))
    own = browser.run(f"CODES.map((code) => given('{FIRST}', code).score)")
    assert own == [5, 4, 3, 2, 1, 2, 3, 4, 5, 4]
    assert text_of(browser, "#done-words") == "1 of 5 trips"
    browser.press("Enter")
    assert browser.run("kept.at.trip") == ORDER[1]


def test_arrows_go_back_and_a_new_key_replaces_the_score(browser):
    rate(browser, (5,))
    browser.press("ArrowUp")
    rate(browser, (2,))
    assert browser.run(f"given('{FIRST}', CODES[0]).score") == 2
    browser.press("n")
    assert browser.run("kept.at.trip") == ORDER[1]
    browser.press("ArrowLeft")
    assert browser.run("kept.at.trip") == FIRST
    assert text_of(browser, "#open h3") == SETTING.rubric.criterion(CRITERIA[1]).name


def test_a_comment_takes_digits_as_text_and_is_kept(browser):
    browser.press("c")
    browser.type("4 of 5 are 'true' <b>")
    browser.press("Enter")
    rate(browser, (4,))
    assert browser.run(f"given('{FIRST}', CODES[0]).comment") == "4 of 5 are 'true' <b>"
    assert browser.run(f"given('{FIRST}', CODES[0]).score") == 4
    assert browser.run(f"given('{FIRST}', CODES[1]).score") is None


def test_a_score_can_be_given_by_mouse(browser):
    browser.click(*middle(browser, ".marks-list [data-score='2']"))
    assert browser.run(f"given('{FIRST}', CODES[0]).score") == 2
    browser.click(*middle(browser, f".closed[data-criterion={CRITERIA[0]}]"))
    assert (
        browser.run("document.querySelector('[aria-pressed=true][data-score]').dataset.score")
        == "2"
    )


def test_everything_is_there_again_when_the_page_is_opened_again(browser, page):
    rate(browser, (5, 4, 3))
    opened(browser, page)
    assert text_of(browser, "#rater") == "H1"
    assert browser.run("kept.at.trip") == FIRST
    assert browser.run(f"scoresOf('{FIRST}')") == 3
    assert count(browser, "#rail .begun") == 1


def test_raters_do_not_see_each_others_scores(browser):
    rate(browser, (5,))
    browser.run("begin('H2')")
    assert browser.run("rowsOf()") == []
    browser.run("begin('H1')")
    assert len(browser.run("rowsOf()")) == 1


def test_models_scores_are_shown_last_and_ones_first_scores_stay(browser):
    go_to(browser, HINTED)
    assert "judge-one" not in browser.run("document.body.innerText")
    rate(browser, [3] * 9)
    assert count(browser, "#reveal") == 0
    rate(browser, [3])
    assert "judge-one" not in browser.run("document.body.innerText")
    browser.click(*middle(browser, "#reveal"))
    assert text_of(browser, "#open .models") == "vllm judge-one 2vllm judge-two 4"
    assert "judge-two says <why>" in browser.run("document.body.innerText")
    assert {row["revised"] for row in browser.run("rowsOf()")} == {None}
    assert {row["revealed"] for row in browser.run("rowsOf()")} == {True}
    code = browser.run("kept.at.criterion")
    rate(browser, (5,))
    assert browser.run(f"CODES.map((code) => given('{HINTED}', code).score)") == [3] * 10
    assert [row["revised"] for row in browser.run("rowsOf()") if row["criterion"] == code] == [5]
    pressed = "document.querySelector('[data-score][aria-pressed=true]').dataset.score"
    assert browser.run(pressed) == "5"
    assert text_of(browser, "#open .first") == " (your first score)"
    browser.press("ArrowUp")
    assert text_of(browser, f".closed[data-criterion={code}] .revised") == "now 5"
    browser.press("ArrowDown")
    rate(browser, (3,))
    assert {row["revised"] for row in browser.run("rowsOf()")} == {None}


def test_a_second_thought_is_exported_beside_the_first_and_comes_back(browser, page, tmp_path):
    go_to(browser, HINTED)
    rate(browser, [3] * 10)
    browser.click(*middle(browser, "#reveal"))
    rate(browser, (4,))
    rows = export(browser, tmp_path)
    for row in rows:
        check_record("rating", row, where="export")
    assert sorted(row["revised"] or 0 for row in rows) == [0] * 9 + [4]
    fresh(browser, page)
    browser.choose("#file", tmp_path / "tiny-H1.jsonl")
    browser.wait_for("document.getElementById('note').open")
    assert browser.run("rowsOf()") == rows


def test_before_anything_is_scored_there_is_nothing_to_export(browser):
    browser.click(*middle(browser, "#export"))
    assert text_of(browser, "#note-title") == "Nothing to export"
    assert text_of(browser, "#kept") == "Kept here · not exported yet"


def test_time_counts_while_somebody_works(browser):
    start = browser.run("workOn(kept.at.trip).seconds")
    browser.run("lastMove = performance.now(), lastTick = performance.now(), 0")
    browser.run("tick(performance.now() + 1500)")
    assert browser.run("workOn(kept.at.trip).seconds") - start == pytest.approx(1.5, abs=0.2)
    browser.run("lastMove = performance.now() - 61000, tick(performance.now() + 3000)")
    assert browser.run("workOn(kept.at.trip).seconds") - start == pytest.approx(1.5, abs=0.2)


# ---- out and in ---------------------------------------------------------------------------------


def test_what_is_exported_keeps_the_schema_and_says_what_was_rated(browser, assignment, tmp_path):
    rate(browser, (5, 4))
    browser.press("c")
    browser.type('a "quoted" wörd 😀')
    browser.press("Enter")
    rate(browser, (3,))
    rows = export(browser, tmp_path)
    for row in rows:
        check_record("rating", row, where="export")
    assert [(row["criterion"], row["score"], row["comment"]) for row in rows] == [
        (CRITERIA[0], 5, ""),
        (CRITERIA[1], 4, ""),
        (CRITERIA[2], 3, 'a "quoted" wörd 😀'),
    ]
    assert {row["item_hash"] for row in rows} == {assignment.hashes[FIRST]}
    assert {(row["rater"], row["trip_id"], row["rubric_hash"]) for row in rows} == {
        ("H1", FIRST, SETTING.rubric.hash)
    }
    assert text_of(browser, "#kept") == "Kept here · all exported"


@pytest.mark.parametrize(
    "comment", ["", 'a "quoted" wörd 😀\\', "tab\t, line\n, \x01 and \x7f", "/</\u2028"]
)
def test_the_page_gives_each_line_the_checksum_that_an_import_expects(browser, comment):
    rate(browser, (5, 4))
    code = "CODES[0]"
    browser.run(f"change('{FIRST}', {code}, {{comment: {json.dumps(comment)}, seconds: 0.35}})")
    rows = browser.run("rowsOf()")
    assert [row["comment"] for row in rows] == [comment, ""]
    for row in rows:
        assert isinstance(rating_of(json.dumps(row)), Rating)
        assert isinstance(rating_of(json.dumps(row | {"score": 1})), Fault)


def test_what_was_pressed_is_what_is_merged(browser, assignment, tmp_path):
    pressed = {trip_id: [1 + (i * k) % 5 for i in range(10)] for k, trip_id in enumerate(ORDER, 1)}
    for trip_id in ORDER:
        assert browser.run("kept.at.trip") == trip_id
        rate(browser, pressed[trip_id])
        browser.press("Enter")
    assert text_of(browser, "#done-words") == "5 of 5 trips"
    export(browser, tmp_path)
    folder = tmp_path / "data/reviews/tiny"
    folder.mkdir(parents=True)
    (folder / "assignment.json").write_text(assignment_text(assignment), "utf-8")
    wish = ImportWish(update=False, set_aside=False, dry_run=False, all_rows=False)
    told = list(import_files(tmp_path, [tmp_path / "tiny-H1.jsonl"], wish))
    assert "  H1  50 of 50 scores, 5 of 5 trips" in told
    merged = [json.loads(line) for line in (folder / "H1.jsonl").read_text("utf-8").splitlines()]
    scores = {(row["trip_id"], row["criterion"]): row["score"] for row in merged}
    assert scores == {
        (trip_id, code): score
        for trip_id, own in pressed.items()
        for code, score in zip(CRITERIA, own, strict=True)
    }
    assert merged == browser.run("rowsOf()")


def test_an_export_brings_the_work_to_another_machine(browser, page, tmp_path):
    rate(browser, [4] * 10)
    rows = export(browser, tmp_path)
    fresh(browser, page)
    assert browser.run("rowsOf()") == []
    browser.choose("#file", tmp_path / "tiny-H1.jsonl")
    browser.wait_for("document.getElementById('note').open")
    assert browser.run("rowsOf()") == rows
    assert text_of(browser, "#done-words") == "1 of 5 trips"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rater": "H2"}, "it is by H2, and you are H1"),
        ({"score": 6}, "the score is 6"),
        ({"revealed": None}, "does not say whether the models' scores were shown"),
        ({"revised": 2}, "the second thought is 2"),
        ({"rubric_hash": "0" * 16}, "it is by the rubric 0000000000000000, this page by"),
        ({"item_hash": "0" * 64}, "were others then"),
        ({"trip_id": "999"}, "not on this page"),
        ({"score": 3}, "it was changed after it was exported"),
        ({"comment": "fine"}, "it was changed after it was exported"),
    ],
)
def test_a_wrong_file_is_not_loaded_and_the_page_says_why(
    browser, assignment, tmp_path, change, words
):
    rows = rows_of(assignment, "H1")
    rows[3] |= change
    file = tmp_path / "wrong.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    browser.choose("#file", file)
    browser.wait_for("document.getElementById('note').open")
    assert "Line 4" in text_of(browser, "#note")
    assert words in text_of(browser, "#note")
    assert browser.run("rowsOf()") == []


def test_scores_that_differ_are_asked_about(browser, assignment, tmp_path):
    rate(browser, (5,))
    file = tmp_path / "other.jsonl"
    rows = rows_of(assignment, "H1", score=2)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    browser.choose("#file", file)
    browser.wait_for("document.getElementById('note').open")
    assert text_of(browser, "#note-title") == "Some scores differ"
    browser.run("document.querySelector('#note .row button').click()")
    assert browser.run(f"given('{FIRST}', CODES[0]).score") == 5
    assert len(browser.run("rowsOf()")) == 50


def test_no_file_replaces_a_first_score_once_the_models_scores_were_shown(
    browser, assignment, tmp_path
):
    go_to(browser, HINTED)
    rate(browser, [3] * 10)
    browser.click(*middle(browser, "#reveal"))
    file = tmp_path / "other.jsonl"
    rows = [row for row in rows_of(assignment, "H1", score=2) if row["trip_id"] == HINTED]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    browser.choose("#file", file)
    browser.wait_for("document.getElementById('note').open")
    browser.run("document.querySelectorAll('#note .row button')[1].click()")  # those of the file
    assert browser.run(f"CODES.map((code) => given('{HINTED}', code).score)") == [3] * 10


def test_a_browser_without_memory_warns_and_still_exports(browser, page, tmp_path):
    handle = browser.before_pages(
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error('no'); }})"
    )
    try:
        opened(browser, page)
        browser.run("document.querySelector('.person').click()")
        assert browser.run("!document.getElementById('warning').hidden")
        rate(browser, (5,))
        leaves = "dispatchEvent(new Event('beforeunload', {cancelable: true}))"
        assert not browser.run(leaves)
        assert [row["score"] for row in export(browser, tmp_path)] == [5]
        assert browser.run(leaves)
    finally:
        browser.no_longer_before_pages(handle)


def test_once_all_are_rated_no_way_to_an_open_trip_is_offered(browser):
    on = "[...document.querySelectorAll('#whole-item button')].map((b) => b.textContent)"
    for trip_id in ORDER[1:]:
        go_to(browser, trip_id)
        rate(browser, [4] * 10)
    assert "To the first open tripEnter" in browser.run(on)
    browser.press("Enter")
    assert browser.run("kept.at.trip") == FIRST
    rate(browser, [4] * 10)
    assert "Next tripEnter" in browser.run(on)
    assert "All 5 trips are rated. Export your scores" in text_of(browser, "#whole-item")
    go_to(browser, ORDER[-1])
    assert not any(words.startswith(("To the", "Next")) for words in browser.run(on))
    browser.press("Enter")
    assert browser.run("kept.at.trip") == ORDER[-1]


def test_what_is_scored_in_another_window_shows_here_too(browser):
    rate(browser, (5,))
    other = {"scores": {CRITERIA[0]: {"score": 2, "comment": "", "seconds": 1}}, "seconds": 1}
    browser.run(
        f"dispatchEvent(new StorageEvent('storage', {{key: keyOf('H1 {ORDER[1]}'),"
        f" newValue: JSON.stringify({json.dumps(other | {'revealed': False})})}}))"
    )
    assert browser.run(f"[scoresOf('{FIRST}'), given('{ORDER[1]}', CODES[0]).score]") == [1, 2]
    assert count(browser, "#rail .begun") == 2


# ---- for everybody ------------------------------------------------------------------------------


def test_the_tab_key_reaches_the_names_before_the_scores(browser):
    browser.run("document.querySelector('#tasks [aria-current]').focus()")
    seen = []
    for _ in range(12):
        browser.press("Tab")
        seen.append(
            browser.run("document.activeElement.className || document.activeElement.tagName")
        )
    first_mark = next(i for i, one in enumerate(seen) if "mark-" in one)
    assert any("evidence" in one for one in seen[:first_mark])
    assert not any("evidence" in one for one in seen[first_mark:])


def test_every_control_has_a_name(browser):
    nameless = browser.run(
        "[...document.querySelectorAll('button, input, textarea, svg[tabindex], [role=button]')]"
        ".filter((n) => !n.hidden && !(n.getAttribute('aria-label') || n.textContent.trim()"
        " || (n.labels && n.labels.length))).map((n) => n.outerHTML)"
    )
    assert nameless == []


@pytest.mark.parametrize("width", [360, 390, 700, 1000, 1440, 1920])
def test_nothing_is_wider_than_the_window(browser, width):
    browser.look(width=width, height=800, scheme="light")
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    if width > 900:
        assert browser.run("document.documentElement.scrollHeight <= innerHeight")


SIZE = "[view.width, view.height]"
WHOLE = "boundsOf([...trip.legs.map((leg) => leg.line), ...trip.cells.map((cell) => cell.ring)])"


def resized(browser, width, height):
    """Give the window another size and wait until the map has it."""
    before = browser.run(SIZE)
    browser.look(width=width, height=height, scheme="light")
    browser.wait_for(f"String({SIZE}) !== String({before})")
    browser.settle()


def rims(browser):
    """Return how far the trip is from the left, upper, right and lower end of the map, pixels."""
    (left, lower), (right, upper) = browser.run(
        f"(([a, b, c, d]) => [toScreen(a, b), toScreen(c, d)])({WHOLE})"
    )
    width, height = browser.run(SIZE)
    return [left, upper, width - right, height - lower]


def test_a_trip_that_was_shown_whole_stays_whole_when_the_window_is_resized(browser):
    scale = browser.run("view.scale")
    for width, height in ((1000, 560), (1920, 1080)):
        resized(browser, width, height)
        narrow = min(rims(browser))
        size = browser.run(SIZE)
        # As near to the ends of the map as when it is fitted, and in the middle.
        assert narrow == pytest.approx(min(56, *(one / 8 for one in size)), abs=0.01)
        assert rims(browser)[:2] == pytest.approx(rims(browser)[2:], abs=0.01)
    resized(browser, 1440, 900)
    assert browser.run("view.scale") == pytest.approx(scale)


def test_a_view_chosen_by_hand_keeps_scale_and_middle_when_the_window_is_resized(browser):
    middle_of_map = "toWorld(view.width / 2, view.height / 2)"
    browser.run("zoomBy(3), moveBy(40, -25)")
    scale, centre = browser.run(f"[view.scale, {middle_of_map}]")
    resized(browser, 1000, 560)
    assert browser.run("view.scale") == scale
    assert browser.run(middle_of_map) == pytest.approx(centre)
    browser.run("fitWhole()")
    resized(browser, 1440, 900)
    assert browser.run("view.scale") != scale
    assert min(rims(browser)) > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser, scheme):
    """Contrast at least 4.5 to 1, as WCAG asks of small text."""

    def parts(colour):
        return [float(part) for part in re.findall(r"[\d.]+", colour)]

    def luminance(colour):
        shares = [part / 255 for part in parts(colour)[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in shares]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    browser.look(width=1440, height=900, scheme=scheme)
    rate(browser, (4,))
    for selector in (
        "#kept", "#done-words", "#export", "#rail .begun", ".facts", ".persona", "#tasks button",
        ".text h3", ".evidence.grounded", ".evidence.off_route", ".evidence.invented", ".legend",
        "#open .question", ".marks-list span", ".given", ".phase .sum", ".phase .about", ".beside",
        "#bar .badge",
    ):  # fmt: skip
        ink, grounds = browser.run(
            f"(() => {{ let n = document.querySelector('{selector}'); const ink ="
            " getComputedStyle(n).color, grounds = []; for (; n; n = n.parentElement)"
            " grounds.push(getComputedStyle(n).backgroundColor); return [ink, grounds]; })()"
        )
        solid = [one for one in grounds if len(parts(one)) == 3]
        light, dark = sorted((luminance(ink), luminance(solid[0])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (selector, ink, solid[0])


def test_one_rater_alone_is_not_asked(chromium, items, ground, tmp_path):
    path = tmp_path / "alone.html"
    write_page(path, assignment_of(items, "H9"), items, ground, SETTING)
    fresh(chromium, path, name=None)
    assert text_of(chromium, "#rater") == "H9"
    assert not chromium.run("document.getElementById('who').open")
