"""The page works in a real browser: from disk, without a network, by mouse and by keyboard."""

import json
import re

import msgspec
import numpy as np
import pytest

from pipeline.errors import SourceError
from pipeline.show.gather import life_of
from pipeline.show.page import write_page
from pipeline.show.survey import ground_of
from tests.show.project import CITY, NASTY, PLACE, put


@pytest.fixture(scope="module")
def page(tiny, life, ground):
    path = tiny / "shown" / "17.html"
    write_page(life, ground, path)
    return path


@pytest.fixture
def browser(chromium, page):
    chromium.complaints.clear()
    chromium.requests.clear()
    chromium.look(width=1200, height=800, scheme="light")
    chromium.open(page)
    yield chromium
    assert chromium.complaints == []
    assert set(chromium.requests) == {page.as_uri()}


def middle(browser, selector):
    return browser.run(
        f"(() => {{ const b = document.querySelector({json.dumps(selector)})"
        ".getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )


def place_of(browser, x, y):
    """Return where a place in metres lies in the window."""
    return browser.run(
        f"(() => {{ const b = svg.getBoundingClientRect(), p = toScreen({x}, {y});"
        " return [b.x + p[0], b.y + p[1]]; })()"
    )


def picked(browser):
    return browser.run(
        "[...document.querySelectorAll('.phase[aria-pressed=true]')].map((b) => b.dataset.key)"
    )


def test_no_name_can_become_markup_and_nothing_points_outside(page):
    text = page.read_text("utf-8")
    assert NASTY not in text
    assert PLACE not in text
    assert text.count("</script>") == 2
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)


def test_the_page_opens_from_disk_and_tells_the_trip(browser):
    assert browser.run("document.title") == "Trip 17 - tiny"
    assert browser.run("document.querySelector('h1').textContent") == "Trip 17"
    assert browser.run("document.querySelector('.badge.simulated').textContent") == "simulated"
    assert browser.run("document.getElementById('credit').textContent") == (
        "(c) OpenStreetMap contributors"
    )
    assert browser.run("document.querySelectorAll('.phase').length") == 3
    assert browser.run("document.querySelectorAll('.leg').length") == 4


def test_names_are_shown_as_they_are_and_run_nothing(browser):
    assert browser.run("document.querySelectorAll('.phase .way')[2].textContent") == NASTY
    assert browser.run("window.hacked === undefined")
    assert browser.run("document.querySelectorAll('#panel b, #panel i, #panel script').length") == 0


@pytest.mark.parametrize("name", ["path", "cells", "points", "places", "streets"])
def test_a_layer_can_be_switched_off_and_on(browser, name):
    shown = (
        f"[...document.querySelectorAll('[data-layer={name}]')]"
        ".every((g) => getComputedStyle(g).display !== 'none')"
    )
    assert browser.run(shown)
    browser.click(*middle(browser, f"[data-toggles={name}]"))
    assert not browser.run(shown)
    browser.click(*middle(browser, f"[data-toggles={name}]"))
    assert browser.run(shown)


def test_clicking_a_phase_highlights_its_cell_and_its_part_of_the_path(browser):
    browser.click(*middle(browser, ".phase[data-key='0:1'] .way"))
    assert picked(browser) == ["0:1"]
    assert browser.run(
        "[...document.querySelectorAll('.leg.picked')].map((l) => l.dataset.key)"
    ) == ["0:1"]
    assert browser.run("document.querySelectorAll('.cell.picked').length") == 1
    browser.click(*middle(browser, ".phase[data-key='0:1'] .way"))
    assert picked(browser) == []
    assert browser.run("document.querySelectorAll('.picked').length") == 0


def test_clicking_the_path_picks_its_phase(browser):
    browser.click(*place_of(browser, *browser.run("trip.legs[2].line.slice(0, 2)")))
    assert picked(browser) in (["0:1"], ["0:2"])


def test_clicking_a_cell_driven_twice_goes_through_its_phases(browser):
    cell = browser.run("trip.cells.find((c) => c.keys.length === 2).cell")
    corner = browser.run(f"trip.cells.find((c) => c.cell === '{cell}').ring.slice(0, 2)")
    centre = browser.run(f"boundsOf([trip.cells.find((c) => c.cell === '{cell}').ring])")
    inside = [0.8 * corner[i] + 0.2 * (centre[i] + centre[i + 2]) / 2 for i in range(2)]
    found = []
    for _ in range(3):
        browser.click(*place_of(browser, *inside))
        found += picked(browser)
    assert found == ["0:1", "0:2", "0:1"]


def test_the_wheel_zooms_at_the_pointer_and_a_drag_moves(browser):
    before = browser.run("[view.scale, view.x]")
    x, y = middle(browser, "#map")
    held = browser.run(f"toWorld({x}, {y})")
    browser.wheel(x, y, -200)
    browser.wait_for(f"view.scale > {before[0]}")
    assert browser.run(f"toWorld({x}, {y})") == pytest.approx(held, abs=1e-6)
    at = browser.run("view.x")
    browser.drag(x, y, 70, 0)
    assert browser.run("view.x") == pytest.approx(at + 70)
    assert picked(browser) == []


