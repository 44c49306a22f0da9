"""What keeps a scenario out: one test per reason, and texts that are nearly the same."""

import msgspec
import pytest

from pipeline.errors import SourceError
from pipeline.stride.filters import (
    TextFilter,
    fault_of_draft,
    fault_of_people,
    masked,
    names_of,
    word_pairs,
)
from pipeline.stride.maps import CrowdMap
from pipeline.stride.review import (
    Verdict,
    Verdicts,
    export_list,
    import_list,
    read_verdicts,
    text_hash,
)
from pipeline.stride.roles import head_counts
from pipeline.stride.stories import Category
from pipeline.stride.ways import Ways
from tests.stride.places import draft, map_of, person, role, scenario, square, square_ways

WALKING = Category("Ambulatory", "Ordinary walking.", (20, 80))
GOOD = role("walk", to=["exits"])


def fault(draft_):
    return fault_of_draft(draft_, WALKING, square_ways())


def test_nothing_is_wrong_with_an_ordinary_draft():
    assert fault(draft(GOOD)) is None


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (draft(GOOD, description="Too short."), "a text of 2 words"),
        (draft(GOOD, description="People walk for 30 metres and then stop to look around."),
         "'30 metres' in the text"),
        (draft(GOOD, description="All people of the square walk over to exit_1 and are gone."),
         "'exit_1' in the text"),
        (draft(GOOD, description="On the square stand 12 people who then walk off to the north."),
         "'12 people' in the text"),
        (draft(GOOD, description="People stream from the old gate over the square to the old gate"),
         "'from the old gate over the square to the old gate' in the text, expected two places"),
        (draft(GOOD, description="People stream from Toy across the open square towards Toy now."),
         "expected two places"),
        (draft(GOOD, crowd_size=400), "400 people, expected about 20 to 80"),
        (draft(GOOD, duration_s=500.0), "500 s, expected 10 to 180"),
        (draft(role("walk", share=0.5, to=["exits"])), "shares of roles add up to 0.50"),
        (draft(role("walk", to=["exits"], speed_mps=(5.0, 0.1))), "wants to be faster than 4 m/s"),
        (draft(role("gather")), "gather without an event"),
        (draft(role("walk")), "walk without a goal"),
        (draft(role("walk", to=["exits"], delay_s=(70.0, 80.0))), "sets off after the end"),
        (draft(role("walk", to=["exits"], group=(4, 2))), "group from 4 to 2"),
        (draft(role("stay", start="exits")), "starts at `exits`"),
        (draft(role("gather", to=["exits"])), "gather at `exits`, expected one anchor"),
        (draft(role("wander", near="anywhere")), "keeps near `anywhere`, expected an anchor"),
        (draft(role("gather"), event="exits"), "the event is at `exits`, expected an anchor"),
        (draft(role("stay", share=0.99), role("walk", share=0.01, to=["exits"])),
         "people: a share of 0.01 is nobody"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_implausible(broken, words):
    found = fault(broken)
    assert found.reason == "implausible"
    assert words in found.detail


def test_an_idiom_is_no_way_back():
    for text in (
        "Guests drift from table to table, and from the bar to the door and out of Toy again.",
        "People walk from the old gate over Toy to the old market, in pairs or on their own.",
    ):
        assert fault(draft(GOOD, description=text)) is None


def test_an_anchor_the_map_does_not_have_is_unknown():
    found = fault(draft(role("walk", to=["exit_77"])))
    assert found == ("unknown_anchor", "exit_77: the map toy_toy has none")


def test_more_people_than_square_metres_are_too_dense():
    pen = Ways(CrowdMap(map_of(30.0, 30.0, [], name="Pen")))
    full = Category("Dense", "Full.", (1000, 2000))
    found = fault_of_draft(draft(role("stay"), crowd_size=1000), full, pen)
    assert found == ("density", "0.90 m2 of ground a person, expected 1 or more")
    assert fault_of_draft(draft(role("stay"), crowd_size=900), full, pen) is None


def test_who_stands_in_a_wall_is_in_conflict_with_an_obstacle():
    found = fault_of_people([person(50.1, 45.0)], square_ways())
    assert found.reason == "obstacle_conflict"


def test_a_goal_without_a_way_is_unreachable():
    inside = person(56.0, 46.0, goal="exit_1", goal_x_m=60.0, goal_y_m=98.0)
    assert fault_of_people([inside], square_ways()).reason == "unreachable"


def test_a_goal_off_the_map_is_unreachable():
    found = fault_of_people([person(45.0, 30.0, goal_x_m=-2.0)], square_ways())
    assert found.reason == "unreachable"
    assert "outside the map" in found.detail


def test_sound_people_pass():
    assert fault_of_people([person(45.0, 30.0), person(45.0, 31.0)], square_ways()) is None


# ---- texts

TEXT = "A choir sings at Toy Square and people from North Street stop to listen for a while."


def test_the_same_text_with_other_names_is_a_near_duplicate():
    texts = TextFilter(0.6)
    assert texts.seen("0001", TEXT, square()) is None
    again = TEXT.replace("North Street", "South Street")
    found = texts.seen("0002", again, square())
    assert found.reason == "near_duplicate"
    assert "scenario 0001" in found.detail


def test_another_text_is_none():
    texts = TextFilter(0.6)
    texts.seen("0001", TEXT, square())
    other = "Runners gather at Toy Square for the start of a race and wait in a loose crowd."
    assert texts.seen("0002", other, square()) is None


def test_names_and_numbers_are_masked():
    assert masked("7 go to North Street", names_of(square())).split() == [
        "number", "go", "to", "name",
    ]  # fmt: skip


def test_pairs_of_words_are_in_order_and_in_lower_case():
    assert word_pairs("One, two. One!") == {("one", "two"), ("two", "one")}


# ---- people's verdicts


def test_a_dropped_text_is_kept_out_and_a_new_wording_is_not():
    verdicts = Verdicts([Verdict("0001", text_hash(TEXT), "drop", "too dull")])
    assert verdicts.fault("0001", TEXT) == ("manual", "too dull")
    assert verdicts.fault("0001", TEXT + " It rains.") is None
    assert verdicts.fault("0002", TEXT) is None


def test_a_list_goes_out_and_comes_back(tmp_path):
    scenarios = [scenario([person(45.0, 30.0)], scene_id=number) for number in ("0001", "0002")]
    export_list(scenarios, tmp_path / "list.csv")
    lines = (tmp_path / "list.csv").read_text("utf-8").splitlines()
    assert len(lines) == 3
    lines[1] = lines[1].replace(",,,", ",drop,dull,", 1)
    (tmp_path / "list.csv").write_text("\n".join(lines) + "\n", "utf-8")
    kept = tmp_path / "verdicts.csv"
    kept.write_text("scene_id,text_sha256,verdict,note\n", "utf-8")
    assert import_list(tmp_path / "list.csv", kept) == 1
    verdicts = read_verdicts(kept)
    assert verdicts.fault("0001", scenarios[0].description) == ("manual", "dull")
    assert verdicts.fault("0002", scenarios[1].description) is None


def test_an_unknown_verdict_names_the_line_and_changes_nothing(tmp_path):
    kept = tmp_path / "verdicts.csv"
    kept.write_text("scene_id,text_sha256,verdict,note\n", "utf-8")
    (tmp_path / "list.csv").write_text(
        "scene_id,text_sha256,verdict,note\n0001,ab,perhaps,\n", "utf-8"
    )
    with pytest.raises(SourceError, match=r"line 2: verdict: expected keep, drop or nothing"):
        import_list(tmp_path / "list.csv", kept)
    assert kept.read_text("utf-8").count("\n") == 1


def test_shares_that_are_a_little_off_still_give_everybody_one_role():
    for share in (0.495, 0.5, 0.505):
        crowd = draft(role("stay", share=share), role("stay", share=share), crowd_size=200)
        assert fault(msgspec.structs.replace(crowd, crowd_size=80)) is None
        assert head_counts(crowd) == [100, 100]
