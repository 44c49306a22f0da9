"""What a browser keeps may be damaged: what is sound of it stays, the page works and says so."""

import json

import pytest

from pipeline.quality.rubric import CRITERIA
from pipeline.schemas import check_record
from tests.review.hands import FIRST, ORDER, count, go_to, opened, rate, text_of


def keep(browser, name, text):
    """Put a text where the page keeps things, as another program or version might."""
    # Nobody rates any more: the page would write its own once more when it closes.
    browser.run(
        f"rater = null, localStorage.setItem(keyOf({json.dumps(name)}), {json.dumps(text)})"
    )


BROKEN = ["{", "null", "[]", "7", '"words"', "{}", '{"at": null}', '{"scores": null}']


@pytest.mark.parametrize("text", BROKEN)
def test_a_desk_that_cannot_be_read_starts_afresh_and_says_so(browser, page, text):
    rate(browser, (5, 4))
    keep(browser, "H1", text)
    opened(browser, page)
    assert text_of(browser, "#note-title") == "Some of what this browser kept cannot be read"
    assert "when you last exported, is not known" in text_of(browser, "#note")
    assert browser.run(f"[kept.at.trip, scoresOf('{FIRST}')]") == [FIRST, 2]
    opened(browser, page)
    assert not browser.run("document.getElementById('note').open")


@pytest.mark.parametrize("text", BROKEN)
def test_a_trip_that_cannot_be_read_starts_afresh_and_the_others_stay(browser, page, text):
    rate(browser, [5] * 10)
    browser.press("Enter")
    rate(browser, (3,))
    keep(browser, f"H1 {FIRST}", text)
    opened(browser, page)
    assert "Trip 1: 0 of 10 scores are there." in text_of(browser, "#note")
    assert "Trip 2" not in text_of(browser, "#note")
    assert browser.run(f"[scoresOf('{FIRST}'), scoresOf('{ORDER[1]}')]") == [0, 1]
    browser.run("document.getElementById('note').close()")
    go_to(browser, FIRST)
    rate(browser, (4,))
    opened(browser, page)
    assert not browser.run("document.getElementById('note').open")
    assert browser.run(f"given('{FIRST}', CODES[0]).score") == 4


@pytest.mark.parametrize(
    ("change", "left"),
    [
        ({"score": 7}, {"score": None}),
        ({"score": "5"}, {"score": None}),
        ({"comment": None}, {"comment": ""}),
        ({"comment": "x" * 2001}, {"comment": ""}),
        ({"seconds": "long"}, {"seconds": 0}),
        ({"seconds": -1}, {"seconds": 0}),
        ({"revised": 2}, {"revised": None}),  # nobody was shown anything
    ],
)
def test_of_a_trip_all_that_is_sound_is_kept(browser, page, change, left):
    sound = {"score": 4, "revised": None, "comment": "as it was", "seconds": 9.5}
    scores = {CRITERIA[0]: sound | change, CRITERIA[1]: sound, CRITERIA[2]: None}
    work = {"scores": scores, "seconds": 12.5, "revealed": False}
    keep(browser, f"H1 {FIRST}", json.dumps(work))
    opened(browser, page)
    assert "Trip 1: " in text_of(browser, "#note")
    assert browser.run(f"workOn('{FIRST}').scores") == {
        CRITERIA[0]: sound | left, CRITERIA[1]: sound,
        CRITERIA[2]: {"score": None, "revised": None, "comment": "", "seconds": 0},
    }  # fmt: skip
    for row in browser.run("rowsOf()"):
        check_record("rating", row, where="export")


def test_what_an_unreadable_trip_holds_does_not_keep_others_from_saying_who_they_are(browser, page):
    keep(browser, f"H1 {FIRST}", "{}")
    keep(browser, "H2", '{"at": null}')
    keep(browser, "", "{}")
    opened(browser, page)
    assert count(browser, "#who .person") == 2
    browser.run("document.querySelectorAll('.person')[1].click()")
    assert browser.run("rater") == "H2"
    assert text_of(browser, "#note-title") == "Some of what this browser kept cannot be read"


def test_what_another_window_writes_is_taken_only_where_it_is_sound(browser):
    for text in BROKEN:
        browser.run(
            f"dispatchEvent(new StorageEvent('storage', {{key: keyOf('H1 {ORDER[1]}'),"
            f" newValue: {json.dumps(text)}}}))"
        )
    assert browser.run(f"scoresOf('{ORDER[1]}')") == 0
    assert count(browser, "#rail .begun") == 0
