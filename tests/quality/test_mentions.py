"""What looks like a name and is none of the city is told by its capitals, with care."""

import pytest

from tests.language.trips import phased_trip, planned_trip, step
from tests.quality.small_town import CAPTION, LITERAL, QUERY, porto, porto_trip, town_of

PORTO = porto()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Head to Zanzibar.", "Zanzibar"),
        ("Zanzibar, please.", "Zanzibar"),
        ("Zanzibar. Now.", "Zanzibar"),
        ("Dest: Zanzibar. Fast.", "Zanzibar"),
        ("Take Golden Gate Bridge.", "Golden Gate Bridge"),
        ("At 7 PM take Golden Gate Bridge.", "Golden Gate Bridge"),
        ("By Station Road, please.", "Station Road"),
        ("Past Church of Saint Nicholas.", "Church of Saint Nicholas"),
        ("Into Rua do Vento Norte.", "Rua do Vento Norte"),
        ("Towards Pier 39 and on.", "Pier 39"),
        ("ZANZIBAR NOW PLEASE", "ZANZIBAR"),
        ("Drive To Zanzibar And Wait", "Zanzibar"),
        ("Straight to Victory.", "Victory"),
        ("To Ponte D, quickly.", "Ponte D"),
    ],
)
def test_an_unknown_name_is_found_whole(text, name):
    assert PORTO.verdicts(text) == {name: "invented"}


@pytest.mark.parametrize(
    "text",
    [
        "Meandering along is fine.",
        "Honestly, I don't mind.",
        "Hey driver, I'm off, OK?",
        "On Monday, Jun 2, at 4 PM it is.",
        "From point A to point B.",
        "An Italian place, or Thai food.",
        "Head NW, then SE-bound.",
        "HURRY UP AND GO FAST",
        "Go To The Park And Wait There",
        "I'd love an ATM, ASAP. Thx!",
        "Left, right, whatever. Fine. Now.",
        "Pref lively streets. Dep 7 PM. Hdg E.",
    ],
)
def test_other_capitals_are_no_names(text):
    assert PORTO.mentions(text) == []
    assert not any(one.kind == "name" for one in PORTO.inspect(text).claims)


@pytest.mark.parametrize(
    ("text", "words"),
    [("Along the Park then.", "Park"), ("Through Old Town.", "Old Town"),
     ("Near Main Street.", "Main Street"), ("Wobbling along is fine.", "Wobbling")],
)  # fmt: skip
def test_where_neither_list_nor_place_tells_the_words_stay_open(text, words):
    found = PORTO.inspect(text)
    assert found.mentions == []
    assert [(one.text, one.verdict) for one in found.claims if one.kind == "name"] == [
        (words, "unverified")
    ]


def test_small_letters_are_enough_for_a_road_but_not_for_a_place_of_one_word():
    assert PORTO.verdicts("via avenida da boavista pls") == {"avenida da boavista": "grounded"}
    assert PORTO.verdicts("what a day for a stop") == {}


def test_a_possessive_is_no_part_of_a_name():
    assert PORTO.verdicts("Near Café Central's door.") == {"Café Central": "grounded"}


@pytest.mark.parametrize(
    "text",
    ["My Volvo can wait.", "Take our Toyota Corolla in.", "Hey Siri, let's go.", "Hi Marco!",
     "Thanks, Pekka!", "My friend Marta waits there.", "Aunt Liisa Virtanen lives there.",
     "Call me Max. Go.", "TGIF! Go.", "XOXO!", "Mum swears by it.", "According to plan.",
     "Pick up Anna, then go on.", "Say hi to Pekka.", "Marie is waiting.", "Happy New Year!",
     "Bypassing it all.", "Grant me one wish.", "Emmenez-moi.", "Miami it isn't.",
     "This is no Paris, I know.", "Marco, take me home.", "Siri, hurry.", "Alexa, go on.",
     "I'm meeting Zanzi.", "Lunch with Zanzi, then on.", "We met Zanzi there.", "Uncle Bob waits.",
     "Ask Zanzi, it's quicker.", "I love Finland.", "My first day in Estonia.",
     "Visiting from Sweden, just drive.", "Welcome to Finland.", "Portugal is warm."],
)  # fmt: skip
def test_a_capital_of_a_person_a_belonging_or_a_cry_is_no_place(text):
    found = PORTO.inspect(text)
    assert found.mentions == []
    assert not any(one.kind == "name" for one in found.claims)


@pytest.mark.parametrize(
    ("text", "name"),
    [("To my Zanzibar, please.", "Zanzibar"), ("To our Zanzibar Hotel.", "Zanzibar Hotel"),
     ("Sorry, Zanzibar then.", "Zanzibar"), ("Hello, Zanzibar please.", "Zanzibar"),
     ("Zanzibar! And fast.", "Zanzibar"), ("Take me to Miami.", "Miami"),
     ("Miami, please.", "Miami"), ("Past Baby World.", "Baby World"),
     ("To Anna, please.", "Anna"), ("Along Anna.", "Anna"), ("Anna, please.", "Anna"),
     ("Past Anna Zanzi.", "Anna Zanzi"), ("Marco, please.", "Marco"),
     ("Meeting at Zanzi.", "Zanzi"), ("I'm meeting them past Zanzi.", "Zanzi"),
     ("Lunch with Zanzi Hotel folks.", "Zanzi Hotel"), ("With Zanzi on the left.", "Zanzi"),
     ("Drive to Finland.", "Finland"), ("Past Estonia, please.", "Estonia"),
     ("Sweden, please.", "Sweden"),
     ("To Madame Zanzi Hotel.", "Madame Zanzi Hotel")],
)  # fmt: skip
def test_a_place_one_can_go_to_is_still_a_name(text, name):
    assert PORTO.verdicts(text) == {name: "invented"}


def test_a_place_that_is_a_saying_too_is_meant_where_one_goes_there():
    town = town_of(porto_trip(), places=["Paradise"])
    assert town.verdicts("Paradise, this road.") == {}
    assert town.verdicts("Paradise!") == {}
    assert town.verdicts("To Paradise.") == {"Paradise": "off_route"}
    assert town.verdicts("Paradise, please.") == {"Paradise": "off_route"}


@pytest.mark.parametrize(
    ("text", "verdict"),
    [("Lunch at padaria zanzi.", "invented"), ("We go chez ginette first.", "invented"),
     ("Near trattoria bella, please.", "invented")],
)  # fmt: skip
def test_a_foreign_kind_of_place_makes_a_name_in_small_letters(text, verdict):
    assert list(PORTO.verdicts(text).values()) == [verdict]


@pytest.mark.parametrize(
    "text",
    ["We go chez moi.", "Past a hotel nearby.", "The hotel lobby is fine.", "A cafe on the way.",
     "Any brasserie.", "The restaurant and then home."],
)  # fmt: skip
def test_a_kind_of_place_before_an_ordinary_word_names_nothing(text):
    found = PORTO.inspect(text)
    assert found.mentions == []
    assert not any(one.kind == "name" for one in found.claims)


HELSINKI = town_of(
    planned_trip(phased_trip(step(["Annankatu"]), step(["Bergkatu"]))), roads=["Rue Un", "Rue Deux"]
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("via rue du lac bleu to the end", "rue du lac bleu"),
        ("Take rue zanzibar, then turn.", "rue zanzibar"),
        ("along rue de la gare and on", "rue de la gare"),
        ("rue des oliviers", "rue des oliviers"),
        ("Along mäkelä street to the end.", "mäkelä street"),
        ("It goes on vento road for a while.", "vento road"),
        ("take mäkelänkatu to the end", "mäkelänkatu"),
        ("siltasarenkatu, please", "siltasarenkatu"),
    ],
)
@pytest.mark.parametrize("field", [CAPTION, QUERY, LITERAL])
def test_a_word_for_streets_makes_a_name_in_small_letters(text, name, field):
    assert HELSINKI.verdicts(text, field) == {name: "invented"}


