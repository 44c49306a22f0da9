"""`qc-text` holds one sentence against a trip and says what would become of it."""

import json

import msgspec
import pytest

from pipeline.__main__ import main
from pipeline.errors import PipelineError
from pipeline.quality.qc_command import check_sentence
from tests.quality.checked_project import CheckedProject
from tests.quality.small_town import LITERAL, porto_trip

TRIP = porto_trip().trip_id


@pytest.fixture
def root(tmp_path):
    project = CheckedProject(tmp_path, [[]])
    project.put("planned", [msgspec.to_builtins(porto_trip())], "part-00000.parquet")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "verdict", "reasons"),
    [
        ("Take Avenida da Boavista to Café Central.", "pass", []),
        ("Take Avenida da Boavista — then Rua Direita.", "repair", []),
        ("Take Rua do Sul to Rua Inventada.", "reject", ["off_route_name", "invented_name"]),
        ("Past a dentist to Café Central.", "reject", ["not_borne_out"]),
        ("I'm 20 minutes late.", "pass", []),  # nobody can tell, and that is said
        ("请带我去码头", "reject", ["not_english"]),
        ("Go. " * 3000, "reject", ["too_long"]),
        ("Be there by 25:70.", "reject", ["impossible_time"]),
        ("Go \u202enow\u202c.", "reject", ["invisible"]),
        ("Go\u200b now.", "repair", []),
        ("Take Avenida da Boavista (then Rua Direita.", "reject", ["brackets"]),
    ],
)
def test_a_sentence_passes_is_mended_or_refused(root, text, verdict, reasons):
    said = check_sentence(root, "toy", TRIP, field=LITERAL, text=text)
    assert (said["verdict"], said["reasons"]) == (verdict, reasons)


def test_every_name_comes_with_its_evidence(root):
    said = check_sentence(root, "toy", TRIP, field=LITERAL, text="To Café Central.")
    (mention,) = said["mentions"]
    assert (mention["start"], mention["end"], mention["phase"]) == (3, 15, 4)
    assert (mention["verdict"], mention["id"]) == ("grounded", "4/Café Central")
    assert mention["lon"] is not None


@pytest.fixture
def command(root, capsys, monkeypatch):
    """Return what runs the command in the project; it returns the exit code and what it prints."""
    monkeypatch.chdir(root)

    def run(*options: str) -> tuple[int, str]:
        code = main(["qc-text", "toy", TRIP, "--field", LITERAL, *options])
        return code, capsys.readouterr().out

    return run


def test_the_command_prints_json_and_ends_with_one_when_refused(command):
    code, out = command("--text", "Via Rua do Sul.", "--json")
    said = json.loads(out)
    assert (code, said["verdict"], said["reasons"]) == (1, "reject", ["off_route_name"])
    assert command("--text", "To Café Central.", "--json")[0] == 0


def test_the_command_prints_lines_for_people(command):
    _, out = command("--text", "North on Rua do Sul — then Café Central.")
    assert out.splitlines() == [
        "reject: off_route_name",
        "  mended   North on Rua do Sul, then Café Central.",
        "  name     Rua do Sul -> off_route (road, 7:1:2, -8.60000,41.10000)",
        "  name     Café Central -> grounded (place, phase 4, 4/Café Central, -8.61000,41.15000)",
        "  claim    North [direction] -> unverified",
        "  reject   off_route_name: Rua do Sul: in the city, not on this trip",
        "  flag     unverified: direction 'North'; rules: unclear",
        "  repair   dash: ' — '",
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"city": "nowhere"}, "nowhere"),
        ({"trip_id": "t9"}, "trip 't9': expected a planned trip of toy, found none"),
        ({"field": "caption"}, "--field: expected one of .*, found 'caption'"),
        ({"text": " "}, "--text: expected a sentence, found none"),
        ({"text": "caf\udce9"}, "--text: expected UTF-8, found bytes that are none"),
    ],
)
def test_a_wrong_argument_is_one_line(root, changes, message):
    asked = {"city": "toy", "trip_id": TRIP, "field": LITERAL, "text": "Go."} | changes
    with pytest.raises(PipelineError, match=message) as fault:
        check_sentence(root, asked["city"], asked["trip_id"], field=asked["field"],
                       text=asked["text"])  # fmt: skip
    assert "\n" not in str(fault.value)


def test_a_missing_table_names_what_makes_it(root):
    (root / "data/toy/roads.parquet").unlink()
    with pytest.raises(PipelineError, match=r"roads.parquet: expected this table"):
        check_sentence(root, "toy", TRIP, field=LITERAL, text="Go.")
