"""Whatever is wrong with a file, its reader answers with one line of its own, and nothing else."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from PIL import Image

from pipeline import schemas
from pipeline.city.extract import describe_extract
from pipeline.city.osm_features import read_features
from pipeline.city.osm_file import convert_osm, read_osm
from pipeline.city.overture import read_geoparquet, rows_of
from pipeline.city.roadmap import read_roadmap
from pipeline.city.sources import FileSource, NetworkConfig
from pipeline.city.ways import read_drivable_ways
from pipeline.errors import PipelineError
from pipeline.language.engines.recorded import RecordedEngine
from pipeline.language.engines.settings import RecordedSettings
from pipeline.language.prompts import PROMPTS, Prompt
from pipeline.language.shots import SEEDS, read_seeds
from pipeline.language.vocabulary import VOCABULARY_FILE, read_vocabulary
from pipeline.lockfile import read_lock
from pipeline.metrics import read_metrics
from pipeline.params import Parameters
from pipeline.quality.ratings import read_ratings
from pipeline.review.assignment import read_assignment
from pipeline.runner import check_keys, stage_arguments
from pipeline.schemas import schema_document
from pipeline.stages import STAGES, Stage
from pipeline.store import StageIO
from pipeline.stride.benchmark import read_benchmark
from pipeline.stride.generators.external import read_table_walk
from pipeline.stride.image_maps import read_picture
from pipeline.stride.importers.formats import ImportOptions, read_recording
from pipeline.stride.osm_ground import read_ground
from pipeline.stride.patterns import read_patterns
from pipeline.stride.report import read_report
from pipeline.stride.review import read_verdicts
from pipeline.stride.stories import read_bank
from pipeline.validate import validate_paths
from tests.city.worlds import BBOX, world
from tests.damage import damaged
from tests.trips.builders import traces
from tests.trips.raw_folders import HEADER, read, row

ROOT = Path(__file__).resolve().parent.parent
TIMES = 60
CREDIT = {"date": "2024-01-01", "licence": "ODbL-1.0", "attribution": "(c) OSM"}


class Case(NamedTuple):
    """A sound file in a folder, and who reads it."""

    file: str
    content: bytes
    read: Callable[[Path], Any]


def check(case: Case, folder: Path, contents: list[bytes]) -> int:
    """Return how many of the contents were refused."""
    file = folder / case.file
    file.parent.mkdir(parents=True, exist_ok=True)
    messages: list[str] = []
    for content in contents:
        file.write_bytes(content)
        try:
            case.read(file)
        except PipelineError as fault:
            messages.append(str(fault))
    assert not [one for one in messages if "\n" in one or "\x00" in one]
    return len(messages)


def hold(case: Case, folder: Path) -> None:
    check(case, folder, [case.content])
    file = folder / case.file
    file.write_bytes(case.content)
    case.read(file)  # the sound file is read
    seed = sum(case.file.encode())
    contents = [b"", b"\x00" * 64, b"\xff\xfe", *damaged(case.content, TIMES, seed=seed)]
    assert check(case, folder, contents)


# ---- maps ----------------------------------------------------------------------------------------


def small_world(folder: Path) -> bytes:
    nodes = {n: (n % 3, n // 3) for n in range(1, 7)} | {
        9: (1, 1, {"amenity": "cafe", "name": "Ä"})
    }
    ways = {
        10: ([1, 2, 3], {"highway": "residential", "name": "Rue & Co", "maxspeed": "30"}),
        11: ([4, 5, 6, 4], {"leisure": "park", "name": "Parc"}),
    }
    relations = {20: ([("w", 11, "outer")], {"type": "multipolygon", "landuse": "forest"})}
    return world(folder, nodes=nodes, ways=ways, relations=relations).read_bytes()


def described(path: Path) -> None:
    source = FileSource(path=str(path), sha256=None, **CREDIT)
    describe_extract(path, network=NetworkConfig(source=source, service_roads=False), bbox=BBOX)


OSM_READERS = {
    "osm_file": read_osm,
    "converted": lambda path: convert_osm(path, path.with_name("out.osm.pbf")),
    "ways": lambda path: read_drivable_ways(path, service_roads=True, name_tag="name"),
    "features": read_features,
    "ground": lambda path: read_ground(path, name_tag="name"),
    "described": described,
}


@pytest.mark.parametrize("name", OSM_READERS)
@pytest.mark.parametrize("form", ["osm", "osm.pbf"])
def test_osm_files(tmp_path, name, form):
    content = small_world(tmp_path)
    if form == "osm.pbf":
        convert_osm(tmp_path / "world.osm", tmp_path / "world.osm.pbf")
        content = (tmp_path / "world.osm.pbf").read_bytes()
    hold(Case(f"damaged.{form}", content, OSM_READERS[name]), tmp_path)


ODD_XML = {
    'lat="43.7310000"': ('lat="x"', 'lat=""', 'lat="1e999"', 'lat="nan"', 'lat="430"', ""),
    'id="1"': ('id="x"', 'id=""', 'id="99999999999999999999"', 'id="1.5"', "", 'id="-0"'),
    'version="1"': ('version="x"', 'version="-1"', 'version="99999999999"', 'version=""'),
    'ref="2"': ('ref="x"', 'ref="99999999999999999999"', 'ref=""', ""),
    'type="w"': ('type="x"', 'type=""', ""),
    '<node id="1"': (
        '<node timestamp="yesterday" id="1"',
        '<node timestamp="9999-99-99T99:99:99Z" id="1"',
        '<node changeset="x" id="1"',
        '<node uid="x" id="1"',
        '<node visible="x" id="1"',
    ),
    "Rue &amp; Co": ("Rue & Co", "&#0;", "x" * 70_000),
    'version="0.6"': ('version="9.9"', ""),
}


@pytest.mark.parametrize("name", OSM_READERS)
@pytest.mark.parametrize("sound", ODD_XML)
def test_osm_xml_with_odd_numbers(tmp_path, name, sound):
    content = small_world(tmp_path).decode()
    assert sound in content
    odd = [content.replace(sound, one, 1).encode() for one in ODD_XML[sound]]
    check(Case("odd.osm", b"", OSM_READERS[name]), tmp_path, odd)


GEO = (
    "geo_id,coordinates,highway,u,v,maxspeed\n"
    '4,"[[7.42,43.73],[7.42,43.732]]",1,1,2,30\n17,"[[7.42,43.732],[7.43,43.732]]",1,2,3,\n'
)
REL = "origin_id,destination_id\n4,17\n"


@pytest.mark.parametrize("name", ["roadmap.geo", "roadmap.rel"])
def test_road_maps(tmp_path, name):
    (tmp_path / "roadmap.geo").write_text(GEO)
    (tmp_path / "roadmap.rel").write_text(REL)

    def both(_: Path) -> None:
        read_roadmap(tmp_path / "roadmap.geo", tmp_path / "roadmap.rel", {"1": "residential"})

    hold(Case(name, (tmp_path / name).read_bytes(), both), tmp_path)


def test_overture_files(tmp_path):
    frame = pl.DataFrame(
        {"id": ["a"], "geometry": [b"\x01\x01\x00\x00\x00" + bytes(16)], "subtype": ["x"]}
    )
    frame.write_parquet(tmp_path / "x.parquet", compression="uncompressed")

    def rows(path: Path) -> None:
        rows_of("water", read_geoparquet(path, (-1, -1, 1, 1)), Counter())

    hold(Case("y.parquet", (tmp_path / "x.parquet").read_bytes(), rows), tmp_path)


# ---- traces --------------------------------------------------------------------------------------

TABLE = {
    "pattern": "*.csv",
    "time": "iso",
    "time_zone": "UTC",
    "delimiter": ",",
    "decimal": ".",
    "columns": {"trip": "id", "vehicle": "v", "time": "t", "lon": "x", "lat": "y", "point": None},
}
PLT = (
    "\n".join(["Geolife trajectory", *["head"] * 5])
    + "\n39.9,116.3,0,0,0,2007-08-04,03:30:32\n39.91,116.31,0,0,0,2007-08-04,03:30:42\n"
)
GPX = (
    '<?xml version="1.0"?><gpx xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>'
    '<trkpt lat="60.17" lon="24.94"><time>2024-05-01T07:00:00Z</time></trkpt>'
    '<trkpt lat="60.18" lon="24.95"><time>2024-05-01T07:00:09Z</time></trkpt></trkseg></trk></gpx>'
)
TRACES = {
    "porto": ("t.csv", f"{HEADER}\n{row()}\n{row('T2')}\n", {"interval_s": 15}),
    "cabspotting": (
        "new_a.txt",
        "37.75 -122.39 1 1213000060\n37.76 -122.39 1 1213000000\n",
        {"flip_reports": 0, "run_gap_s": 300.0},
    ),
    "tdrive": ("1.txt", "1,2008-02-02 15:36:08,116.5,39.9\n" * 2, {"time_zone": "Asia/Shanghai"}),
    "geolife": ("000/Trajectory/1.plt", PLT, {"modes": ["car"], "unlabelled": "keep"}),
    "gpx": ("a.gpx", GPX, {"time_zone": None}),
    "table": (
        "a.csv",
        'id,v,t,x,y\n7,a,2024-05-01T07:00:00Z,24.9,60.1\n7,a,"2024-05-01T07:00:09+02:00",25,60\n',
        TABLE,
    ),
    "hoser": (
        "traj.csv",
        'mm_id,entity_id,traj_id,rid_list,time_list\n0,v,1,"4,17","2013-07-01T00:00:58Z,2013"\n',
        {"trajectories": "traj*.csv", "roadmap": "roadmap.geo", "time_zone": None},
    ),
}


@pytest.mark.parametrize("form", TRACES)
def test_traces(tmp_path, form):
    name, text, keys = TRACES[form]
    (tmp_path / "roadmap.geo").write_text(GEO)
    (tmp_path / "roadmap.rel").write_text(REL)
    hold(Case(name, text.encode(), lambda _: read(tmp_path, traces(form, **keys))), tmp_path)


def test_a_table_in_parquet(tmp_path):
    frame = pl.DataFrame(
        {"id": ["7", "7"], "v": ["a", "a"], "t": [1, 2], "x": [24.9, 24.91], "y": [60.1, 60.2]}
    )
    frame.write_parquet(tmp_path / "x.pq", compression="uncompressed")
    keys = TABLE | {"pattern": "*.parquet", "time": "epoch_s"}
    content = (tmp_path / "x.pq").read_bytes()
    hold(Case("a.parquet", content, lambda _: read(tmp_path, traces("table", **keys))), tmp_path)


def test_labels_of_geolife(tmp_path):
    name, text, keys = TRACES["geolife"]
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text(text)
    labels = (
        "Start Time\tEnd Time\tTransportation Mode\n2007/08/04 03:30:00\t2007/08/04 03:31:00\tcar\n"
    )
    hold(
        Case(
            "000/labels.txt", labels.encode(), lambda _: read(tmp_path, traces("geolife", **keys))
        ),
        tmp_path,
    )


# ---- what the user writes, and what the project keeps --------------------------------------------

CONFIG = ROOT / "configs/helsinki.yaml"


def project_values(root: Path) -> None:
    parameters = Parameters(root)
    parameters.city("helsinki")
    check_keys("helsinki", parameters)
    for stage in STAGES:
        stage_arguments(stage, "helsinki" if stage.scope == "city" else None, parameters)


@pytest.mark.parametrize("name", ["params.yaml", "configs/helsinki.yaml"])
def test_parameters(tmp_path, name):
    (tmp_path / "configs").mkdir()
    for one in ("params.yaml", "configs/helsinki.yaml"):
        shutil.copy(ROOT / one, tmp_path / one)
    case = Case(name, (ROOT / name).read_bytes(), lambda _: project_values(tmp_path))
    hold(case, tmp_path)
    odd = (
        "a: &a [x]\n"
        + "".join(
            f"{b}: &{b} [{', '.join([f'*{a}'] * 30)}]\n"
            for a, b in zip("abcdefgh", "bcdefghi", strict=True)
        ),
        "cities: &x [*x]\n",
        "a: &a {b: *a}\n",
        "cities:\n\thelsinki: {traces: x}\n",
        "cities: {}\ncities: {}\n",
        "!!python/object/apply:os.system [true]\n",
        "? [a]\n: b\n",
        "a: !!int x\n",
        "a: !!float ''\n",
        "a: !!binary x\n",
        "a: !!timestamp x\n",
        "- a\n",
        "a: !!set {b}\n",
        "<<: 3\n",
        "a: {<<: [3]}\n",
        "%YAML 9.9\n---\na: b\n",
        "--- a\n--- b\n",
        "a: 0o9\n",
        "a: 1_000:99:99\n",
        "a: 190:20:30.15\n",
        "a: .inf\n",
        "[" * 3000,
        "a: !!bool x\n",
        "a: !!null x\n",
        "a: !!int 0b\n",
        "a: !!omap [a]\n",
        "a: !!pairs {a: b}\n",
        "\x00",
        "\ufffe",
        'a: "\\ud800"\n',
        "{" * 2000,
        "a: " + "[" * 900 + "]" * 900,
    )
    check(case, tmp_path, [one.encode("utf-8", "surrogatepass") for one in odd])


def test_the_lock_of_dvc(tmp_path):
    text = (
        "schema: '2.0'\nstages:\n  match@a:\n    cmd: x\n    deps:\n    - path: p\n      md5: 1a\n"
        "    outs:\n    - path: q\n      md5: 2b\n"
        "    params:\n      params.yaml:\n        seed: 1\n"
    )
    case = Case("dvc.lock", text.encode(), lambda _: read_lock(tmp_path))
    hold(case, tmp_path)


def test_an_empty_lock_of_dvc_is_one_line_with_the_next_command(tmp_path):
    (tmp_path / "dvc.lock").write_text("")
    with pytest.raises(
        PipelineError, match=r"dvc.lock: .* found nothing; .*`git checkout dvc.lock`"
    ):
        read_lock(tmp_path)


def test_metrics(tmp_path):
    def metrics(_: Path) -> None:
        read_metrics(tmp_path, "toy", "loss_metrics")

    content = json.dumps(schema_document("loss_metrics")["examples"][0]).encode()
    hold(Case("data/toy/metrics/loss.json", content, metrics), tmp_path)


def test_records_a_stage_reads(tmp_path):
    reading = Stage("release", "x:y", "", reads=("loss_metrics",), writes=())
    content = json.dumps(schema_document("loss_metrics")["examples"][0]).encode()

    def stage(_: Path) -> None:
        StageIO(reading, city="toy", root=tmp_path).read_json("loss_metrics")

    hold(Case("data/toy/metrics/loss.json", content, stage), tmp_path)
    check(Case("data/toy/metrics/loss.json", b"", stage), tmp_path, [b"[" * 100_000, b"3", b"[]"])


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_files_to_validate(tmp_path, suffix):
    content = json.dumps(schema_document("rejection")["examples"][0]).encode()

    def validate(path: Path) -> None:
        list(validate_paths([path], schema="rejection", root=tmp_path))

    hold(Case(f"some{suffix}", content, validate), tmp_path)


def test_schemas(tmp_path, monkeypatch):
    for file in schemas.SCHEMA_DIR.glob("*.schema.json"):
        shutil.copy(file, tmp_path / file.name)
    monkeypatch.setattr(schemas, "SCHEMA_DIR", tmp_path)
    caches = (
        schemas.schema_documents,
        schemas._registry,
        schemas.fast_validator,
        schemas.arrow_schema,
        schemas._frame_schema,
    )

    def clear() -> None:
        for cache in caches:
            cache.cache_clear()

    def use(_: Path) -> None:
        clear()
        schemas.arrow_schema("matched_trip")
        schemas.fast_validator("matched_trip").is_valid({})
        schemas.check_record(
            "matched_trip", schema_document("matched_trip")["examples"][0], where="x"
        )

    try:
        name = "matched_trip.schema.json"
        hold(Case(name, (tmp_path / name).read_bytes(), use), tmp_path)
    finally:
        clear()


# ---- prompts -------------------------------------------------------------------------------------

ODD_TEMPLATES = (
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "{% include 'system.j2' %}",
    "{% extends 'system.j2' %}",
    "{% import 'system.j2' as x %}",
    "{{ missing }}",
    "{{ [1][3] }}",
    "{{ 1 / 0 }}",
    "{{ none.x }}",
    "{{ ''.__class__.__mro__ }}",
    "{% include 'other.j2' %}",
    "{{ 'x'|nofilter }}",
    "{% if %}",
    "{{",
    "{% set x = 1",
    "{{ {}|tojson(indent='x') }}",
    "{{ " + "(" * 300 + ")" * 300 + " }}",
    "{{ raise }}",
    "{{ cycler() }}",
    "{{ '%s' % () }}",
    "{{ namespace(1) }}",
    "{{ " + "-" * 300 + "1 }}",
    "{% for x in 3 %}{% endfor %}",
    "{{ dict(a=1, **3) }}",
    "{{ quoted }}",
    "{{ joiner()() }}",
    "\ud800",
)


@pytest.fixture
def prompt_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "narrate"
    shutil.copytree(PROMPTS / "narrate", folder)
    for name in ("system.j2", "user.j2"):
        (folder / name).write_text("Tell. {% if true %}{{ 1 + 1 }}{% endif %}\n")
    return folder


def rendered(folder: Path) -> None:
    Prompt(folder, shared={}).user("item", {"record_json": "{}"})


@pytest.mark.parametrize("name", ["system.j2", "user.j2", "answer.schema.json"])
def test_prompts(prompt_folder, name):
    content = (prompt_folder / name).read_bytes()
    hold(Case(name, content, lambda _: rendered(prompt_folder)), prompt_folder)


@pytest.mark.parametrize("number", range(len(ODD_TEMPLATES)))
@pytest.mark.parametrize("name", ["system.j2", "user.j2"])
def test_odd_templates(prompt_folder, name, number):
    content = ODD_TEMPLATES[number].encode("utf-8", "surrogatepass")
    check(Case(name, b"", lambda _: rendered(prompt_folder)), prompt_folder, [content])


def test_seeds(tmp_path):
    lines = (PROMPTS / "annotate" / SEEDS / "monaco.jsonl").read_bytes().split(b"\n")[:2]
    content = b"\n".join(lines) + b"\n"
    hold(Case("seeds/monaco.jsonl", content, lambda path: read_seeds(path.parent)), tmp_path)


def test_vocabulary(tmp_path):
    hold(Case("vocabulary.yaml", VOCABULARY_FILE.read_bytes(), read_vocabulary), tmp_path)


def test_recorded_answers(tmp_path):
    content = b'{"key": "k", "text": "t", "attempt": 0, "finish_reason": "stop", "status": "ok"}\n'

    def opened(path: Path) -> None:
        with RecordedEngine(settings(path)):
            pass

    def settings(path: Path) -> RecordedSettings:
        return RecordedSettings(model="m", revision="r", file=str(path))

    hold(Case("answers.jsonl", content, opened), tmp_path)


# ---- people --------------------------------------------------------------------------------------


def test_ratings(tmp_path):
    content = json.dumps(schema_document("rating")["examples"][0], ensure_ascii=False).encode()

    def rate(_: Path) -> None:
        read_ratings(tmp_path, stage="agree", hashes={}, rubric_hash="x")

    check(Case("H1.jsonl", content, rate), tmp_path, list(damaged(content, TIMES, seed=3)))


def test_assignments(tmp_path):
    content = json.dumps(schema_document("review_assignment")["examples"][0]).encode()
    folder = tmp_path / "porto"
    hold(Case("porto/assignment.json", content, lambda _: read_assignment(folder)), tmp_path)


# ---- crowds --------------------------------------------------------------------------------------


def test_benchmarks(tmp_path):
    content = json.dumps(schema_document("stride_benchmark")["examples"][0]).encode()
    hold(Case("benchmark.json", content, read_benchmark), tmp_path)


def test_reports(tmp_path):
    content = json.dumps(schema_document("stride_report")["examples"][0]).encode()
    hold(Case("report.json", content, read_report), tmp_path)


def test_verdicts(tmp_path):
    content = b'scene_id,text_sha256,verdict,note\n0001,ab,keep,\n0002,cd,drop,"a, b"\n'
    hold(Case("verdicts.csv", content, read_verdicts), tmp_path)


@pytest.mark.parametrize("name", ["patterns.yaml", "categories.yaml", "words.yaml"])
def test_banks_of_stories(tmp_path, name):
    folder = tmp_path / "stride"
    shutil.copytree(PROMPTS / "stride", folder)

    def bank(_: Path) -> None:
        read_bank(folder)
        read_patterns(folder)

    content = (folder / name).read_bytes()
    contents = list(damaged(content, 12, seed=5))
    check(Case(name, content, bank), folder, contents)


def test_pictures(tmp_path):
    Image.new("RGB", (20, 10), (150, 140, 130)).save(tmp_path / "x.png")
    hold(Case("map.png", (tmp_path / "x.png").read_bytes(), read_picture), tmp_path)


def test_tables_of_walks(tmp_path):
    frame = pl.DataFrame({"frame": [0, 1], "agent": [0, 0], "x_m": [0.0, 1.0], "y_m": [0.0, 0.0]})
    frame.write_parquet(tmp_path / "x.pq", compression="uncompressed")
    content = (tmp_path / "x.pq").read_bytes()
    hold(Case("0001.parquet", content, lambda path: read_table_walk(path, dt_s=0.4)), tmp_path)


FOUR = "".join(f"{10 * k} {p} {k}.5 {p}\n" for k in range(4) for p in (1, 2))
SCENE = (
    '{"scene": {"id": 0, "p": 1, "s": 10, "e": 30, "fps": 2.5, "tag": 1}}\n'
    '{"track": {"f": 10, "p": 1, "x": 3.2, "y": -0.4}}\n'
    '{"track": {"f": 20, "p": 1, "x": 3.4, "y": -0.4}}\n'
)
RECORDINGS = {
    "four_columns": ("a.txt", FOUR, {"fps": 25.0}),
    "eth_obsmat": (
        "obsmat.txt",
        "".join(f"{6 * k} 1 {k}.5 0 1 0.1 0 0.2\n" for k in range(4)),
        {"fps": 15.0},
    ),
    "trajnetpp": (
        "a.ndjson",
        SCENE,
        {},
    ),
    "pedpy_text": ("p.txt", "# framerate: 16\n# id frame x/m y/m\n1 0 1.0 1\n1 1 1.1 1\n", {}),
    "mot": ("t.txt", "1,1,0,0,5,5,1\n2,1,1,0,5,5,1\n", {"fps": 25.0, "pixel_order": "xy"}),
    "table": (
        "w.csv",
        "t,p,x,y\n0,a,1.0,2\n0.4,a,1.5,2\n0.8,a,2,2\n",
        {"columns": {"time": "t", "id": "p", "x": "x", "y": "y"}},
    ),
}


@pytest.mark.parametrize("form", RECORDINGS)
def test_recordings(tmp_path, form):
    name, text, keys = RECORDINGS[form]
    if form == "mot":
        (tmp_path / "h.txt").write_text("1 0 0\n0 1 0\n0 0 1\n")
        keys = keys | {"homography": tmp_path / "h.txt"}
    options = ImportOptions(radius_m=0.2)._replace(**keys)
    hold(
        Case(name, text.encode(), lambda path: read_recording(path, form, options=options)),
        tmp_path,
    )


def test_homographies(tmp_path):
    tracks = tmp_path / "t.txt"
    tracks.write_text("1,1,0,0,5,5,1\n2,1,1,0,5,5,1\n")

    def mot(path: Path) -> None:
        options = ImportOptions(radius_m=0.2, fps=25.0, pixel_order="xy", homography=path)
        read_recording(tracks, "mot", options=options)

    hold(Case("h.txt", b"1 0 0\n0 1 0\n0 0 1\n", mot), tmp_path)
