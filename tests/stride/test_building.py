"""The stages that build and score a benchmark, run one after another on one drawn place."""

import json
import shutil
from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest
from PIL import Image

from pipeline import __main__ as command_line
from pipeline.artifacts import ARTIFACTS
from pipeline.errors import ParameterError
from pipeline.language.ledger import Ledger
from pipeline.language.plan import asking_function
from pipeline.language.prompts import PROMPTS
from pipeline.params import CityEntry, section_of
from pipeline.runner import stage_function, stage_named
from pipeline.store import StageIO
from pipeline.stride import construction
from pipeline.stride.maps import maps_frame, maps_of
from pipeline.stride.maps_stage import MapSettings
from pipeline.stride.patterns import FOLDER
from pipeline.stride.review import export_list, read_verdicts
from pipeline.stride.scenario_records import scenarios_of
from pipeline.stride.scenarios import ScenarioSettings, dealt
from pipeline.stride.simulate import SimulateSettings
from pipeline.stride.specs import SpecSettings
from pipeline.stride.stories import bank
from pipeline.tables import write_table
from tests.stride.places import plaza

ROOT = FOLDER.parents[1]
TOTAL = 14


def section(name: str, kind: object):
    return section_of(ROOT / "params.yaml", name, kind)


def arguments() -> dict[str, dict]:
    scenarios = msgspec.structs.replace(section("stride_scenarios", ScenarioSettings), total=TOTAL)
    maps = MapSettings(0.5, {"toy": []}, [])
    return {
        "stride_maps": {"cities": {"toy": CityEntry("x")}, "stride_maps": maps},
        "stride_scenarios": {"seed": 7, "stride_scenarios": scenarios},
        "stride_specs": {"stride_specs": section("stride_specs", SpecSettings)},
        "stride_lint": {},
        "stride_simulate": {
            "seed": 7, "stride_simulate": section("stride_simulate", SimulateSettings),
        },
        "stride_score": {"seed": 7},
    }  # fmt: skip


def run(root: Path, name: str, **given: object) -> None:
    stage = stage_named(name)
    with StageIO(stage, city=None, root=root, ledger=root / "ledger") as io:
        stage_function(stage)(io, **(arguments()[name] | given))


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("stride")
    cut = ARTIFACTS["stride_cut_maps"]
    file = root / "data/stride/cut/toy.parquet"
    write_table(maps_frame([plaza().record]), file, cut, shown="toy")
    for name in arguments():
        run(root, name)
    return root / "data" / "stride"


@pytest.mark.parametrize("name", ["stride_scenarios", "stride_specs"])
def test_what_a_stage_says_it_asks_is_what_it_has_asked(built, name):
    root, stage = built.parents[1], stage_named(name)
    given = {key: value for key, value in arguments()[name].items() if key == name}
    io = StageIO(stage, city=None, root=root)
    (asking,) = asking_function(stage)(io, prompts=PROMPTS, **given)
    asked = list(asking.requests())
    with Ledger(root / "ledger") as ledger:
        states = ledger.states(request.key for request in asked)
    assert len(asked) >= TOTAL
    assert all(states[request.key].ok for request in asked)
    assert {request.task for request in asked} == {asking.task}


def record(built: Path, name: str) -> dict:
    return json.loads((built / name).read_text("utf-8"))


def test_every_kind_of_crowd_has_its_share_and_nothing_is_lost(built):
    mine = arguments()["stride_scenarios"]["stride_scenarios"]
    quotas = dealt(TOTAL, mine.quotas, list(bank().categories))
    scenarios = scenarios_of(pl.read_parquet(built / "scenarios.parquet"))
    rejected = pl.read_parquet(built / "rejected/stride_scenarios.parquet")
    figures = record(built, "metrics/scenarios.json")
    assert figures["by_category"] == {code: n for code, n in sorted(quotas.items()) if n}
    assert len(scenarios) + rejected.height == figures["asked"]
    assert not set(rejected["item_id"]) & {one.scene_id for one in scenarios}


def test_every_scenario_is_specified_and_released(built):
    lint, bench = record(built, "metrics/lint.json"), record(built, "benchmark.json")
    assert lint["errors"] == 0
    assert lint["released"] == lint["scenarios"] == bench["n_scenes"] == TOTAL
    assert min(len(scene["questions"]) for scene in bench["scenes"]) >= 5


def test_the_social_force_model_is_far_above_who_reads_nothing(built):
    means = {
        row["generator"]: row["mean"] for row in record(built, "metrics/scores.json")["generators"]
    }
    assert means["social_force"] > means["goal_walkers"] > max(
        means[name] for name in ("stop", "random", "straight")
    ) + 0.3  # fmt: skip
    assert max(means[name] for name in ("stop", "random", "straight")) < 0.45


