"""What a person does on the page, by keyboard and mouse, and what they see.

rate(browser, (5, 4, 3))            presses three keys
export(browser, tmp_path)           ->  rows of the file the page sends
"""

import json

from pipeline.review.assignment import by_hash
from tests.review.trips import IDS

ORDER = by_hash(IDS, "H1")
FIRST = ORDER[0]


def opened(browser, page):
    browser.open(page)
    browser.wait_for("rater !== null || document.getElementById('who').open")


def fresh(browser, page, name="H1"):
    """Open the page as somebody who never saw it, and say who rates."""
    opened(browser, page)
    browser.run("rater = null, localStorage.clear()")
    opened(browser, page)
    if name:
        browser.run(f"[...document.querySelectorAll('.person')].find((b) => b.querySelector('b')"
                    f".textContent === '{name}').click()")  # fmt: skip
        browser.settle()


def text_of(browser, selector):
    return browser.run(f"document.querySelector({json.dumps(selector)}).textContent")


def count(browser, selector):
    return browser.run(f"document.querySelectorAll({json.dumps(selector)}).length")


def middle(browser, selector):
    return browser.run(
        f"(() => {{ const b = document.querySelector({json.dumps(selector)})"
        ".getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )


def go_to(browser, trip_id):
    browser.run(f"openTrip('{trip_id}')")
    browser.settle()


def rate(browser, scores):
    for score in scores:
        browser.press(str(score))


def export(browser, folder):
    browser.download_to(folder)
    browser.click(*middle(browser, "#export"))
    file = folder / "tiny-H1.jsonl"
    for _ in range(200):
        if file.exists() and file.read_text("utf-8").endswith("\n"):
            break
        browser.settle()
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]
