"""What was found in trips comes back from the disk as it was."""

from pipeline.quality.found_file import keeping, read_found
from pipeline.quality.inspection import FIELDS
from tests.quality.checked_project import annotated
from tests.quality.small_town import porto

PORTO = porto()
SAID = ("From Rua Direita — to Café Ceuta, then 東京.", "Zanzibar Plaza at 4 AM; go.", "")


def inspected(number: int):
    said = dict.fromkeys(FIELDS, SAID[number % len(SAID)])
    return PORTO.inspector.inspect(annotated(f"t{number}", **said))[0]


def test_what_was_found_comes_back_in_the_batches_it_was_kept_in(tmp_path):
    batches = [[inspected(0), inspected(1)], [], [inspected(2)]]
    assert any(one.mentions and one.claims and one.findings for one in batches[0])
    with keeping(tmp_path / "found") as keep:
        for batch in batches:
            keep(batch)
    assert list(read_found(tmp_path / "found")) == batches


def test_the_file_of_no_trips_has_none(tmp_path):
    with keeping(tmp_path / "found"):
        pass
    assert list(read_found(tmp_path / "found")) == []