def test_nobody_of_the_social_force_model_is_in_a_wall_or_jumps(built):
    rows = record(built, "metrics/scores.json")["generators"]
    for row in rows:
        if row["generator"] in {"social_force", "goal_walkers"}:
            assert row["physical"]["obstacle_penetration"] < 0.002
            assert row["physical"]["teleport_fraction"] == 0


def test_published_means_are_citations_in_a_list_of_their_own(built):
    scores = record(built, "metrics/scores.json")
    assert {row["generator"] for row in scores["generators"]} == {
        "social_force", "goal_walkers", "straight", "random", "stop",
    }  # fmt: skip
    assert all("Table 1" in row["source"] for row in scores["published"])
    table = (built / "metrics/scores.md").read_text("utf-8")
    ours, theirs = table.split("As published")
    assert "social_force" in ours
    assert "Text-Crowd" not in ours
    assert "Text-Crowd | 0.645 ± 0.233" in theirs


def test_the_picture_shows_map_and_answers(built):
    with Image.open(built / "plots/example.png") as picture:
        width, height = picture.size
        panel = np.asarray(picture)[:, 800:]
    assert (width, height) == (800 + 620, 720 + 66)  # panel beside it, legend below
    assert (panel < 250).any()


def test_a_second_run_gives_the_same_bytes(built, tmp_path):
    shutil.copytree(built, tmp_path / "data/stride")
    for name in ("stride_scenarios", "stride_specs", "stride_lint", "stride_simulate"):
        run(tmp_path, name)
    again = tmp_path / "data/stride"
    files = ["scenarios.parquet", "specs.parquet", "benchmark.json", "lint.json"]
    files += [
        str(file.relative_to(built)) for file in sorted(built.glob("trajectories/*/*/sim.npz"))[:6]
    ]
    for name in files:
        assert (again / name).read_bytes() == (built / name).read_bytes(), name


def test_a_text_that_people_dropped_is_kept_out_with_their_note(built, tmp_path, monkeypatch):
    scenarios = scenarios_of(pl.read_parquet(built / "scenarios.parquet"))
    export_list(scenarios, tmp_path / "verdicts.csv")
    lines = (tmp_path / "verdicts.csv").read_text("utf-8").splitlines()
    lines[1] = lines[1].replace(",,,", ",drop,seen before,", 1)
    (tmp_path / "verdicts.csv").write_text("\n".join(lines) + "\n", "utf-8")
    verdicts = read_verdicts(tmp_path / "verdicts.csv")
    monkeypatch.setattr("pipeline.stride.scenarios.read_verdicts", lambda: verdicts)
    shutil.copytree(built, tmp_path / "data/stride")
    run(tmp_path, "stride_scenarios")
    rejected = pl.read_parquet(tmp_path / "data/stride/rejected/stride_scenarios.parquet")
    mine = rejected.filter(pl.col("item_id") == scenarios[0].scene_id).to_dicts()
    assert [(one["reason"], one["detail"]) for one in mine] == [("manual", "seen before")]
    after = scenarios_of(pl.read_parquet(tmp_path / "data/stride/scenarios.parquet"))
    assert len(after) == TOTAL  # a spare one came in


def test_places_of_a_city_that_is_not_listed_make_no_map_and_that_is_said(built, tmp_path, capsys):
    shutil.copytree(built, tmp_path / "data/stride")
    run(tmp_path, "stride_maps", stride_maps=MapSettings(0.5, {"toy": [], "atlantis": []}, []))
    assert capsys.readouterr().err.splitlines() == [
        "stride_maps: atlantis is not under `cities:` of params.yaml; its places make no map"
    ]
    again = tmp_path / "data/stride/maps.parquet"
    assert again.read_bytes() == (built / "maps.parquet").read_bytes()


def test_without_a_place_and_a_picture_there_is_nothing_to_build_on(built, tmp_path):
    write_table(
        maps_frame([]), tmp_path / "data/stride/cut/toy.parquet", ARTIFACTS["stride_cut_maps"],
        shown="toy",
    )  # fmt: skip
    with pytest.raises(ParameterError, match="expected at least one place or picture, found none"):
        run(tmp_path, "stride_maps")


def test_maps_are_put_together_with_files_for_others(built):
    maps = maps_of(pl.read_parquet(built / "maps.parquet"))
    assert [one.map_id for one in maps] == ["toy_plaza"]
    assert sorted(file.name for file in (built / "maps/toy_plaza").iterdir()) == [
        "map.npz", "map.png",
    ]  # fmt: skip


# ---- the commands


