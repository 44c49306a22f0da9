"""Labels of the data become plain words; words of the pipeline are refused."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

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
        ("Past Natural: water and Commercial: dining.", "Past water and restaurants."),
        ("Past Commercial: dining, then stop.", "Past restaurants, then stop."),
        ("By shops (Commercial: dining, shopping).", "By shops (restaurants and shops)."),
        ("Natural: tree, park and water near it.", "Trees, a park and water near it."),
        (
            "Past Natural: tree | Commercial: shopping | Facilities: bar.",
            "Past trees, shops, a bar.",
        ),
    ],
)
def test_a_label_is_put_into_plain_words(text, mended):
    found = PORTO.inspect(text)
    assert found.reading.text == mended
    assert {repair.rule for repair in found.repairs} == {"label"}
    assert {finding.action for finding in found.findings} == {"repair"}


@pytest.mark.parametrize(
    "text",
    ["Past Commercial: the usual.", "Past Commercial: dining halls.", "GNN: URBAN.", "GNN: yes.",
     "Past a Natural: park.", "The Commercial: dining.", "Facilities: bar association.",
     "Past Facilities: nothing much.", "Natural: dining.", "Go to District: somewhere."],
)  # fmt: skip
def test_a_heading_before_other_words_than_its_own_is_refused(text):
    found = PORTO.inspect(text)
    assert found.reading.text == text
    assert ("label", "reject") in {(one.rule, one.action) for one in found.findings}


ITEMS = st.lists(st.sampled_from(["dining", "shopping", "services", "entertainment", "then we go",
                                  "and", "my hotel"]), min_size=1, max_size=4)  # fmt: skip


@given(ITEMS, st.sampled_from([", ", " and ", " "]))
@hypothesis_settings(deadline=None)
def test_a_mended_list_holds_no_word_twice_over_and_no_article_before_others(items, joint):
    text = f"Past Commercial: {joint.join(items)}."
    found = PORTO.inspect(text)
    if any(one.rule == "label" and one.action == "reject" for one in found.findings):
        assert "Commercial:" in found.reading.text
    else:
        assert " a then" not in found.reading.text
        assert " a and" not in found.reading.text
        assert items[0] in {"dining", "shopping", "services", "entertainment"}


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
     "Cell 8a1126d33067fff.", "Place 08f1126d33067fff03bd2a8d.", "Trip 1732143530620000011.",
     "At node 12.", "Along edge 7.", "This trajectory.", "Two trajectories.", "A polyline.",
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
        "At the water's edge.",
        "Her career trajectory.",
        "A transport node.",
        "Call 0401234567.",
        "A facade and decade.",
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
