"""The paper's own examples (Figures 14-16), on trips that have what they name."""

from tests.language.trips import area, phased_trip, place, planned_trip, step
from tests.quality.small_town import CAPTION, town_of


def san_francisco():
    """Return trip 475 as Figure 14 tells it: seven minutes on a Monday morning."""
    steps = (
        step(["Owens Street"], heading_deg=200),
        step(["16th Street"], heading_deg=225),
        step(["Terry A. François Boulevard"], heading_deg=0),
        step(["Mission Rock Street"], area("COASTAL/BEACH"), heading_deg=270),
        step(["3rd Street"], heading_deg=225),
    )
    at = "Monday, May 26, 2008 at 10:03 AM"
    trip = phased_trip(*steps, start_time=at, t_start_s=1211821380.0, duration_s=420)
    return town_of(
        planned_trip(trip, places=[place(4, "W Hotel", category="hotel")]), city="San Francisco"
    )


def test_the_texts_of_figure_14_pass():
    town = san_francisco()
    for field, text in {
        "instruction_literal": "Head to W Hotels via 16th Street, Terry A. François Boulevard,"
        " Mission Rock Street and finish on 3rd Street.",
        "instruction_concise": "Via 16th, Terry A. François Boulevard, Mission Rock to W Hotels.",
        "instruction_chatty": "Hey, how about take me from Owens Street down 16th Street, swing"
        " onto Terry A. François Boulevard, cut through Mission Rock Street and finish on 3rd"
        " Street at the W Hotels? It's a quick morning run, so get me there by 10:10.",
        "retrieval_query_1": "Trips from Owens Street to a beachside spot that pass sequentially"
        " through 16th Street, Terry A. François Boulevard and Mission Rock Street.",
        "retrieval_query_3": "Morning weekday routes starting at Owens Street around 10 AM and"
        " ending at W Hotels.",
    }.items():
        assert [one for one in town.inspect(text, field).findings if one.action == "reject"] == []


def test_its_via_the_origin_breaks_the_papers_own_rule():
    assert "wrong_phase" in san_francisco().rules(
        "Head to W Hotels via Owens Street, then 16th Street."
    )


def test_its_caption_is_held_against_the_headings():
    town = san_francisco()
    caption = (
        "Around 10:03 AM on a Monday, the drive departs from Owens Street, heads southwest onto"
        " 16th Street, then turns onto Terry A. François Boulevard, continues {} through Mission"
        " Rock Street and merges onto 3rd Street, arriving at the W Hotels after roughly seven"
        " minutes."
    )
    assert town.rules(caption.format("westward"), CAPTION) == []
    assert town.rules(caption.format("eastward"), CAPTION) == ["wrong_direction"]


def porto():
    """Return trip 1373490 as Figure 16 tells it: nine minutes by night from Cedofeita."""
    steps = (
        step([], area(district="Cedofeita"), heading_deg=135),
        step(["Rua do Campo Alegre"],
             area("GREEN/PARK", natural=["park", "tree"], district="Massarelos"), heading_deg=300),
        step(["Rua de Diogo Botelho"], area("WATERFRONT", district="Lordelo do Ouro e Massarelos"),
             heading_deg=270),
    )  # fmt: skip
    trip = phased_trip(*steps, start_time="Sunday, Apr 6, 2014 at 2:05 AM", t_start_s=1396746300.0,
                       duration_s=540)  # fmt: skip
    return town_of(planned_trip(trip, places=[place(2, "Ponte Dom Luís I")]))


def test_the_published_caption_of_figure_16_speaks_of_phases():
    town = porto()
    text = ("The route travels along Rua do Campo Alegre for several phases. The full trip covers"
            " 12 phases.")  # fmt: skip
    findings = [one for one in town.inspect(text, CAPTION).findings if one.rule == "pipeline_word"]
    assert [text[one.start : one.end] for one in findings] == ["phases", "phases"]


def test_a_name_cut_at_a_full_stop_is_another_name():
    assert porto().rules("To Ponte D via the park-side roads.") == ["invented_name"]
    assert porto().rules("To Ponte Dom Luis I via the park-side roads.") == []


def test_saturday_night_may_be_two_on_sunday():
    text = ("Starting in the Cedofeita district around 2:05 AM on a Saturday night, the route heads"
            " southeast.")  # fmt: skip
    assert porto().rules(text, CAPTION) == []


def test_nine_minutes_tops():
    text = ("Okay so it's the middle of the night, just get me to Lordelo do Ouro e Massarelos. Cut"
            " through that green stretch. Nine minutes, tops.")  # fmt: skip
    assert porto().rules(text) == []
