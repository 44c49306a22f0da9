"""One page for all tests that look at it, and the browser of the show tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.quality.rubric import rubric
from pipeline.review.assignment import Assignment
from pipeline.review.export import ground_of
from pipeline.review.page import ReviewItem, Setting, write_page
from pipeline.show.shards import CityTables
from tests.review.hands import fresh
from tests.review.trips import assignment_of, review_items
from tests.show.browser import Chromium
from tests.show.project import CITY, write_project

SETTING = Setting(name="Tiny <b>town</b>", time_zone="Europe/Helsinki", rubric=rubric())


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_project(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def items() -> list[ReviewItem]:
    return review_items()


@pytest.fixture(scope="session")
def assignment(items: list[ReviewItem]) -> Assignment:
    return assignment_of(items)


@pytest.fixture(scope="session")
def ground(tiny: Path, items: list[ReviewItem]):
    return ground_of(CityTables(tiny, CITY), items)


@pytest.fixture(scope="session")
def page(tiny: Path, items: list[ReviewItem], assignment: Assignment, ground) -> Path:
    path = tiny / "review.html"
    write_page(path, assignment, items, ground, SETTING)
    return path


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


@pytest.fixture
def browser(chromium, page):
    chromium.complaints.clear()
    chromium.requests.clear()
    chromium.look(width=1440, height=900, scheme="light")
    fresh(chromium, page)
    yield chromium
    assert chromium.complaints == []
    assert {one for one in chromium.requests if not one.startswith("blob:")} == {page.as_uri()}
