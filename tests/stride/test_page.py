"""The page in a real browser: it moves, shows why checks failed, and needs no network."""

import json

import numpy as np
import pytest

from pipeline.stride.report import Scored, report_of
from pipeline.stride.report_page import MOST_PLACES, PageParts, movement_of, page_data, write_page
from pipeline.stride.scoring import score_benchmark
from pipeline.stride.sources import MemorySource, Settings
from pipeline.stride.tables import comparison
from tests.stride.crowds import absent, benchmark, measurement, scenario, strolling, walkers

NASTY = "</script><b>bold</b> & \u2028 ${x} Châtelet"
WALLS = np.array([[0.0, 12.0, 0.0, 0.0], [12.0, 12.0, 0.0, 9.0]])


def parts(tmp_path, walk, *, reports=1):
    asked = scenario(
        [measurement("mean_speed", {"min": 2.0}), measurement("path_linearity", {"min": 0.9})],
        [measurement("dmt.unheard_of", {"min": 0.0})],
    )
    asked = asked._replace(description=NASTY, category=NASTY)
    bench = benchmark(asked)
    file = tmp_path / "bench.json"
    file.write_text("{}")
    source = MemorySource({"0001": walk})
    scores = list(score_benchmark(bench, source, mode="strict"))
    made = [
        report_of(Scored(f"generator {n}", file, bench, Settings("strict"), source.ids, scores))
        for n in range(reports)
    ]
    rows = comparison(made) if reports > 1 else []
    return PageParts(made[0], made[0]["scenarios"][0], walk, WALLS, rows)


@pytest.fixture
def browser(chromium, tmp_path):
    chromium.complaints.clear()
    chromium.requests.clear()
    chromium.look(width=1200, height=800, scheme="light")
    page = tmp_path / "page.html"
    walk = absent(strolling(), (slice(0, 5), 1))
    write_page(parts(tmp_path, walk, reports=2), page)
    chromium.open(page)
    yield chromium
    assert chromium.complaints == []
    assert set(chromium.requests) == {page.as_uri()}


COPY = (
    "const copy = new OffscreenCanvas(canvas.width, canvas.height)"
    ".getContext('2d', {willReadFrequently: true}); copy.drawImage(canvas, 0, 0);"
)


def ink(browser):
    """Return how many points of the picture are drawn on."""
    return browser.run(
        f"(() => {{ {COPY} return [...copy.getImageData(0, 0, canvas.width, canvas.height).data]"
        ".filter((value, place) => place % 4 === 3 && value > 0).length; })()"
    )


def pixel(browser, x, y):
    """Return whether the picture is drawn on at a place in metres."""
    return browser.run(
        f"(() => {{ {COPY} const [u, v] = toScreen({x}, {y}).map(Math.round);"
        " return copy.getImageData(u, v, 1, 1).data[3] > 0; })()"
    )


def test_the_movement_plays_stops_and_is_at_the_moment_that_is_chosen(browser):
    assert browser.run("play.textContent") == "Pause"
    browser.wait_for("Number(time.value) > 2")
    browser.run("play.click()")
    browser.settle()
    stopped = browser.run("time.value")
    browser.settle()
    assert browser.run("time.value") == stopped
    browser.run("time.value = 10; time.dispatchEvent(new Event('input'))")
    assert browser.run("document.getElementById('clock').textContent") == "4.0 s"
    assert pixel(browser, 1 + 1.2 * 4.0, 2)  # the second of three, 4 s on
    assert not pixel(browser, 1 + 1.2 * 4.0 + 1.0, 2)
    assert pixel(browser, 12, 4)  # the wall


def test_a_scale_bar_and_a_legend_say_how_large_and_what_it_is(browser):
    metres = browser.run("barMetres()")
    assert metres in {1, 2, 5, 10}
    on_bar = (
        f"(() => {{ {COPY} const [left, bottom] = [14, canvas.height / devicePixelRatio - 14];"
        " const at = (x) => copy.getImageData((left + x) * devicePixelRatio,"
        " bottom * devicePixelRatio, 1, 1).data[3] > 0;"
        " const end = barMetres() * scale / devicePixelRatio;"
        " return [at(1), at(end / 2), at(end - 1), at(end + 6)]; })()"
    )
    assert browser.run(on_bar) == [True, True, True, False]
    legend = browser.run("document.getElementById('legend').innerText").split("\n")
    assert [words for words in legend if words] == ["person", "path of the last 12 frames", "wall"]


