"""One browser for the tests of the board."""

from collections.abc import Iterator

import pytest

from tests.show.browser import Chromium


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser
