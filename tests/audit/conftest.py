"""One project whose versions differ by design, made once and never changed by a test."""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from pipeline.audit.audit import Options, audit
from pipeline.audit.report import AuditReport
from tests.audit.project import Project, judged, refused, told
from tests.language.asked_project import trip_called
from tests.show.browser import Chromium

# A text that would be markup, a table's end, a link or a command, if anyone let it.
NASTY = "Turn </td><script>alert(1)</script> | `left` [here](x) & \x1b[31m*now* https://x.example"
TRIPS = [f"t{number:02d}" for number in range(20)]
SENTENCE = ("No guided tour.", "No guided tour, ever.")
NONE = Options(cities=[], prompts=0, worse=0)


def other_draws(trip_id: str):
    """Return the same trip with another persona drawn for it."""
    trip = trip_called(trip_id)
    return replace(trip, intents=replace(trip.intents, persona="hurried"))


def other_trip(trip_id: str):
    """Return the trip as a longer drive."""
    trip = trip_called(trip_id)
    return replace(trip, meta=replace(trip.meta, length_m=trip.meta.length_m + 1))


@pytest.fixture(scope="package", autouse=True)
def site_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what DVC notes of a project away from what it notes of others on this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DVC_SITE_CACHE_DIR", str(tmp_path_factory.mktemp("site-cache")))
        patch.setenv("DVC_NO_ANALYTICS", "1")
        yield


@pytest.fixture(scope="package")
def project(tmp_path_factory: pytest.TempPathFactory, site_cache: None) -> Project:
    """Tags v1 and v2 of two cities; the working tree is at v2.

    Monaco has 20 trips at v1. At v2 one sentence of the rules is another, and: t00-t02 have another
    caption, t03 other draws, t04 is another drive, t05 got no text, t06 is not there any more, x1
    had no plan before and x2 no text. Helsinki has 3 trips whose texts stay.
    """
    made = Project(tmp_path_factory.mktemp("project"), ["monaco", "helsinki"])
    hashed = {"prompt_hash": made.prompt_hash, "response_key": "1" * 64}
    made.write("monaco", [told(one, **hashed) for one in TRIPS], [refused("x2", "malformed")])
    made.write("helsinki", [told(one, **hashed) for one in TRIPS[:3]])
    for city in ("monaco", "helsinki"):
        made.put(city, "plan_intents_rejected", [refused("x1", "no_destination", "plan_intents")])
        made.put(city, "judged", [judged(one, 4) for one in TRIPS[:3]])
    made.keep("v1")
    made.edit("prompts/annotate/system.j2", *SENTENCE)
    hashed = {"prompt_hash": made.prompt_hash, "response_key": "2" * 64}
    rows = [
        *(told(one, texts={"trajectory_caption": NASTY}, **hashed) for one in TRIPS[:3]),
        told(other_draws("t03"), **hashed),
        told(other_trip("t04"), **hashed),
        *(told(one, **hashed) for one in TRIPS[7:]),
        *(told(one, **hashed) for one in ("x1", "x2")),
    ]
    made.write("monaco", rows, [refused("t05", "length")])
    made.write("helsinki", [told(one, **hashed) for one in TRIPS[:3]])
    made.put("monaco", "judged", [judged("t00", 3), judged("t01", 5), judged("t02", None)])
    for city in ("monaco", "helsinki"):
        made.put(city, "plan_intents_rejected", [])
    made.keep("v2")
    return made


@pytest.fixture(scope="package")
def report(project: Project) -> AuditReport:
    """The audit of v1 and v2, with everything told."""
    return audit(project.root, "v1", "v2", options=Options(cities=[], prompts=2, worse=10))


@pytest.fixture(scope="package")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser
