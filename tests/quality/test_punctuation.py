"""Marks are mended one rule at a time, names keep theirs, and what cannot be mended is refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.quality.punctuation import PUNCTUATION_RULES, faults
from pipeline.quality.rules import Rule
from tests.language.trips import phased_trip, place, planned_trip, step
from tests.quality.small_town import porto, town_of

PORTO = porto()
MENDED = [
    ("dash", "Rua Direita — now.", "Rua Direita, now."),
    ("dash", "Rua Direita – now.", "Rua Direita, now."),
    ("dash", "Rua Direita - now.", "Rua Direita, now."),
    ("dash", "Rua Direita--now.", "Rua Direita, now."),
    ("dash", "Now —", "Now"),
    ("dash", "It is 9–10 minutes.", "It is 9-10 minutes."),
    ("semicolon", "Rua Direita; now.", "Rua Direita, now."),
    ("semicolon", "Rua Direita; Now.", "Rua Direita. Now."),
    ("quotes", "To “Rua Direita” now.", "To Rua Direita now."),
    ("quotes", 'To "Rua Direita" now.', "To Rua Direita now."),
    ("quotes", "It’s now.", "It's now."),
    ("quotes", "To 'Rua Direita' now.", "To Rua Direita now."),
    ("spacing", "To  Rua Direita , now.", "To Rua Direita, now."),
    ("spacing", " To Rua Direita ", "To Rua Direita"),
    ("spacing", "To Rua Direita,now.", "To Rua Direita, now."),
    ("spacing", "We go.Then stop.", "We go. Then stop."),
    ("spacing", "Now!!", "Now!"),
    ("spacing", "To\nRua Direita", "To Rua Direita"),
    ("markup", "**Now** please.", "Now please."),
    ("markup", "Now 🚗 please.", "Now please."),
    ("markup", "<b>Now</b> please.", "Now please."),
    ("markup", "# Rua Direita", "Rua Direita"),
    ("markup", "🚗 Rua Direita, now 🚗.", "Rua Direita, now."),
    ("markup", "<p> Now </p>", "Now"),
    ("markup", "Now * please.", "Now please."),
    ("markup", "It takes ~10 min.", "It takes about 10 min."),
    ("markup", "~10 min.", "About 10 min."),
    ("markup", "It takes (~ 10 min).", "It takes (about 10 min)."),
    ("markup", "A way of ≈2 km.", "A way of about 2 km."),
    ("markup", "Roughly ~10 min.", "Roughly 10 min."),
    ("markup", "It takes ~ten minutes.", "It takes about ten minutes."),
    ("markup", "It takes 9~11 min.", "It takes 9-11 min."),
    ("markup", "~~Now~~ please.", "Now please."),
    ("quotes", 'To " Rua Direita " now.', "To Rua Direita now."),
    ("quotes", "« Now » or never.", "Now or never."),
    ("invisible", "Now \u200b please.", "Now please."),
    ("invisible", "\ufeff Now please.", "Now please."),
    ("invisible", "Now\u200b please.", "Now please."),
    ("invisible", "To \u2066Rua Direita\u2069 now.", "To Rua Direita now."),
    ("invisible", "Some\u00adwhere soon.", "Somewhere soon."),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "before", "after"), MENDED)
def test_a_mark_is_mended_and_logged_before_and_after(rule, before, after):
    found = PORTO.inspect(before)
    assert found.reading.text == after
    assert [(repair.rule, repair.before, repair.after) for repair in found.repairs] == [
        (rule, before, after)
    ]
    assert {(finding.rule, finding.action) for finding in found.findings} == {(rule, "repair")}


@pytest.mark.parametrize(
    "text",
    ["It's the drivers' way.", "Wait... what?", "Goin' home now.", "A (small) stop.",
     "3rd-floor flat.", "50 % off, or 7.5 km.", "A > B + C, w/ stop.", "On Lippu.fi it is.",
     "Really? No!"],
)  # fmt: skip
def test_sound_marks_stay(text):
    assert [hit for rule in PUNCTUATION_RULES for hit in faults(rule, text, [])] == []


@pytest.mark.parametrize("text", ["Now (or never.", "Now) or never.", "Now [or) never."])
def test_a_bracket_without_partner_is_refused(text):
    findings = PORTO.inspect(text).findings
    assert {(finding.rule, finding.action) for finding in findings} == {("brackets", "reject")}


def test_a_bracket_of_a_name_must_have_its_partner_too():
    trip = planned_trip(phased_trip(step(["Rua A"]), step(["Rua B"])),
                        places=[place(1, "Otto (ATM) Sul")])  # fmt: skip
    town = town_of(trip)
    assert town.rules("To Otto (ATM) Sul now.") == []
    assert town.rules("To Otto (ATM Sul now.") == ["brackets"]


@pytest.mark.parametrize(
    "text",
    [
        "Rua\u200bDireita now.",  # one word or two?
        "We\x00go now.",
        "We go \u202enow\u202c.",  # seen from right to left
        "We go \u202dnow.",
    ],
)
def test_an_unseen_mark_that_takes_guessing_is_refused(text):
    findings = PORTO.inspect(text).findings
    assert ("invisible", "reject") in {(finding.rule, finding.action) for finding in findings}


def test_an_unseen_mark_within_a_name_of_the_trip_is_taken_out():
    found = PORTO.inspect("To Rua Di\u00adreita now.")
    assert found.reading.text == "To Rua Direita now."
    assert [(one.text, one.verdict) for one in found.mentions] == [("Rua Direita", "grounded")]
    assert [(one.rule, one.action) for one in found.findings] == [("invisible", "repair")]


@pytest.mark.parametrize(
    "text",
    [
        "To Café S\u00adul now.",  # not on the trip
        "From Rua Di\u00adreita to Rua de Santa Catarina.",  # on the trip, at its end
        "Past Café\u2060 Sul, then Rua Di\u00adreita.",  # one is, one is not
    ],
)
def test_an_unseen_mark_within_another_name_is_not_taken_out(text):
    found = PORTO.inspect(text)
    assert found.reading.text == text
    assert "unsafe_repair" in {finding.rule for finding in found.findings}


@pytest.mark.parametrize("lost", ["\ufffd", "\ue000", "\U000f1234", "\ufdd0"])
def test_a_lost_letter_is_refused_for_nobody_can_tell_which_it_was(lost):
    found = PORTO.inspect(f"To the caf{lost} now.")
    assert {(one.rule, one.action) for one in found.findings} >= {("unreadable", "reject")}
    assert found.repairs == []


def test_several_faults_are_mended_one_rule_after_the_other():
    found = PORTO.inspect("Rua Direita — “now” ; please")
    assert found.reading.text == "Rua Direita, now, please"
    assert [repair.rule for repair in found.repairs] == ["dash", "semicolon", "quotes"]
    for one, other in zip(found.repairs, found.repairs[1:], strict=False):
        assert one.after == other.before


@pytest.mark.parametrize("name", ['Fontaine "Joyeux"', "L’orangerie", "Zegg & Cerlatti - Rolex",
                                  "Larvotto • presse", "Mada (Part of Mada One)", "T`UOMO",
                                  "F-Musiikki"])  # fmt: skip
def test_a_name_keeps_its_marks(name):
    trip = planned_trip(phased_trip(step(["Rua A"]), step(["Rua B"])), places=[place(1, name)])
    found = town_of(trip).inspect(f"Bring me to {name} — now.")
    assert found.reading.text == f"Bring me to {name}, now."
    assert [repair.rule for repair in found.repairs] == ["dash"]


@pytest.mark.parametrize(("name", "rule"), [("Bar; Grill", "semicolon"), ("Bar — Grill", "dash")])
def test_a_name_that_no_text_may_hold_refuses_the_text_unchanged(name, rule):
    trip = planned_trip(phased_trip(step(["Rua A"]), step([name])))
    found = town_of(trip).inspect(f"Bring me to {name} now.")
    assert found.reading.text == f"Bring me to {name} now."
    assert [(finding.rule, finding.action) for finding in found.findings] == [(rule, "reject")]
    assert found.repairs == []


def test_a_repair_that_would_change_a_name_is_taken_back():
    # Without its dash "Rua A - Rua B" is two roads of the city and no longer one.
    trip = planned_trip(phased_trip(step(["Rua A, Rua B"]), step(["Rua C"])))
    found = town_of(trip, roads=["Rua A", "Rua B"]).inspect("From Rua A — Rua B now.")
    assert found.reading.text == "From Rua A — Rua B now."
    assert "unsafe_repair" in {finding.rule for finding in found.findings}
    assert found.repairs == []


marks = st.text(
    st.sampled_from("ab cZ.,;:!?—–-'\"()“”’*_ 🚗<>\u200b\u00ad\u2067\u202e\u202c\ufffd\n"),
    max_size=40,
)


@settings(deadline=None)
@given(marks)
def test_what_is_not_refused_has_no_fault_left(text):
    found = PORTO.inspect(text)
    if not any(finding.action == "reject" for finding in found.findings):
        rules = [rule for rule in PUNCTUATION_RULES if faults(rule, found.reading.text, [])]
        assert rules == []


@settings(deadline=None)
@given(marks)
def test_an_inspected_text_is_mended_or_refused_and_every_change_is_logged(text):
    found = PORTO.inspect(text)
    if found.reading.text != text:
        assert found.repairs[0].before == text
        assert found.repairs[-1].after == found.reading.text
    again = PORTO.inspect(found.reading.text)
    assert again.reading.text == found.reading.text or any(
        finding.action == "reject" for finding in found.findings
    )


@pytest.mark.parametrize("text", ["???", "9:09!!", "12  34", "4:11 , 4:12"])
def test_blanks_and_marks_part_no_words_where_there_are_none(text):
    assert "spacing" not in PORTO.rules(text)


@pytest.mark.parametrize(
    "letter", [*"éèêëàâäáãåçñóôöõøúùûüíîïßÉÀÖÅÇØšžŁłčďğıš", "€", "…", "’", "“", "–", "£", "°", "½"]
)
@pytest.mark.parametrize("code", ["latin-1", "cp1252"])
def test_letters_of_a_wrong_encoding_are_unreadable(letter, code):
    try:
        misread = letter.encode().decode(code)
    except UnicodeDecodeError:  # five bytes are no letter of Windows-1252
        misread = letter.encode().decode("latin-1")
    for text in (f"The caf{misread} now.", f"Go voil{misread} go."):
        rules = PORTO.rules(text)
        assert set(rules) & {"unreadable", "unsafe_repair", "invisible"}, text


@pytest.mark.parametrize(
    "text", ["Café, déjà là.", "ÃO and SÃO are read.", "Åbo, Ähtäri, Ängö.", "Île-de-France now.",
             "Ð and Ñandú.", "It is 5 °C, ± 2.", "Âge is French.", "Ørsted and Øresund."]
)  # fmt: skip
def test_letters_of_many_tongues_are_readable(text):
    assert faults(Rule.UNREADABLE, text, []) == []


@pytest.mark.parametrize("letter", "ÁÍÏÐÝ")
@pytest.mark.parametrize("lost", ["ignore", "replace"])
def test_letters_whose_second_byte_windows_lacks_are_unreadable(letter, lost):
    misread = letter.encode().decode("cp1252", lost)
    assert "unreadable" in PORTO.rules(f"By {misread}lvaro now.")