@pytest.fixture
def project(built, tmp_path, monkeypatch) -> Path:
    """Stand in a project with this benchmark."""
    shutil.copytree(built, tmp_path / "data/stride")
    shutil.copy(ROOT / "params.yaml", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_compile_turns_a_text_into_a_benchmark_of_one(project, capsys):
    text = "A tour group follows its guide from Market over the square to the House."
    command = ["stride", "compile", "--text", text, "--people", "25", "--map", "toy_plaza"]
    assert command_line.main([*command, "--out", "open.json"]) == 0
    told = capsys.readouterr().out
    assert text in told
    assert "Q1 V: Does the group walk at an easy pace, the same pace for all?" in told
    assert "mean_speed 0.8 to 1.5, tolerance" in told
    assert "flow_alignment 0.8 or more, tolerance" in told
    assert "directional_entropy_normalized 0.55 or less, tolerance" in told
    scene = json.loads((project / "open.json").read_text("utf-8"))["scenes"][0]
    assert scene["description"] == text
    assert scene["n_agents"] == 25
    assert command_line.main(["stride", "lint", "open.json"]) == 0


def test_compile_prints_json_with_what_the_linter_finds(project, capsys):
    text = "People wait in line at the counter until they are served."
    assert command_line.main(["stride", "compile", "--text", text, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["benchmark"]["n_scenes"] == 1
    assert document["findings"] == []


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--text", "It rains."], "found none of them; patterns are crossing, stream"),
        (["--text", "x", "--pattern", "moonwalk"], "--pattern: expected one of crossing"),
        *(
            (["--text", "A queue.", "--people", people], "--people: expected 1 to 2000, found ")
            for people in ("0", "-5", "2001")
        ),
        *(
            (["--text", "A queue.", "--seconds", s], "--seconds: expected above 0 and at most 3600")
            for s in ("0", "-1", "nan", "inf", "3601")
        ),
        (["--text", "A queue.", "--map", "nowhere"], "--map: expected one of toy_plaza"),
    ],
)
@pytest.mark.usefixtures("project")
def test_what_cannot_be_compiled_is_one_line(more, words, capsys):
    assert command_line.main(["stride", "compile", *more]) == 1
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_a_text_is_compiled_outside_a_project_with_what_lies_beside_the_program(
    project, tmp_path, monkeypatch, capsys
):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setattr(construction, "_HOME", project)
    text = "A queue at the counter."
    assert command_line.main(["stride", "compile", "--text", text, "--map", "toy_plaza"]) == 0
    assert text in capsys.readouterr().out
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_inputs_for_others_cover_the_benchmark(project, capsys):
    assert command_line.main(["stride", "inputs", "given"]) == 0
    assert f"{TOTAL} scenarios" in capsys.readouterr().out
    assert len(list((project / "given").glob("*/scene.json"))) == TOTAL


def test_the_review_list_has_every_text(project, capsys):
    assert command_line.main(["stride", "review", "export", "list.csv"]) == 0
    assert f"{TOTAL} texts" in capsys.readouterr().out
    assert len((project / "list.csv").read_text("utf-8").splitlines()) == TOTAL + 1


def test_walks_by_command_are_those_of_the_stage(project, capsys):
    walks = project / "data/stride/trajectories/goal_walkers"
    one, other = sorted(folder.name for folder in walks.iterdir())[:2]
    command = ["stride", "walk", "goal_walkers", "--out", "walks"]
    assert command_line.main([*command, "--scenario", one, "--scenario", other]) == 0
    assert "wrote walks: 2 walks" in capsys.readouterr().out
    for scene in (one, other):
        made = (project / "walks" / scene / "sim.npz").read_bytes()
        assert made == (walks / scene / "sim.npz").read_bytes()
    assert command_line.main([*command, "--scenario", "none"]) == 1
    assert "--scenario: expected ids of" in capsys.readouterr().err


def test_our_own_walks_are_scored_by_the_ordinary_command(project, capsys):
    assert command_line.main([
        "stride", "score", "--benchmark", "data/stride/benchmark.json",
        "--states", "data/stride/trajectories/social_force", "--maps", "data/stride/maps",
        "--out", "report.json",
    ]) == 0  # fmt: skip
    rows = record(project / "data/stride", "metrics/scores.json")["generators"]
    ours = next(row for row in rows if row["generator"] == "social_force")
    report = json.loads((project / "report.json").read_text("utf-8"))
    assert report["mean_scene_score"] == pytest.approx(ours["mean"], abs=1e-4)


def test_without_a_benchmark_the_command_says_what_to_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert command_line.main(["stride", "inputs", "given"]) == 1
    assert "run `dvc repro stride_score`" in capsys.readouterr().err