@pytest.mark.parametrize(
    "text",
    ["Along the quiet street.", "Past a cobbled street.", "On a busy road, then a leafy lane.",
     "From main street.", "The rue is long.", "Any rue will do.", "Rue the day!", "My nyckelkatu.",
     "Take the next street.", "Down narrow lane.", "Along rua do vento.", "Via avenida azul."],
)  # fmt: skip
def test_a_word_for_streets_of_this_city_or_english_with_ordinary_words_is_no_name(text):
    assert HELSINKI.mentions(text) == []


def test_a_street_of_the_city_in_small_letters_is_that_street():
    assert HELSINKI.verdicts("along annankatu to bergkatu") == {
        "annankatu": "grounded", "bergkatu": "grounded",
    }  # fmt: skip
    assert HELSINKI.verdicts("via rue deux") == {"rue deux": "off_route"}


def test_a_kind_that_english_shares_leaves_a_name_in_small_letters_open():
    found = PORTO.inspect("Past hotel zanzi, please.")
    assert found.mentions == []
    assert [one.text for one in found.claims if one.kind == "name"] == ["hotel zanzi"]


def test_a_first_word_of_another_script_stays_open():
    found = PORTO.inspect("Отвезите меня to Rua Direita.")
    assert [one.text for one in found.mentions] == ["Rua Direita"]
    assert [one.text for one in found.claims if one.kind == "name"] == ["Отвезите меня"]


def test_an_empty_text_names_nothing():
    assert PORTO.inspect("").mentions == []
    assert PORTO.inspect("...").mentions == []


@pytest.mark.parametrize(
    "text", ["Rua \u0301 Direita.", "\u0301", "Rua Direita \u0301 phase \u0301 one."]
)
def test_an_accent_without_a_letter_is_a_word_like_any_other(text):
    assert PORTO.inspect(text).reading.text == text


@pytest.mark.parametrize(
    ("text", "name"),
    [("Along North Rua Direita.", "North Rua Direita"),
     ("Via Upper Rua Direita.", "Upper Rua Direita"),
     ("Along the West Rua Direita.", "West Rua Direita"),
     ("South Café Central!", "South Café Central"),
     ("Over 12th Rua Direita.", "12th Rua Direita"), ("To 2nd Café Central.", "2nd Café Central"),
     ("Past Porto Central Station.", "Porto Central Station"),
     ("Past the Porto Market Hall.", "Porto Market Hall"), ("By Foz Park.", "Foz Park"),
     ("To Foz City Hall, please.", "Foz City Hall"),
     ("Over Rua Direita Bridge.", "Rua Direita Bridge"),
     ("Round Avenida da Boavista Roundabout.", "Avenida da Boavista Roundabout")],
)  # fmt: skip
def test_words_beside_a_known_name_may_make_it_another(text, name):
    assert PORTO.verdicts(text) == {name: "invented"}


@pytest.mark.parametrize(
    ("text", "name"),
    [("Head North, Rua Direita it is.", "Rua Direita"), ("Going East Rua Direita.", "Rua Direita"),
     ("On the 12th Rua Direita.", "Rua Direita"), ("On June 12th Rua Direita.", "Rua Direita"),
     ("North Porto, please.", "Porto"), ("Downtown Porto.", "Porto"), ("Central Foz.", "Foz"),
     ("The Foz Area, then.", "Foz"), ("Old Porto.", "Porto")],
)  # fmt: skip
def test_other_words_beside_a_known_name_leave_it_what_it_is(text, name):
    assert PORTO.verdicts(text) == {name: "grounded"}


def test_a_bridge_of_its_own_name_is_only_told_what_it_is():
    steps = (step(["Rua A"]), step(["Pitkäsilta"]), step(["Ponte Nova"]), step(["Rua C"]))
    town = town_of(planned_trip(phased_trip(*steps)))
    assert town.rules("Over Pitkäsilta Bridge.") == ["glossed_name"]
    assert town.rules("Over Ponte Nova Bridge.") == ["glossed_name"]
    assert town.rules("Over Pitkäsilta Tunnel.") == ["invented_name"]
