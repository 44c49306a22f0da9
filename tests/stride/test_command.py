"""The command line: what a person types, what comes out, and one line when something is wrong."""

import csv
import json

import numpy as np
import pytest

from pipeline import __main__ as command_line
from pipeline.schemas import check_record, schema_document
from pipeline.stride.importers.states import write_states
from pipeline.stride.traps import Trap
from tests.stride.crowds import absent, states, strolling, walkers

DOCUMENT = schema_document("stride_benchmark")["examples"][0]


@pytest.fixture
def bench(tmp_path):
    file = tmp_path / "bench.json"
    file.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    return file


@pytest.fixture
def npz(tmp_path):
    file = tmp_path / "ours.npz"
    np.savez(file, **{"0001": states(strolling())})
    return file


def run(*words):
    return command_line.main(["stride", *map(str, words)])


def told(capsys):
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    return lines[0]


def scored(bench, states_at, out, *more):
    code = run("score", "--benchmark", bench, "--states", states_at, "--out", out, *more)
    assert code == 0
    return json.loads(out.read_text("utf-8"))


def test_measure_prints_every_measure_with_its_unit(npz, capsys):
    assert run("measure", npz) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["V", "mean_speed", "1.2", "m/s"]
    assert any("no map" in line for line in lines)
    assert any(line.startswith("note: dt_s") for line in lines)


def test_measure_as_json_has_the_records_of_either_mode(npz, capsys):
    for mode, count in (("strict", 38), ("reference", 20)):
        assert run("measure", npz, "--mode", mode, "--json", "--dt", "0.4") == 0
        record = json.loads(capsys.readouterr().out)
        assert (record["key"], record["shape"], record["dt_s"]) == ("0001", [20, 3, 7], 0.4)
        assert len(record["measures"]) == count
        assert record["measures"][0]["value"] == pytest.approx(1.2)


def test_measure_gives_no_value_of_one_that_cannot_be_trusted(tmp_path, capsys):
    rows = states(strolling())
    rows[3, 1, 0] = np.nan
    np.savez(tmp_path / "n.npz", states=rows)
    run("measure", tmp_path / "n.npz", "--json")
    strict = json.loads(capsys.readouterr().out)["measures"]
    assert all(one["value"] is None and "NaN" in one["error"] for one in strict)
    run("measure", tmp_path / "n.npz", "--json", "--mode", "reference")
    published = {one["function"]: one for one in json.loads(capsys.readouterr().out)["measures"]}
    assert published["path_linearity"]["error"] == "the value is nan"
    assert published["mean_speed"]["value"] == pytest.approx(1.2)


def test_measure_asks_which_of_several_arrays(tmp_path, capsys):
    np.savez(tmp_path / "two.npz", a=states(strolling()), b=states(strolling()))
    assert run("measure", tmp_path / "two.npz") == 1
    assert "--key" in told(capsys)
    assert run("measure", tmp_path / "two.npz", "--key", "b") == 0


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--key", "none"], "expected the member 'none'"),
        (["--dt", "0"], "--dt: dt_s: expected the seconds"),
        (["--dt", "nan"], "above 0"),
        (["--dt", "1e300"], "1e-6 to 1e6"),
        (["--dt", "1e6", "--resample", "1e-6"], "longer one"),
        (["--resample", "-1"], "--resample"),
        (["--resample", "0.4"], "--dt"),
        (["--param", "mean_speed.x=1"], "--param"),
        (["--param", "speed_trend.n_bins=x"], "expected a number"),
        (["--param", "speed_trend.n_bins=NaN"], "expected a number"),
        (["--param", "lingering_fraction.speed_threshold=1e999"], "expected a number"),
        (["--mode", "reference", "--velocity", "positions"], "--mode reference"),
        (["--map", "none.npz"], "none.npz"),
    ],
)
def test_measure_says_in_one_line_what_is_wrong(npz, capsys, words, part):
    assert run("measure", npz, *words) == 1
    assert part in told(capsys)


def test_measure_takes_walls_from_a_map(tmp_path, npz, capsys):
    np.savez(tmp_path / "map.npz", obstacles=np.array([[5.0, 5.0, 0.0, 1.5]]))
    run("measure", npz, "--map", tmp_path / "map.npz", "--json")
    rows = {one["function"]: one for one in json.loads(capsys.readouterr().out)["measures"]}
    assert rows["obstacle_penetration"]["value"] > 0


