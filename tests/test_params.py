"""A missing, unknown or impossible parameter is one line with file and dotted path."""

import shutil
import zoneinfo
from pathlib import Path
from typing import Annotated

import msgspec
import polars as pl
import pytest
import yaml

from pipeline.city.geotag import DistanceBand, ShareBand
from pipeline.errors import ParameterError
from pipeline.keys import H3Resolution, Seed, is_time_zone
from pipeline.params import Parameters, section_of
from pipeline.runner import check_keys, run_stage, stage_arguments, stage_named
from pipeline.trips.phases import local_time_words

ROOT = Path(__file__).resolve().parent.parent
CITY = "name: Toy\nlanguage: en\n"


class Radius(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A section with one bounded key."""

    radius_m: Annotated[float, msgspec.Meta(gt=0)]


class NearSource(msgspec.Struct, forbid_unknown_fields=True, tag_field="kind", tag="near"):
    """One kind of a tagged union, with a nested list."""

    reach_m: list[Annotated[float, msgspec.Meta(gt=0)]]


class FarSource(msgspec.Struct, forbid_unknown_fields=True, tag_field="kind", tag="far"):
    """The other kind."""

    date: str


class Place(msgspec.Struct, forbid_unknown_fields=True):
    """A section that holds the union."""

    source: NearSource | FarSource


def parameters(
    root, shared: str = "cities: {toy: {traces: data/toy/raw/traces}}\n", city: str = CITY
):
    (root / "configs").mkdir(exist_ok=True)
    (root / "params.yaml").write_text(shared, encoding="utf-8")
    (root / "configs/toy.yaml").write_text(city, encoding="utf-8")
    return Parameters(root)


def fault_of(ask) -> str:
    """Return the one line that a faulty parameter ends in."""
    with pytest.raises(ParameterError) as fault:
        ask()
    assert "\n" not in str(fault.value)
    return str(fault.value)


def test_a_section_comes_back_typed_and_frozen(tmp_path):
    section = parameters(tmp_path, "match: {radius_m: 100}\n").section("match", Radius)
    assert section == Radius(radius_m=100.0)
    with pytest.raises(AttributeError):
        section.radius_m = 5.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("match: {}\n", "params.yaml: match: object missing required field `radius_m`"),
        ("match: {radius_m: 1, radios: 2}\n", "match: object contains unknown field `radios`"),
        ("match: {radius_m: -1}\n", "params.yaml: match.radius_m: expected `float` > 0"),
        ("match: {radius_m: far}\n", "params.yaml: match.radius_m: expected `float`, got `str`"),
        ("match: {radius_m: .inf}\n", "params.yaml: match.radius_m: expected a finite number"),
        ("match: {radius_m: 1.0e+308}\n", "match.radius_m: expected a finite number of at most"),
        ("match: {radius_m: 1%s}\n" % ("0" * 20), "match.radius_m: expected a whole number below"),
        ("match: {radius_m: 1%s}\n" % ("0" * 400), "params.yaml: match.radius_m: number out of"),
        ("match: {radius_m: 1%s}\n" % ("0" * 5000), "params.yaml: expected YAML, found `100"),
        ("other: 1\n", "params.yaml: match: expected this key, found only other"),
        ("- a\n", "params.yaml: expected a mapping of keys, found list; write lines `key: value`"),
        ("", "params.yaml: expected a mapping of keys, found nothing; write lines `key: value`"),
        ("match: {radius_m: [\n", "params.yaml: expected YAML, found"),
        ("a: *x\n", "params.yaml: expected YAML, found undefined alias 'x' in line 1"),
        ("a: 1\nb: 2\na: 3\n", "expected YAML, found the key `a` for the second time in line 3"),
        ("m:\n  r: 1\n  r: 2\n", "expected YAML, found the key `r` for the second time in line 3"),
        ("a: 1\n1: 2\n", "expected YAML, found the key `1`, which is no text (put it in quotes)"),
        ("null: 2\n", "expected YAML, found the key `null`, which is no text"),
        ("cities: {5: {traces: x}}\n", "found the key `5`, which is no text (put it in quotes)"),
        ("? [a, b]\n: 1\n", "expected YAML, found the key `?`, which is no text"),
        ("a: 1\nd: 2024-13-45\n", "found `2024-13-45` (month must be in 1..12) in line 2; mend"),
        ("a: " + "[" * 5000 + "\n", "params.yaml: expected YAML, found"),
        ("a: &a [*a]\nmatch: {radius_m: 1}\nb: [", "params.yaml: expected YAML, found"),
    ],
    ids=lambda text: text[:40],
)
def test_a_fault_names_file_and_dotted_path(tmp_path, text, message):
    asked = parameters(tmp_path, text)
    assert message in fault_of(lambda: asked.section("match", Radius))


def test_a_library_that_changes_yaml_for_all_changes_nothing_here(tmp_path, monkeypatch):
    table = yaml.SafeLoader.yaml_constructors
    text = table["tag:yaml.org,2002:str"]
    monkeypatch.setitem(table, "tag:yaml.org,2002:timestamp", text)
    asked = parameters(tmp_path, "match: 2024-02-30\n")
    assert "found `2024-02-30` (day is out of range" in fault_of(
        lambda: asked.section("match", Radius)
    )


def test_merged_keys_may_be_given_anew(tmp_path):
    text = "base: &b {radius_m: 1}\nmatch: {<<: *b, radius_m: 2}\n"
    assert parameters(tmp_path, text).section("match", Radius) == Radius(2.0)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{kind: near, reach_m: [1, 0]}", "place.source.reach_m[1]: expected `float` > 0"),
        ("{kind: near, reach_m: [1, .nan]}", "place.source.reach_m[1]: expected `float` > 0"),
        ("{kind: near, reach_m: [1, .inf]}", "place.source.reach_m[1]: expected a finite number"),
        ("{kind: far, date: 5}", "place.source.date: expected `str`, got `int`"),
        ("{kind: else}", "place.source.kind: invalid value 'else'"),
        ("{date: x}", "place.source: object missing required field `kind`"),
        ("{kind: far, date: x, u: 1}", "place.source: object contains unknown field `u`"),
    ],
)
def test_a_fault_within_a_tagged_union_names_its_dotted_path(tmp_path, source, message):
    asked = parameters(tmp_path, f"place: {{source: {source}}}\n")
    assert f"params.yaml: {message}" in fault_of(lambda: asked.section("place", Place))


@pytest.mark.parametrize("name", [".", "/"])
def test_a_folder_in_place_of_a_parameter_file_is_one_line(tmp_path, name):
    message = fault_of(lambda: section_of(tmp_path / name, "match", Radius))
    assert "expected a YAML file, found 'Is a directory'" in message


def test_an_unknown_city_lists_the_known_ones(tmp_path):
    with pytest.raises(ParameterError, match=r"expected one of toy, found no entry for 'prto'"):
        parameters(tmp_path).city("prto")


def test_a_city_without_a_config_file_is_told_to_write_it(tmp_path):
    with pytest.raises(ParameterError, match=r"configs/prto.yaml: expected this file"):
        parameters(tmp_path).config("prto", "bbox", list[float])


@pytest.mark.parametrize("city", ["../configs/toy", "/etc/passwd", "", ".", "a b"])
def test_a_citys_name_leads_out_of_no_folder(tmp_path, city):
    message = fault_of(lambda: parameters(tmp_path).config_keys(city))
    assert f"city {city!r}: expected letters, digits" in message


def test_no_cities_is_an_error(tmp_path):
    with pytest.raises(ParameterError, match="cities: expected a mapping of at least one city"):
        _ = parameters(tmp_path, "cities: {}\n").cities


# ---- rules of single keys -----------------------------------------------------------------------


@pytest.mark.parametrize("zone", ["", "Europe", "Mars/X", "../../etc/passwd", "europe/lisbon "])
def test_a_time_zone_that_is_none_is_refused_wherever_it_stands(tmp_path, zone):
    asked = parameters(tmp_path, city=f"{CITY}time_zone: '{zone}'\ntraces: {{time_zone: '{zone}'}}")
    expected = f"expected an IANA zone such as Europe/Lisbon, found {zone!r}"
    message = fault_of(lambda: asked.config("toy", "time_zone", str))
    assert f"configs/toy.yaml: time_zone: {expected}" in message
    message = fault_of(lambda: asked.config("toy", "traces", dict[str, str | None]))
    assert f"configs/toy.yaml: traces.time_zone: {expected}" in message


def test_a_time_zone_may_be_null_where_its_type_says_so(tmp_path):
    asked = parameters(tmp_path, city=f"{CITY}traces: {{time_zone: null}}\n")
    assert asked.config("toy", "traces", dict[str, str | None]) == {"time_zone": None}


def test_every_zone_accepted_can_word_a_time():
    zones = [zone for zone in zoneinfo.available_timezones() if is_time_zone(zone)]
    assert {"Europe/Lisbon", "UTC"} <= set(zones)
    frame = pl.DataFrame({"t": [0.0]})
    for zone in zones:
        assert "19" in frame.select(local_time_words(pl.col("t"), zone)).item()


@pytest.mark.parametrize(
    ("bbox", "message"),
    [
        ([24.96, 60.16, 24.92, 60.18], "expected west, south, east, north with west < east"),
        ([24.92, 60.18, 24.96, 60.16], "(a side is empty or reversed)"),
        ([24.92, 60.16, 24.92, 60.18], "(a side is empty or reversed)"),
        ([37.6, -122.5, 37.8, -122.3], "(latitude stands before longitude)"),
        ([24.92, 60.16, 240.96, 60.18], "bbox: expected west, south, east, north"),
        ([24.92, 60.16, 24.96], "bbox: expected `array` of length 4, got 3"),
        ([24.92, 60.16, float("inf"), 60.18], "bbox[2]: expected a finite number"),
        ([float("nan"), 60.16, 24.96, 60.18], "bbox[0]: expected a finite number"),
    ],
)
def test_a_bbox_that_is_no_box_is_refused(tmp_path, bbox, message):
    asked = parameters(tmp_path, city=f"{CITY}{yaml.safe_dump({'bbox': bbox})}")
    fault = fault_of(lambda: asked.config("toy", "bbox", tuple[float, float, float, float]))
    assert fault.startswith("configs/toy.yaml: bbox")
    assert message in fault


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (H3Resolution, 16, "key: expected `int` <= 15"),
        (H3Resolution, -1, "key: expected `int` >= 0"),
        (Seed, -1, "key: expected `int` >= 0"),
        (Seed, 2**63, "key: expected `int` <= 9223372036854775807"),
        (ShareBand, {"weak": 0.3, "strong": 0.1}, "key.weak: expected at most strong 0.1"),
        (DistanceBand, {"weak": 10, "strong": 20}, "key.strong: expected at most weak 10"),
    ],
)
def test_a_value_out_of_its_range_or_order_is_refused(tmp_path, kind, value, message):
    asked = parameters(tmp_path, yaml.safe_dump({"key": value}))
    assert f"params.yaml: {message}" in fault_of(lambda: asked.section("key", kind))


# ---- the committed project, with one fault ------------------------------------------------------


@pytest.fixture
def project(tmp_path) -> Path:
    """Copy the committed parameter files."""
    shutil.copy(ROOT / "params.yaml", tmp_path)
    shutil.copytree(ROOT / "configs", tmp_path / "configs")
    return tmp_path


def spoil(project: Path, file: str, path: str, value: object) -> None:
    """Set the key at a dotted path of a file; `...` removes it."""
    whole = yaml.safe_load((project / file).read_text("utf-8"))
    *outer, last = path.split(".")
    inner = whole
    for key in outer:
        inner = inner[key]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    (project / file).write_text(yaml.safe_dump(whole), encoding="utf-8")


@pytest.mark.parametrize(
    ("stage", "file", "path", "value", "message"),
    [
        ("cells", "configs/monaco.yaml", "h3_resolution", 16, "`int` <= 15"),
        ("report", "configs/monaco.yaml", "h3_resolution", -1, "`int` >= 0"),
        ("compress", "configs/monaco.yaml", "time_zone", "Europe", "an IANA zone"),
        ("simulate", "configs/monaco.yaml", "time_zone", "", "an IANA zone"),
        ("ingest", "configs/monaco.yaml", "bbox", [7.4, 43.7, 7.3, 43.8], "west, south, east"),
        ("pull_osm", "configs/monaco.yaml", "name_tag", "", "`str` of length >= 1"),
        ("cells", "params.yaml", "seed", -1, "`int` >= 0"),
        ("simulate", "params.yaml", "seed", 2**63, "`int` <= 9223372036854775807"),
        ("match", "params.yaml", "match.gap_s", float("inf"), "a finite number"),
        ("match", "params.yaml", "match.part_fixes", 10**30, "`int` <= 1000000"),
        ("compress", "params.yaml", "compress.min_phases", 1, "`int` >= 2"),
        ("cells", "params.yaml", "cells.residential_low", 0.5, "at most residential_high, 0.4"),
        ("roads", "params.yaml", "roads.class_speed_kph.trunk", -1, "`float` >= 1"),
        ("simulate", "params.yaml", "simulate.cost_sigma", 1000, "`float` <= 5"),
        ("simulate", "params.yaml", "simulate.speed_sigma", 1000, "`float` <= 5"),
        ("simulate", "params.yaml", "simulate.via_detour", [1.4, 1.03], "the smaller value first"),
        ("simulate", "params.yaml", "simulate.hour_weights", [0] * 24, "at least one weight"),
        ("simulate", "params.yaml", "simulate.weekday_weights", [0] * 7, "at least one weight"),
        *(
            ("simulate", "params.yaml", f"simulate.defects.{key}", [9, 5], "the smaller value")
            for key in ("missing_samples", "dwell_s", "spike_m", "leaving_samples")
        ),
    ],
)  # fmt: skip
def test_a_stage_refuses_an_impossible_parameter(project, stage, file, path, value, message):
    spoil(project, file, path, value)
    fault = fault_of(lambda: stage_arguments(stage_named(stage), "monaco", Parameters(project)))
    assert f"{file}: {path}: expected {message}" in fault


def test_of_two_faults_the_first_is_named_with_its_own_key(project):
    spoil(project, "params.yaml", "roads.class_speed_kph.trunk", -1)
    spoil(project, "params.yaml", "roads.slowest_kph", -1)
    fault = fault_of(lambda: stage_arguments(stage_named("roads"), "monaco", Parameters(project)))
    assert "params.yaml: roads.class_speed_kph.trunk: expected" in fault


@pytest.mark.parametrize(
    ("shares", "intervals_s", "message"),
    [
        ([], [], "shares: expected to rise from 0 to 1, found []"),
        ([0, 0.5], [4, 11], "shares: expected to rise from 0 to 1"),
        ([0.1, 1], [4, 11], "shares: expected to rise from 0 to 1"),
        ([0, 0.5, 0.5, 1], [4, 11, 12, 13], "shares: expected to rise from 0 to 1"),
        ([0, 0.5, 1], [4, 11], "intervals_s: expected one interval for each of 3 shares, found 2"),
        ([0, 1], [11, 4], "intervals_s: expected never to fall, found [11.0, 4.0]"),
        ([0, 1], [0.5, 4], "intervals_s[0]: expected `float` >= 1"),
    ],
)
def test_a_sampling_that_is_no_quantile_function_is_refused(project, shares, intervals_s, message):
    sampling = {"kind": "jittered", "shares": shares, "intervals_s": intervals_s}
    spoil(project, "configs/monaco.yaml", "simulation.sampling", sampling)
    fault = fault_of(
        lambda: stage_arguments(stage_named("simulate"), "monaco", Parameters(project))
    )
    assert f"configs/monaco.yaml: simulation.sampling.{message}" in fault


@pytest.mark.parametrize(
    ("file", "path", "value", "message"),
    [
        ("configs/monaco.yaml", "name", "", "name: expected `str` of length >= 1"),
        ("configs/monaco.yaml", "name", 5, "name: expected `str`, got `int`"),
        ("configs/monaco.yaml", "language", ..., "language: expected this key"),
        ("configs/monaco.yaml", "langage", "fr", "langage: no stage knows this key"),
        ("params.yaml", "frozen", ["fly"], "frozen: fly: expected names of stages"),
        ("params.yaml", "frozen", "pull_osm", "frozen: expected `array`, got `str`"),
        ("params.yaml", "frozen", ..., "frozen: expected this key"),
    ],
)
def test_keys_that_no_stage_is_given_are_checked_all_the_same(project, file, path, value, message):
    spoil(project, file, path, value)
    expected = f"{file}: {message}"
    assert expected in fault_of(lambda: check_keys("monaco", Parameters(project)))
    assert expected in fault_of(lambda: run_stage("report", "monaco", root=project))