@pytest.mark.parametrize(("width", "metres"), [(3, 0.5), (12, 2), (30, 5), (300, 50), (4000, 1000)])
def test_the_bar_is_a_round_number_of_metres(chromium, tmp_path, width, metres):
    chromium.look(width=1200, height=800, scheme="light")
    walk = walkers([(0, 1), (width, 1)], [(0, 0)] * 2)
    write_page(parts(tmp_path, walk)._replace(obstacles=None), tmp_path / "page.html")
    chromium.open(tmp_path / "page.html")
    assert chromium.run("barMetres()") == metres
    assert chromium.run("document.getElementById('legend').innerText").count("wall") == 0


def test_warnings_stand_with_the_scenario_and_with_the_benchmark(chromium, tmp_path):
    write_page(parts(tmp_path, strolling()._replace(dt_s=None)), tmp_path / "page.html")
    chromium.open(tmp_path / "page.html")
    warnings = chromium.run(
        "[...document.querySelectorAll('#panel .warning')].map((e) => e.textContent)"
    )
    assert warnings[0].startswith("Warning: dt_s: not known")
    assert warnings[-1] == "Warnings, by scenarios: dt_unknown 1."


def test_the_absent_are_not_drawn(browser):
    browser.run("setPlaying(false)")
    browser.run("time.value = 0; time.dispatchEvent(new Event('input'))")
    assert pixel(browser, 1, 1)
    assert not pixel(browser, 1, 2)
    assert ink(browser) > 100


def test_failed_checks_stand_beside_it_with_value_bounds_margin_and_reason(browser):
    assert browser.run("document.getElementById('failed').textContent") == (
        "Failed or not counted: 2 of 3 checks"
    )
    failed = browser.run("[...document.querySelectorAll('.check.failed')].map((e) => e.innerText)")
    assert "mean_speed 1.2000, wanted at least 1.950, margin -0.7500" in failed[0]
    assert "1.2 is below 1.95" in failed[0]
    assert "Unknown function" in failed[1]
    passed = (
        "[...document.querySelectorAll('details .check.passed code')].map((e) => e.textContent)"
    )
    assert browser.run(passed) == ["path_linearity"]


def test_no_text_of_a_benchmark_becomes_markup(browser):
    assert browser.run("document.querySelectorAll('b').length") == 0
    assert NASTY in browser.run("document.getElementById('panel').textContent")


def test_figures_of_the_benchmark_and_of_all_generators_are_there(browser):
    text = browser.run("document.getElementById('panel').innerText")
    assert "1 of 1 scenarios scored" in text
    for words in (
        "Velocity",
        "x 2",
        "people, of",
        "generator 0",
        "generator 1",
        "zero_filled_mean",
    ):
        assert words in text


def test_the_page_is_worked_by_keyboard_and_fits_a_narrow_window(browser):
    browser.run("play.focus()")
    browser.press(" ")
    assert browser.run("play.getAttribute('aria-pressed')") == "false"
    browser.look(width=380, height=700, scheme="dark")
    assert browser.run("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("walk", [
    walkers([(1, 1)], [(0, 0)], frames=1),
    absent(strolling(), (slice(None), [0, 1, 2])),
    strolling()._replace(positions=np.full((20, 3, 2), np.nan)),
    strolling()._replace(dt_s=None, radius=None),
    walkers(np.zeros((0, 2)), np.zeros((0, 2)), frames=3),
])  # fmt: skip
def test_bad_movement_makes_a_page_too(chromium, tmp_path, walk):
    chromium.complaints.clear()
    write_page(parts(tmp_path, walk), tmp_path / "page.html")
    chromium.open(tmp_path / "page.html")
    assert chromium.run("document.querySelectorAll('.check').length") == 3
    assert chromium.complaints == []


def test_of_a_long_clip_every_nth_frame_is_drawn():
    frames = 2 * MOST_PLACES // 3
    walk = walkers([(1, 1), (2, 2), (3, 3)], [(0, 0)] * 3, frames=frames)
    movement = movement_of(walk)
    assert movement["every"] == 2
    assert movement["dt_s"] == pytest.approx(0.8)
    assert len(movement["frames"]) == (frames + 1) // 2


def test_a_page_holds_places_in_centimetres_and_no_odd_numbers(tmp_path):
    data = page_data(parts(tmp_path, absent(strolling(), (0, 1))))
    assert data["movement"]["frames"][0] == [100, 100, None, None, 100, 300]
    json.dumps(data, allow_nan=False)