def test_score_writes_a_report_that_keeps_its_schema_and_a_table(tmp_path, bench, npz, capsys):
    report = scored(bench, npz, tmp_path / "r.json", "--csv", tmp_path / "c.csv")
    check_record("stride_report", report, where="r.json")
    assert report["mode"] == "strict"
    assert report["generator"] == "ours"
    assert report["mean_scene_score"] == 1.0
    with (tmp_path / "c.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["function"] for row in rows] == ["mean_speed", "lingering_fraction"]
    out = capsys.readouterr().out
    assert "strict: mean_scene_score 1.0000, 1 of 1 scenarios scored" in out


def test_score_reads_folders_named_by_scenario(tmp_path, bench):
    write_states(strolling(), tmp_path / "gen" / "0001" / "sim.npz")
    report = scored(bench, tmp_path / "gen", tmp_path / "r.json", "--generator", "folders")
    assert report["generator"] == "folders"
    assert report["scenarios"][0]["dt_s"] == 0.4
    assert report["scenarios"][0]["duration_bin"] == "0-30 s"


def test_score_counts_what_is_missing_in_strict_mode_alone(tmp_path):
    scenes = [{**DOCUMENT["scenes"][0], "source_scene_id": name} for name in ("0001", "0003")]
    bench = tmp_path / "two.json"
    bench.write_text(json.dumps({**DOCUMENT, "n_scenes": 2, "scenes": scenes}), "utf-8")
    rows = {"0001": states(strolling()), "0002": states(strolling())}
    np.savez(tmp_path / "some.npz", **rows)
    strict = scored(bench, tmp_path / "some.npz", tmp_path / "s.json")
    assert (strict["mean_scene_score"], strict["coverage"]["missing"]) == (0.5, ["0003"])
    assert strict["coverage"]["not_in_benchmark"] == ["0002"]
    published = scored(bench, tmp_path / "some.npz", tmp_path / "p.json", "--mode", "reference")
    assert published["mean_scene_score"] == 1.0
    assert published["zero_filled"]["mean"] == 0.5


@pytest.mark.parametrize("mode", ["strict", "reference"])
@pytest.mark.parametrize("folder", [False, True])
def test_a_score_that_matches_no_scenario_is_an_error_of_one_line(
    tmp_path, bench, capsys, mode, folder
):
    source = tmp_path / ("walks" if folder else "states.npz")
    write_states(strolling(), source / "0002" / "sim.npz" if folder else source)
    words = ("score", "--benchmark", bench, "--states", source, "--out", tmp_path / "r.json")
    assert run(*words, "--mode", mode) == 1
    line = told(capsys)
    assert f"(0001), found {'0002' if folder else 'states'}; name each array or folder" in line
    assert "--id" in line
    assert not (tmp_path / "r.json").exists()


def test_a_file_of_one_scenario_is_scored_and_shown_under_the_id_that_is_given(
    tmp_path, bench, capsys
):
    walk = absent(strolling(), (slice(0, 5), 1))
    write_states(walk, tmp_path / "sim.npz")
    report = scored(bench, tmp_path / "sim.npz", tmp_path / "r.json", "--id", "0001")
    assert report["coverage"]["scored"] == 1
    assert report["scenarios"][0]["plausible"]["present"] == pytest.approx((15 + 20 + 20) / 60)
    words = ("page", tmp_path / "r.json", "--states", tmp_path / "sim.npz", "--scenario", "0001")
    assert run(*words, "--out", tmp_path / "p.html") == 0
    np.savez(tmp_path / "own.npz", **{"some name": states(walk)})
    scored(bench, tmp_path / "own.npz", tmp_path / "own.json", "--id", "0001")
    words = ("page", tmp_path / "own.json", "--states", tmp_path / "own.npz")
    assert run(*words, "--scenario", "0001", "--out", tmp_path / "p.html") == 0
    np.savez(tmp_path / "two.npz", a=states(walk), b=states(walk))
    capsys.readouterr()
    words = ("score", "--benchmark", bench, "--out", tmp_path / "x.json", "--id", "0001")
    assert run(*words, "--states", tmp_path / "two.npz") == 1
    assert "expected one array" in told(capsys)
    assert run(*words, "--states", tmp_path) == 1
    assert "found a folder" in told(capsys)


def test_import_writes_a_file_that_is_scored_as_it_is(tmp_path, bench, capsys):
    rows = [f"{10 * k} {p} {1 + 0.48 * k} {p}" for k in range(9) for p in (1, 2, 3) if k or p < 3]
    (tmp_path / "z.txt").write_text("\n".join(rows))
    words = ("import", "four_columns", tmp_path / "z.txt", "--fps", "25")
    assert run(*words, "--id", "0001", "--out", tmp_path / "s.npz") == 0
    report = scored(bench, tmp_path / "s.npz", tmp_path / "r.json")
    assert report["coverage"] | {"missing": []} == report["coverage"]
    assert report["scenarios"][0]["dt_s"] == pytest.approx(0.4)
    assert report["scenarios"][0]["plausible"]["present"] == pytest.approx((9 + 9 + 8) / 27)
    capsys.readouterr()
    assert run(*words, "--id", "present", "--out", tmp_path / "t.npz") == 1
    assert "give another --id" in told(capsys)


def test_score_takes_ids_that_are_not_ascii(tmp_path):
    scene = {**DOCUMENT["scenes"][0], "source_scene_id": "Ch\u00e2telet-\u6771\u4eac"}
    (tmp_path / "b.json").write_text(json.dumps({**DOCUMENT, "scenes": [scene]}), "utf-8")
    np.savez(tmp_path / "s.npz", **{"Cha\u0302telet-\u6771\u4eac": states(strolling())})
    report = scored(tmp_path / "b.json", tmp_path / "s.npz", tmp_path / "r.json")
    assert report["mean_scene_score"] == 1.0


def test_score_fails_pickled_states_without_reading_them(tmp_path, bench, capsys):
    np.savez(tmp_path / "p.npz", **{"0001": np.array([{"a": 1}], dtype=object)})
    report = scored(bench, tmp_path / "p.npz", tmp_path / "r.json")
    assert report["coverage"]["unreadable"] == ["0001"]
    fault = report["scenarios"][0]["fault"]
    assert "pickled" in fault
    assert report["mean_scene_score"] == 0.0
    last = capsys.readouterr().out.splitlines()[-1]
    words = "states of 1 of 1 scenarios cannot be read, the first"
    assert last == f"note: {words}: {fault}; see {tmp_path / 'r.json'}"


def test_score_takes_walls_of_each_scenarios_map(tmp_path):
    row = {"function": "obstacle_penetration", "params": {}, "expected_result": {"max": 0.0},
           "expected_result_reasoning": "", "delta_value": 0.0}  # fmt: skip
    question = {"id": "Q1", "question": "R: ?", "measurements": [row]}
    scene = {**DOCUMENT["scenes"][0], "questions": [question]}
    (tmp_path / "b.json").write_text(json.dumps({**DOCUMENT, "scenes": [scene]}), "utf-8")
    np.savez(tmp_path / "s.npz", **{"0001": states(strolling())})
    (tmp_path / "maps" / "square").mkdir(parents=True)
    np.savez(tmp_path / "maps" / "square" / "map.npz", obstacles=np.array([[0.0, 9.0, 0.0, 0.0]]))
    args = tmp_path / "b.json", tmp_path / "s.npz", tmp_path / "r.json"
    assert scored(*args, "--maps", tmp_path / "maps")["mean_scene_score"] == 1.0
    assert scored(*args)["mean_scene_score"] == 0.0


def test_score_says_in_one_line_what_is_wrong(tmp_path, bench, npz, capsys):
    twice = {**DOCUMENT, "scenes": DOCUMENT["scenes"] * 2}
    (tmp_path / "twice.json").write_text(json.dumps(twice))
    for benchmark, source, part in (
        (tmp_path / "none.json", npz, "no such file"),
        (tmp_path / "twice.json", npz, "each id once"),
        (bench, tmp_path / "none.npz", "found nothing"),
        (bench, bench, "expected an .npz"),
    ):
        out = tmp_path / "r.json"
        assert run("score", "--benchmark", benchmark, "--states", source, "--out", out) == 1
        assert part in told(capsys)
        assert not out.exists()


def test_a_place_that_cannot_be_written_to_or_holds_no_maps_is_named(tmp_path, bench, npz, capsys):
    words = ("score", "--benchmark", bench, "--states", npz)
    assert run(*words, "--out", bench / "r.json") == 1
    assert "expected the name of a file to write" in told(capsys)
    assert run(*words, "--out", tmp_path / "r.json", "--maps", tmp_path) == 1
    assert "expected maps MAP/map.npz" in told(capsys)
    (tmp_path / "z.txt").write_text("0 1 1 1\n10 1 2 1\n")
    words = ("import", "four_columns", tmp_path / "z.txt", "--fps", "25")
    assert run(*words, "--out", tmp_path) == 1
    assert "expected the name of a file to write" in told(capsys)


def test_compare_puts_generators_side_by_side(tmp_path, bench, npz, capsys):
    still = walkers([(1, 1), (1, 2), (1, 3)], [(0, 0)] * 3)
    np.savez(tmp_path / "still.npz", **{"0001": states(still)})
    scored(bench, npz, tmp_path / "a.json")
    scored(bench, tmp_path / "still.npz", tmp_path / "b.json")
    capsys.readouterr()
    assert (
        run("compare", tmp_path / "b.json", tmp_path / "a.json", "--csv", tmp_path / "c.csv") == 0
    )
    table = capsys.readouterr().out.splitlines()
    assert table[2].startswith("| ours |")
    assert table[3].startswith("| still |")
    assert (tmp_path / "c.csv").read_text().splitlines()[1].startswith("ours,strict,1,1,1.0")
    assert run("compare", tmp_path / "a.json", "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["mean"] == 1.0


@pytest.mark.parametrize("document", [DOCUMENT, [], None])
def test_what_is_no_report_is_said_to_be_none(tmp_path, document, capsys):
    file = tmp_path / "other.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    assert run("compare", file) == 1
    assert told(capsys).startswith(f"error: {file}: not a report of `stride score` (")


def test_page_is_written_for_a_scenario_of_the_report(tmp_path, bench, npz, capsys):
    scored(bench, npz, tmp_path / "r.json")
    capsys.readouterr()
    words = ("page", tmp_path / "r.json", "--states", npz, "--out", tmp_path / "p.html")
    assert run(*words, "--scenario", "0001") == 0
    assert "People walk steadily along a path." in (tmp_path / "p.html").read_text("utf-8")
    capsys.readouterr()
    assert run(*words, "--scenario", "0009") == 1
    assert "'0009'" in told(capsys)


def test_import_writes_states_that_measure_reads(tmp_path, capsys):
    rows = [f"{10 * k} {p} {1 + 0.48 * k} {p}" for k in range(9) for p in (1, 2)]
    (tmp_path / "z.txt").write_text("\n".join(rows))
    words = ("import", "four_columns", tmp_path / "z.txt", "--out", tmp_path / "s.npz")
    assert run(*words, "--fps", "25") == 0
    out = capsys.readouterr().out
    assert "9 frames of 0.4 s, 2 agents" in out
    assert "note: radius 0.2 m" in out
    run("measure", tmp_path / "s.npz", "--json")
    record = json.loads(capsys.readouterr().out)
    assert record["dt_s"] == pytest.approx(0.4)
    assert record["measures"][0]["value"] == pytest.approx(1.2)
    assert run(*words, "--fps", "25", "--resample", "0.8") == 0
    assert "5 frames of 0.8 s" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["shapefile", "x.txt"], "FORMAT: expected one of eth_obsmat"),
        (["four_columns", "none.txt", "--fps", "25"], "none.txt"),
        (["table", "none.csv", "--columns", "id"], "--columns"),
        (["table", "none.csv", "--columns", "id=a,id=b"], "--columns"),
    ],
)
def test_import_says_in_one_line_what_is_wrong(tmp_path, capsys, words, part):
    assert run("import", *words, "--out", tmp_path / "s.npz") == 1
    assert part in told(capsys)


def test_long_lists_of_notes_are_cut_short(monkeypatch, npz, capsys):
    from pipeline.stride import sources  # noqa: PLC0415 - the module is what is patched

    monkeypatch.setattr(sources, "traps_of", lambda _: [Trap("x", f"odd {k}") for k in range(8)])
    run("measure", npz)
    assert capsys.readouterr().out.splitlines()[-1] == "note: and 3 more"
