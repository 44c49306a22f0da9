"""A file of the user's is the old one or the new one, whatever happens while it is written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pipeline.__main__ import main
from pipeline.errors import SourceError
from pipeline.replacing import replace_text, replaced
from pipeline.schemas import schema_document
from tests.stride.crowds import states, strolling

ROOT = Path(__file__).resolve().parent.parent
# What a full disk does: the system refuses more than so many bytes in a file.
FULL = """
import resource, sys
from pipeline.__main__ import main
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
sys.exit(main(sys.argv[1:]))
"""


def test_the_new_file_has_the_rights_of_the_old_one_and_a_link_stays_a_link(tmp_path):
    file, link = tmp_path / "page.html", tmp_path / "link.html"
    replace_text(file, "old")
    file.chmod(0o640)
    link.symlink_to(file)
    replace_text(link, "new")
    assert link.is_symlink()
    assert file.read_text("utf-8") == "new"
    assert file.stat().st_mode & 0o777 == 0o640
    assert sorted(tmp_path.iterdir()) == [link, file]


def test_folders_are_made_and_what_fails_leaves_the_old_file_alone(tmp_path):
    file = tmp_path / "a" / "b" / "page.html"
    replace_text(file, "old")

    def fails():
        with replaced(file) as aside:
            aside.write_text("ne")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert file.read_text("utf-8") == "old"
    assert list(file.parent.iterdir()) == [file]


def test_what_is_no_ordinary_file_is_written_to_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        replace_text(pipe, "told")
        assert reader.stdout.read() == "told"
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", ["", "file/page.html", "file/deeper/page.html"])
def test_a_place_where_no_file_can_be_is_named(tmp_path, name):
    (tmp_path / "file").write_text("a file is no folder")
    with pytest.raises(SourceError, match="expected the name of a file to write") as fault:
        replace_text(tmp_path / name, "text")
    assert str(fault.value).startswith(f"{tmp_path / name}: ")


def on_a_full_disk(*words):
    return subprocess.run(
        [sys.executable, "-c", FULL, *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def commands(tmp_path):
    """Return what each command is asked, and the file it writes."""
    bench, npz, table = tmp_path / "bench.json", tmp_path / "ours.npz", tmp_path / "walk.txt"
    bench.write_text(json.dumps(schema_document("stride_benchmark")["examples"][0]))
    np.savez(npz, **{"0001": states(strolling())})
    rows = [f"{10 * i} {who} {0.5 * i} {who}" for i in range(30) for who in range(9)]
    table.write_text("\n".join(rows) + "\n")
    given = ("stride", "score", "--benchmark", bench, "--states", npz)
    report, walk, page = tmp_path / "r.json", tmp_path / "walk.npz", tmp_path / "page.html"
    assert main([str(word) for word in (*given, "--out", tmp_path / "scored.json")]) == 0
    shown = ("stride", "page", tmp_path / "scored.json", "--states", npz, "--scenario", "0001")
    return {
        "score": ((*given, "--out", report), report),
        "page": ((*shown, "--out", page), page),
        "import": (
            ("stride", "import", "four_columns", table, "--fps", "25", "--out", walk),
            walk,
        ),
    }


@pytest.mark.parametrize("command", ["score", "page", "import"])
@pytest.mark.parametrize("old", ["what somebody worked on", None])
def test_a_full_disk_costs_no_file_and_is_one_line(tmp_path, commands, command, old):
    words, file = commands[command]
    if old is not None:
        file.write_text(old)
    before = sorted(tmp_path.iterdir())
    ended = on_a_full_disk(*words)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == (
        f"error: {file}: expected to write, found 'File too large'; no file is half-written;"
        " raise the limit of a file's size (ulimit -f) and run it again"
    )
    assert "Traceback" not in ended.stderr
    assert sorted(tmp_path.iterdir()) == before
    assert old is None or file.read_text() == old
