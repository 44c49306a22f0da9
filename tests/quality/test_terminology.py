"""Labels of the data become plain words; words of the pipeline are refused."""

import msgspec
import pytest

from pipeline.quality.inspection import Inspector
from pipeline.quality.tables import TABLES, word_tables
from pipeline.quality.terminology import Terminology, read_terms
from tests.quality.real_towns import settings
from tests.quality.small_town import porto, porto_trip, town_of

TERMS = Terminology(read_terms(TABLES / "terms.yaml"), word_tables())
PORTO = porto()


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("Navigate to the WATERFRONT area.", "Navigate to the waterside area."),
        ("Go along WATERFRONT.", "Go along the waterside."),
        ("waterfront first.", "The waterside first."),
        ("Past the GREEN/PARK stretch.", "Past the park stretch."),
        ("To COASTAL / BEACH.", "To the seaside."),
        ("Through URBAN/INLAND streets.", "Through city streets."),
        ("Pass Commercial: dining, shopping.", "Pass restaurants and shops."),
        ("Pass Facilities: bar, ice cream shop.", "Pass a bar and an ice cream shop."),
        ("End in District: Foz.", "End in Foz."),
        ("GNN: WATERFRONT, then stop.", "The waterside, then stop."),
    ],
)
def test_a_label_is_put_into_plain_words(text, mended):
    found = PORTO.inspect(text)
    assert found.reading.text == mended
    assert {repair.rule for repair in found.repairs} == {"label"}
    assert {finding.action for finding in found.findings} == {"repair"}


def test_a_name_keeps_its_label():
    town = town_of(porto_trip(), places=["Waterfront Café"])
    found = town.inspect("Past Waterfront Café.")
    assert found.reading.text == "Past Waterfront Café."
    assert [finding.rule for finding in found.findings] == ["off_route_name"]


@pytest.mark.parametrize(
    "text",
    ["Two phases on.", "The last segment.", "In this H3 cell.", "As the GNN says.",
     "By trajectory data.", "See traj id 7.", "A GPS trace.", "As the data shows.",
     "Past four POIs.", "The road id.", "In the last phase.", "A phase of many.",
     "The cell is by the sea.", "Just a phase 3 thing.", "The segment ends.",
     "As overture data say.",
     "This persona is in a hurry.", "In that scenario.", "The data of the trip.", "In a hex."],
)  # fmt: skip
def test_a_word_of_the_pipeline_is_refused(text):
    findings = PORTO.inspect(text).findings
    assert {(finding.rule, finding.action) for finding in findings} == {("pipeline_word", "reject")}


@pytest.mark.parametrize(
    "text",
    [
        "My cell phone rang.",
        "Phase out the speed.",
        "A nice trip.",
        "Where to?",
        "It's just a phase.",
        "My cell is at two percent.",
        "Call me on the cell.",
        "No cell reception.",
        "His wife's cell is off.",
        "Going through a phase, she says.",
        "Worst-case scenario, we walk.",
        "Any scenario will do.",
        "I'd rather hear the radio segment.",
        "Her stage persona is loud.",
        "Turn off the data plan.",
        "Don't put a hex on me.",
        "The overture is over.",
    ],
)
def test_everyday_words_stay(text):
    assert PORTO.rules(text) == []


def test_a_label_that_is_only_flagged_stays_and_is_no_invented_name():
    policies = msgspec.structs.replace(settings().rules, label="flag")
    inspector = Inspector(PORTO.inspector.names, policies, wording=settings().wording)
    found = inspector.inspect_text(
        "instruction_literal", "To GREEN/PARK.", inspector.evidence(porto_trip())
    )
    assert found.reading.text == "To GREEN/PARK."
    assert [(finding.rule, finding.action) for finding in found.findings] == [("label", "flag")]