def test_the_keyboard_zooms_moves_and_picks(browser):
    start = browser.run("view.scale")
    browser.press("+")
    assert browser.run("view.scale") == pytest.approx(1.5 * start)
    browser.press("-")
    assert browser.run("view.scale") == pytest.approx(start)
    browser.run("document.querySelector('.phase').focus()")
    browser.press("Enter")
    assert picked(browser) == ["0:0"]
    browser.press("Escape")
    assert picked(browser) == []
    browser.run("svg.focus()")
    at = browser.run("view.x")
    browser.press("ArrowLeft")
    assert browser.run("view.x") == pytest.approx(at + 60)
    browser.press("0")
    assert browser.run("view.x") == pytest.approx(at)


def test_the_buttons_zoom(browser):
    start = browser.run("view.scale")
    browser.click(*middle(browser, "#closer"))
    browser.click(*middle(browser, "#closer"))
    assert browser.run("view.scale") == pytest.approx(2.25 * start)
    browser.click(*middle(browser, "#farther"))
    assert browser.run("view.scale") == pytest.approx(1.5 * start)
    browser.click(*middle(browser, "#whole"))
    assert browser.run("view.scale") == pytest.approx(start)


def test_hovering_names_streets_places_and_points(browser):
    def tip_at(x, y):
        browser.point_at(*place_of(browser, x, y))
        return browser.run("tip.hidden ? null : tip.textContent")

    street = browser.run("trip.streets.find((s) => s.kind === 'middle').line")
    share = 0.75
    on_street = [street[i] + share * (street[i + 2] - street[i]) for i in range(2)]
    assert tip_at(*on_street) == NASTY + "tertiary · one way"
    spot = browser.run("[trip.places[0].x, trip.places[0].y]")
    assert "Café" in tip_at(*spot) or "GPS point" in tip_at(*spot)
    point = browser.run("[trip.points[1].x, trip.points[1].y]")
    assert tip_at(*point) == "GPS point 103:01:13 · kept"
    assert tip_at(point[0], point[1] + 100) is None


def test_the_scale_bar_measures_the_map(browser):
    width, text = browser.run(
        "[document.getElementById('scale').offsetWidth / view.scale,"
        " document.getElementById('scale').textContent]"
    )
    assert width == pytest.approx(float(text.removesuffix(" m")), rel=0.05)


def test_the_map_fills_the_window_beside_the_panel_or_above_it(browser):
    boxes = (
        "['stage', 'panel'].map((id) => { const b = document.getElementById(id)"
        ".getBoundingClientRect(); return [b.x, b.y, b.width]; })"
    )
    stage, panel = browser.run(boxes)
    assert panel[0] == stage[2]
    browser.look(width=420, height=800, scheme="light")
    stage, panel = browser.run(boxes)
    assert panel[0] == 0
    assert panel[1] > 0
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")


def test_the_page_follows_the_dark_scheme(browser):
    ground = "getComputedStyle(document.body).backgroundColor"
    light = browser.run(ground)
    browser.look(width=1200, height=800, scheme="dark")
    dark = browser.run(ground)
    brightness = [sum(map(int, re.findall(r"\d+", colour))) for colour in (light, dark)]
    assert brightness[0] > 600
    assert brightness[1] < 150


def test_text_stands_out_from_its_ground_in_both_schemes(browser):
    """Contrast at least 4.5 to 1, as WCAG asks of small text."""

    def luminance(colour):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

    for scheme in ("light", "dark"):
        browser.look(width=1200, height=800, scheme=scheme)
        paper = luminance(browser.run("getComputedStyle(document.body).backgroundColor"))
        for selector in ("h1", "dt", ".phase .sum", ".phase .about", ".badge.simulated", ".number"):
            ink = luminance(
                browser.run(f"getComputedStyle(document.querySelector('{selector}')).color")
            )
            ratio = (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05)
            assert ratio >= 4.5, (scheme, selector, ratio)


def test_a_refused_trip_has_a_page_with_its_points(chromium, tiny, tmp_path):
    refused = life_of(tiny, CITY, "18")
    write_page(refused, ground_of(tiny, CITY, refused), tmp_path / "18.html")
    chromium.complaints.clear()
    chromium.open(tmp_path / "18.html")
    assert chromium.run("trip.points.length") == 2
    assert chromium.run("document.querySelector('.badge').textContent") == "rejected"
    assert chromium.run("Number.isFinite(view.scale)")
    assert chromium.complaints == []


def test_a_trip_without_points_has_a_page_that_says_why(chromium, life, own_project, tmp_path):
    lists = {name: [] for name in ("t", "lon", "lat", "decisions", "trip_ids")}
    row = msgspec.to_builtins(life.raw) | lists | {"raw_trip_id": "19", "outcome": "empty_trip"}
    put(own_project, "raw_trips", [row])
    empty = life_of(own_project, CITY, "19")
    write_page(empty, ground_of(own_project, CITY, empty), tmp_path / "19.html")
    chromium.complaints.clear()
    chromium.open(tmp_path / "19.html")
    assert chromium.run("document.querySelector('h1').textContent") == "Trip 19"
    assert chromium.complaints == []


def test_the_same_life_gives_the_same_bytes(life, ground, page, tmp_path):
    write_page(life, ground, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()


@pytest.mark.parametrize("place", ["folder", "file/page.html", "file/a/page.html"])
def test_a_page_that_cannot_lie_there_is_one_clear_error(life, ground, tmp_path, place):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    with pytest.raises(SourceError, match="expected the name of a file to write"):
        write_page(life, ground, tmp_path / place)
    assert (tmp_path / "file").read_text() == "mine"
