"""The command seed: which trips are asked about, what becomes an example, what is refused."""

import json
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ModelError, ParameterError, SourceError
from pipeline.language.annotate import AnnotateSettings, AnnotationRequests
from pipeline.language.ledger import Ledger
from pipeline.language.prompts import PROMPTS
from pipeline.language.seeding import drawn_trips, more_seeds, print_seeding
from pipeline.language.shots import SEEDS, read_seeds
from pipeline.params import Parameters
from tests.language.asked_project import TEMPLATE, AskedProject, nine, trip_called

IDS = [f"t{n}" for n in range(6)]


@pytest.fixture
def project(tmp_path):
    """Six trips, all of which the recorded engine can tell; the prompts lie in the project."""
    made = AskedProject(tmp_path, [[trip_called(one) for one in IDS]])
    shutil.copytree(PROMPTS, tmp_path / "prompts")
    record(made, {item: nine(item) for item in IDS})
    return made


def record(project, answers: dict[str, str]) -> None:
    settings = Parameters(project.root).section("seeding", AnnotateSettings)
    asker = AnnotationRequests(project.root / "prompts", settings)
    requests = {one.trip_id: asker.request(one)[0] for shard in project.trips for one in shard}
    project.record(requests, {item: [text, text] for item, text in answers.items()})


def file_of(project):
    return project.root / "prompts/annotate" / SEEDS / "toy.jsonl"


def told_trips(seeding) -> list[str]:
    return [seed.trip.trip_id for seed in seeding.seeds]


def test_new_examples_come_at_the_end_of_the_citys_file_under_the_next_numbers(project):
    others = read_seeds(file_of(project).parent)
    seeding = more_seeds(project.root, "toy", n=2, dry_run=False)
    assert [seed.seed_id for seed in seeding.seeds] == ["toy-01", "toy-02"]
    before = file_of(project).read_text("utf-8")
    record(project, {item: nine(item) for item in IDS})
    more = more_seeds(project.root, "toy", n=1, dry_run=False)
    assert [seed.seed_id for seed in more.seeds] == ["toy-03"]
    assert file_of(project).read_text("utf-8").startswith(before)
    assert len(read_seeds(file_of(project).parent)) == len(others) + 3
    for seed in seeding.seeds:
        assert seed.answer.instruction_literal == f"instruction_literal tells {seed.trip.trip_id}"
    assert [path.name for path in file_of(project).parent.glob(".*")] == []


def test_trips_that_are_examples_already_are_not_drawn_again(project):
    first = more_seeds(project.root, "toy", n=4, dry_run=False)
    record(project, {item: nine(item) for item in IDS})  # the new examples are no shots here
    second = more_seeds(project.root, "toy", n=4, dry_run=False)
    assert [seed.seed_id for seed in second.seeds] == ["toy-05", "toy-06"]
    assert sorted(told_trips(first) + told_trips(second)) == IDS


def test_a_dry_run_prints_the_examples_and_leaves_the_file(project, capsys):
    seeding = more_seeds(project.root, "toy", n=2, dry_run=True)
    print_seeding(seeding, dry_run=True)
    assert not file_of(project).exists()
    printed = capsys.readouterr()
    lines = [json.loads(line) for line in printed.out.strip().split("\n")]
    assert [line["seed_id"] for line in lines] == ["toy-01", "toy-02"]
    assert "2 examples would be added, 0 refused" in printed.err


def test_the_answers_of_a_dry_run_are_reused(project):
    dry = more_seeds(project.root, "toy", n=3, dry_run=True)
    (project.root / "recorded.jsonl").unlink()
    assert told_trips(more_seeds(project.root, "toy", n=3, dry_run=False)) == told_trips(dry)


def test_an_answer_that_breaks_the_rules_of_examples_is_refused(project, capsys):
    record(project, {item: nine(item, instruction_chatty="Well; go.") for item in IDS})
    seeding = more_seeds(project.root, "toy", n=2, dry_run=False)
    assert seeding.seeds == []
    assert len(seeding.refused) == 2
    assert all("$.answer.instruction_chatty" in fault for fault in seeding.refused.values())
    print_seeding(seeding, dry_run=False)
    assert "0 examples added to prompts/annotate/seeds, 2 refused" in capsys.readouterr().err


def test_a_request_without_a_good_answer_is_refused(project):
    record(project, dict.fromkeys(IDS, "Sure!"))
    seeding = more_seeds(project.root, "toy", n=1, dry_run=False)
    (fault,) = seeding.refused.values()
    assert fault.startswith("malformed: no JSON")


def test_answers_lie_in_the_ledger_even_if_too_many_failed(project):
    project.set("seeding", most_failed_share=0.1)
    record(project, dict.fromkeys(IDS, "Sure!"))
    with pytest.raises(ModelError, match="seed toy: expected at most"):
        more_seeds(project.root, "toy", n=2, dry_run=False)
    with Ledger(project.root / "store") as ledger:
        assert sum(len(batch) for batch in ledger.stored()) == 4


def test_the_template_engine_writes_no_examples(project):
    project.set("seeding", engine=TEMPLATE)
    with pytest.raises(ParameterError, match=r"seeding\.engine: expected a model"):
        more_seeds(project.root, "toy", n=1, dry_run=False)


def test_without_planned_trips_the_command_that_makes_them_is_told(project):
    shutil.rmtree(project.path("planned"))
    with pytest.raises(SourceError, match="run `dvc repro plan_intents@toy`"):
        more_seeds(project.root, "toy", n=1, dry_run=False)


@given(st.permutations(IDS), st.integers(0, 8))
def test_the_draw_depends_on_no_order_and_more_of_it_keeps_the_first(order, n):
    trips = {one: trip_called(one) for one in IDS}
    drawn = drawn_trips((trips[one] for one in order), (), n=n, seed=7)
    every = drawn_trips(iter(trips.values()), (), n=6, seed=7)
    assert drawn == every[:n]


def test_another_seed_draws_other_trips():
    trips = [trip_called(f"t{n}") for n in range(50)]
    first, second = (drawn_trips(iter(trips), (), n=10, seed=seed) for seed in (7, 8))
    assert first != second
