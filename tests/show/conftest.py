"""One tiny project and one browser for all tests of a module: both are only looked at."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.show.gather import life_of
from pipeline.show.ground import Ground
from pipeline.show.life import TripLife
from pipeline.show.survey import ground_of
from tests.show.browser import Chromium
from tests.show.project import CITY, write_project


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_project(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def own_project(tmp_path: Path) -> Path:
    """A project that a test may spoil."""
    return write_project(tmp_path)


@pytest.fixture(scope="session")
def life(tiny: Path) -> TripLife:
    return life_of(tiny, CITY, "17")


@pytest.fixture(scope="session")
def ground(tiny: Path, life: TripLife) -> Ground:
    return ground_of(tiny, CITY, life)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser
