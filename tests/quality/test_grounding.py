"""Every name rests on the trip's evidence, in the phase the text says, or is told not to."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import ContractError
from tests.language.trips import area, phased_trip, place, planned_trip, step
from tests.quality.small_town import (
    CAPTION,
    LITERAL,
    QUERY,
    SmallTown,
    porto,
    porto_trip,
    town_of,
)

PORTO = porto()


# ---- three verdicts -----------------------------------------------------------------------------


def test_a_name_of_the_trip_is_grounded_with_phase_id_and_coordinates():
    (road, cafe) = PORTO.mentions("Take Avenida da Boavista and end at Café Central.")
    assert (road.verdict, road.kind, road.phase, road.id) == ("grounded", "road", 2, "2:1:2")
    assert (road.lon, road.lat) == (-8.6, 41.1)
    assert (cafe.verdict, cafe.kind, cafe.phase, cafe.id) == ("grounded", "place", 4,
                                                              "4/Café Central")  # fmt: skip
    assert (cafe.lon, cafe.lat) == (-8.61, 41.15)
    assert (road.start, road.end, road.text) == (5, 24, "Avenida da Boavista")


def test_a_name_of_the_city_that_is_not_on_the_trip_is_off_route():
    assert PORTO.verdicts("Past Café Sul in Ramalde by Rua do Sul.") == {
        "Café Sul": "off_route", "Ramalde": "off_route", "Rua do Sul": "off_route",
    }  # fmt: skip
    assert PORTO.rules("Past Café Sul.") == ["off_route_name"]


def test_a_name_the_city_has_not_is_invented():
    (mention,) = PORTO.mentions("Drive by Praça Zanzibar.")
    assert (mention.verdict, mention.kind, mention.id, mention.lon) == (
        "invented",
        "unknown",
        "",
        None,
    )
    assert PORTO.rules("Drive by Praça Zanzibar.") == ["invented_name"]


def test_the_citys_own_name_is_grounded_everywhere():
    assert PORTO.verdicts("From Porto to Porto.") == {"Porto": "grounded"}


def test_a_name_that_means_two_things_is_grounded_if_one_of_them_fits():
    steps = (step(["Rua A"], area(district="Foz")), step(["Foz"]), step(["Rua C"]))
    town = town_of(planned_trip(phased_trip(*steps)))
    assert [one.kind for one in town.mentions("From Foz.")] == ["district"]
    assert [one.kind for one in town.mentions("Via Foz.")] == ["road"]
    assert town.rules("End in Foz.") == ["wrong_phase"]


def test_a_road_of_several_phases_is_grounded_where_one_of_them_fits():
    trip = planned_trip(phased_trip(*(step([name]) for name in ("Rua A", "Rua B", "Rua A"))))
    town = town_of(trip)
    assert town.rules("From Rua A to Rua A.") == []
    assert town.rules("Via Rua A.") == ["wrong_phase"]


def test_a_trip_with_a_name_its_city_has_not_is_an_error_that_says_what_to_run():
    with pytest.raises(ContractError, match=r"'Rua Nova': .*dvc repro"):
        PORTO.inspector.evidence(
            planned_trip(phased_trip(step(["Rua Nova"]), step(["Rua Direita"])))
        )


# ---- how a name may be written -----------------------------------------------------------------


@pytest.mark.parametrize(
    "written",
    ["Rua Professor Vicente Jose de Carvalho", "rua prof. vicente josé de carvalho",
     "R. Prof. Vicente José Carvalho", "RUA PROF VICENTE JOSE DE CARVALHO"],
)  # fmt: skip
def test_case_accents_abbreviations_and_small_words_do_not_matter(written):
    assert list(PORTO.verdicts(f"Start on {written}.").values()) == ["grounded"]


def test_the_longest_name_wins():
    assert PORTO.verdicts("Along Rua do Campo Alegre.") == {"Rua do Campo Alegre": "grounded"}
    assert PORTO.verdicts("Along Rua do Campo.") == {"Rua do Campo": "off_route"}


def test_a_name_ends_where_its_word_ends():
    assert PORTO.verdicts("Along 23rd Street.") == {"23rd Street": "off_route"}
    assert PORTO.verdicts("Along 123rd Street.") == {"123rd Street": "invented"}


def test_a_name_with_more_before_it_is_another_name():
    assert PORTO.verdicts("Drive to Hotel Rua Direita.") == {"Hotel Rua Direita": "invented"}
    assert PORTO.verdicts("Along Upper Rua Direita.") == {"Upper Rua Direita": "invented"}


def test_a_name_does_not_reach_across_a_comma():
    town = town_of(porto_trip(), places=["Alepa Foz"])
    assert town.verdicts("To Café Central, Foz.") == {"Café Central": "grounded", "Foz": "grounded"}
    town = town_of(planned_trip(phased_trip(step(["Rua A"]), step(["Rua B"]))), places=["Bar, Foz"])
    assert town.verdicts("Past Bar, Foz.") == {"Bar, Foz": "off_route"}


def test_a_short_name_is_grounded_and_flagged():
    (mention,) = PORTO.mentions("Over to Direita.")
    assert (mention.verdict, mention.name, mention.method) == ("grounded", "Rua Direita", "short")
    assert PORTO.rules("Over to Direita.") == ["short_name"]


def test_the_type_of_another_name_is_no_short_name():
    assert PORTO.rules("Along Rua da Boavista.") == ["off_route_name"]  # the avenue is on the trip
    assert PORTO.rules("Along Praça da Boavista.") == ["invented_name"]


def test_a_word_for_the_kind_of_thing_is_flagged():
    (mention,) = PORTO.mentions("Over to Rua Direita Street.")
    assert (mention.text, mention.verdict, mention.method) == ("Rua Direita Street", "grounded",
                                                               "glossed")  # fmt: skip
    assert PORTO.rules("Past Hotel Dom Pedro Street.") == ["invented_name"]


def test_a_misspelt_name_is_refused_with_a_hint():
    findings = PORTO.inspect("Along Avenida da Boavistta.").findings
    assert [finding.rule for finding in findings] == ["invented_name", "near_name"]
    assert [finding.action for finding in findings] == ["reject", "flag"]
    assert "Avenida da Boavista" in findings[1].detail


def test_names_that_are_ordinary_words_need_a_capital_of_their_own():
    assert PORTO.verdicts("Stop at Rua Direita one fine day.") == {"Rua Direita": "grounded"}
    assert PORTO.verdicts("Bring me to Stop.") == {"Stop": "off_route"}


def test_marks_that_end_a_name_belong_to_it():
    trip = planned_trip(
        phased_trip(step(["Rua A"]), step(["Rua B"])), places=[place(1, "Otto (ATM)")]
    )
    (mention,) = town_of(trip).mentions("To Otto (ATM).")
    assert (mention.text, mention.start, mention.end) == ("Otto (ATM)", 3, 13)


HOSTILE = ["Bar {{ x }}", "{# Nada #}", "A & B", 'Fontaine "Joyeux"', "O'Neill's", "Le 29",
           "Café — Bar", "联华桥站", "Ponte D. Luís I", "C'est-à-dire",
           "Äiti ja lapset;Kaksi lasta", "@ Metallitalo",
           "Ångström e\u0301", "3rd", "J.F.K."]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_found_as_it_is(name):
    trip = planned_trip(phased_trip(step(["Rua A"]), step([name]), step(["Rua C"])))
    found = town_of(trip).mentions(f"We pass along {name} now.", QUERY)
    assert [(one.verdict, one.name) for one in found] == [("grounded", name)]


def test_names_without_capitals_are_found_among_letters():
    trip = planned_trip(phased_trip(step(["Rua A"]), step(["联华桥站"]), step(["永和王"])))
    town = town_of(trip, places=["万达广场"])
    assert town.verdicts("我要经过联华桥站到永和王") == {
        "联华桥站": "grounded",
        "永和王": "grounded",
    }
    assert town.verdicts("经过万达广场") == {"万达广场": "off_route"}


names = st.from_regex(r"[A-Z][a-zà-ž]{3,9}( (de|do|la) )?[A-Z][a-zà-ž]{3,9}", fullmatch=True)


@settings(deadline=None, max_examples=60)
@given(st.lists(names, min_size=4, max_size=4, unique_by=str.casefold))
def test_every_name_of_a_trip_is_grounded_and_every_other_is_not(four):
    start, way, end, other = four
    trip = planned_trip(
        phased_trip(step([f"Rua {start}"]), step([f"Rua {way}"]), step([f"Rua {end}"]))
    )
    town = town_of(trip, roads=[f"Rua {other}"])
    text = f"From Rua {start} via Rua {way} to Rua {end}."
    assert set(town.verdicts(text).values()) == {"grounded"}
    assert town.rules(f"Via Rua {other}.") == ["off_route_name"]
    assert "invented_name" in town.rules(f"Via Zzq{other}.")


# ---- phases --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("From Rua de Santa Catarina to Rua Direita.", "instruction_literal"),
        ("Trips starting on Avenida da Boavista", "retrieval_query_1"),
        ("The drive leaves Rua do Campo Alegre.", "trajectory_caption"),
        ("Take me to Avenida da Boavista.", "instruction_literal"),
        ("Drop me at Hotel Dom Pedro.", "instruction_chatty"),
        ("The drive ends near Café Norte.", "trajectory_caption"),
        ("Via Rua Direita, please.", "instruction_concise"),
        ("Trips via Café Central", "retrieval_query_2"),
        ("Stop at Café Norte.", "instruction_literal"),
        ("Past Rua de Santa Catarina, then stop at Café Norte.", "instruction_literal"),
        ("Trips from Cedofeita to Cedofeita", "retrieval_query_3"),
        ("Hotel Dom Pedro.", "instruction_concise"),
    ],
)
def test_a_name_in_the_wrong_phase_is_told(text, field):
    assert PORTO.rules(text, field) == ["wrong_phase"]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (
            "From Café Norte in Cedofeita to Café Central on Rua Direita in Foz.",
            "instruction_literal",
        ),
        ("Rua Direita via Rua de Santa Catarina, Avenida da Boavista.", "instruction_concise"),
        ("Over Rua de Santa Catarina, then Rua Direita.", "instruction_concise"),
        ("Go to Avenida da Boavista first, then Rua Direita.", "instruction_literal"),
        ("Go from Rua de Santa Catarina onto Avenida da Boavista.", "instruction_literal"),
        ("Once we're on Avenida da Boavista, let's stay there.", "instruction_chatty"),
        ("Drives between Cedofeita and Foz", "retrieval_query_1"),
        ("It follows Avenida da Boavista to Rua do Campo Alegre.", "trajectory_caption"),
        ("With Café Norte behind us, go on to Foz.", "instruction_literal"),
        ("Start: Café Norte. End: Rua Direita.", "instruction_literal"),
        ("Rua Direita, as on any other day.", "instruction_literal"),
        ("Don't leave Avenida da Boavista too early.", "instruction_chatty"),
        # What lies beside the first phase or the last is passed, too.
        ("Trips that pass Café Central", "retrieval_query_2"),
        ("The drive passes Café Norte and Hotel Dom Pedro.", "trajectory_caption"),
        ("Past Café Norte, then Rua Direita.", "instruction_concise"),
    ],
)
def test_wording_that_fits_or_leaves_it_open_is_grounded(text, field):
    assert PORTO.rules(text, field) == []


def test_with_two_phases_a_way_may_lie_in_either():
    town = town_of(planned_trip(phased_trip(step(["Rua A"]), step(["Rua B"]))))
    assert town.rules("Via Rua A to Rua B.") == []


def test_a_name_kept_off_may_be_real_but_not_driven():
    assert PORTO.rules("Avoid Rua do Sul.") == []
    assert PORTO.rules("Anything but Avenida da Boavista, please.") == ["driven_name"]
    assert PORTO.rules("Avoid Praça Zanzibar.") == ["invented_name"]


@pytest.mark.parametrize(
    "said",
    ["Avoid {}.", "Skip {}, please.", "No detour over {}!", "No detours via {} today.",
     "Please don't go down {}.", "Do not drive me along {}.", "Never turn onto {}.",
     "Without going anywhere near {}, please.", "Let's go without using {}.", "Give {} a miss.",
     "Leave {} out of it.", "Leave out {}.", "Stay out of {}.", "I don't want to see {}.",
     "We needn't cross {}.", "No shortcuts over {}.", "We won't be going down {}.",
     "Under no circumstances {}.", "Neither {} nor any bridge."],
)  # fmt: skip
def test_each_way_to_keep_off_a_road_leaves_it_undriven(said):
    assert PORTO.rules(said.format("Rua do Sul")) == []
    assert PORTO.rules(said.format("Avenida da Boavista")) == ["driven_name"]


@pytest.mark.parametrize(
    "said",
    ["Don't skip {}.", "Never avoid {}.", "You can't miss out, so don't leave out {}.",
     "Don't turn off {} too early.", "Why not go down {}?", "Not only {}, the sea as well.",
     "No, {} please.", "Couldn't we go along {}?", "Don't we go down {}?",
     "Do we have to go down {}?", "Well, why don't you take {}?", "Don't forget {}."],
)  # fmt: skip
def test_what_only_looks_like_a_refusal_keeps_to_the_road(said):
    assert PORTO.rules(said.format("Avenida da Boavista")) == []
    assert PORTO.rules(said.format("Rua do Sul")) == ["off_route_name"]


@pytest.mark.parametrize(
    "said",
    ["Rua Direita is nicer than {}.", "Don't stop at {}.", "To Rua Direita, not at {}.",
     "It's nothing like home, unlike {}.", "I can't stand {}.", "Forget {}.",
     "Rua Direita beats {}."],
)  # fmt: skip
def test_of_a_name_told_aside_nothing_is_said(said):
    assert PORTO.rules(said.format("Avenida da Boavista")) == []
    assert PORTO.rules(said.format("Rua do Sul")) == []


def test_after_a_refusal_a_name_that_follows_may_be_the_way():
    assert PORTO.rules("Not Rua do Sul, Avenida da Boavista please.") == []
    assert PORTO.rules("Avoid Rua do Sul in Foz.") == []
    assert PORTO.rules("Avoid Rua do Sul and Avenida da Boavista.") == ["driven_name"]


def test_a_name_with_another_number_is_refused_with_a_hint():
    trip = planned_trip(phased_trip(step(["Rua A"]), step(["Cais Pedro 1"]), step(["Rua C"])))
    findings = town_of(trip).inspect("Along Cais Pedro 2.").findings
    assert [finding.rule for finding in findings] == ["invented_name", "near_name"]
    assert "Cais Pedro 1" in findings[1].detail
    assert town_of(trip).rules("Along Cais Paulo 2.") == ["invented_name"]


def test_a_caption_may_tell_its_roads_from_the_first_to_the_last():
    text = ("It leaves Rua Prof. Vicente José de Carvalho, takes Rua de Santa Catarina and ends on"
            " Rua Direita.")  # fmt: skip
    assert PORTO.rules(text, CAPTION) == []


# ---- what is told of two names -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Take Rua de Santa Catarina, then Avenida da Boavista.", []),
        ("Take Avenida da Boavista, then Rua de Santa Catarina.", ["wrong_phase"]),
        ("Take Avenida da Boavista. Then take Rua de Santa Catarina.", ["wrong_phase"]),
        ("Along Avenida da Boavista before Rua de Santa Catarina.", ["wrong_phase"]),
        ("Along Rua de Santa Catarina before Avenida da Boavista.", []),
        ("Past Hotel Dom Pedro, then along Rua de Santa Catarina.", ["wrong_phase"]),
        ("Along Avenida da Boavista and Rua de Santa Catarina.", []),  # in no order
        ("Hotel Dom Pedro on Avenida da Boavista.", []),
        ("Hotel Dom Pedro on Rua de Santa Catarina.", []),  # the phase before
        ("Hotel Dom Pedro on Rua Prof. Vicente José de Carvalho.", ["wrong_phase"]),
        ("Hotel Dom Pedro right in Foz.", ["wrong_phase"]),
        ("Past Hotel Dom Pedro, on Rua de Santa Catarina first.", []),  # parted by a comma
    ],
)
def test_two_names_lie_as_the_text_tells_them(text, rules):
    assert porto().rules(text) == rules


def test_a_name_that_lies_elsewhere_than_told_is_off_route():
    verdicts = porto().verdicts("Take Avenida da Boavista, then Rua de Santa Catarina.")
    assert verdicts == {"Avenida da Boavista": "grounded", "Rua de Santa Catarina": "off_route"}


def returning() -> SmallTown:
    """Return a town whose trip ends on Rua C, to which it comes back from Rua D in one phase."""
    steps = step(["Rua B", "Rua A"]), step(["Rua M"]), step(["Rua C", "Rua D"])
    trip = phased_trip(*steps, start_road="Rua B", end_road="Rua C")
    return town_of(planned_trip(trip, places=[place(2, "Café Rio")]))


@pytest.mark.parametrize(
    ("text", "field", "rules"),
    [
        ("The drive starts on Rua B and ends on Rua C.", CAPTION, []),
        ("The drive starts on Rua B and concludes on Rua D.", CAPTION, ["wrong_phase"]),
        ("The drive starts on Rua A and ends on Rua C.", CAPTION, ["wrong_phase"]),
        ("Trips that start on Rua A.", QUERY, ["wrong_phase"]),
        ("Drop me off on Rua D.", LITERAL, ["wrong_phase"]),
        ("Drop me off on Rua C.", LITERAL, []),
        # On the way, near it, and of two roads told as one end.
        ("From Rua B it turns onto Rua A and ends at Café Rio on Rua D.", CAPTION, []),
        ("It ends near Rua D.", CAPTION, []),
        ("The drive ends on Rua D and Rua C.", CAPTION, []),
    ],
)
def test_a_trip_starts_and_ends_on_the_road_of_its_first_and_last_segment(text, field, rules):
    assert returning().rules(text, field) == rules


def test_where_the_last_segment_has_no_name_any_road_of_the_phase_may_be_meant():
    trip = phased_trip(step(["Rua A"]), step(["Rua C", "Rua D"]), end_road=None)
    assert town_of(planned_trip(trip)).rules("It ends on Rua C.", CAPTION) == []
