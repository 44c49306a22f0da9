"""WordNet is laid from Debian's packages as a whole, by its content, or not at all."""

import io
import tarfile

import pytest

from pipeline.errors import SourceError
from pipeline.tasks import wordnet


def package(files: dict[str, bytes]) -> bytes:
    """Return a Debian package: an ar archive with a tar of files, packed fast."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz", preset=0) as archive:
        for name, content in files.items():
            told = tarfile.TarInfo(f"./usr/share/wordnet/{name}")
            told.size = len(content)
            archive.addfile(told, io.BytesIO(content))
    members = {
        "debian-binary": b"2.0\n",
        "control.tar.xz": b"odd",
        "data.tar.xz": packed.getvalue(),
    }
    made = b"!<arch>\n"
    for name, content in members.items():
        head = f"{name:16}{0:<12}{0:<6}{0:<6}{'100644':8}{len(content):<10}`\n"
        made += head.encode() + content + b"\n" * (len(content) % 2)
    return made


def test_the_packages_give_what_is_installed(tmp_path):
    folder = wordnet.installed()
    assert folder, "run `make wordnet`"
    files = {one.name: one.read_bytes() for one in (folder / "corpora/wordnet").iterdir()}
    del files["lexnames"]
    sense = {"index.sense": files.pop("index.sense")}
    packages = [tmp_path / "wordnet-base.deb", tmp_path / "wordnet-sense-index.deb"]
    for place, content in zip(packages, (files, sense), strict=True):
        place.write_bytes(package(content))
    into = tmp_path / "laid"
    wordnet.install(packages, into=into)
    for one in folder.rglob("*"):
        if one.is_file():
            assert (into / one.relative_to(folder)).read_bytes() == one.read_bytes()
    assert [one.name for one in tmp_path.iterdir() if one.is_dir()] == ["laid"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"no package", "expected a Debian package of WordNet, found no data.tar.xz"),
        (package({"data.noun": b"a word"}), "expected WordNet 3.0 with hash .*, found 1 files"),
        (package({"data.noun": b"a word"})[:-70], "expected a Debian package of WordNet"),
    ],
)
def test_what_is_not_wordnet_is_refused_and_leaves_nothing(tmp_path, content, told):
    place = tmp_path / "one.deb"
    place.write_bytes(content)
    with pytest.raises(SourceError, match=told):
        wordnet.install([place], into=tmp_path / "laid")
    assert list(tmp_path.iterdir()) == [place]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"none\.deb: expected a Debian package of WordNet"):
        wordnet.install([tmp_path / "none.deb"], into=tmp_path / "laid")
