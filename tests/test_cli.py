"""The command line ends in one line on standard error, whatever went wrong around it."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline import __main__ as command_line
from pipeline import project_parser
from pipeline.errors import SourceError
from pipeline.progress import progress_bar

ROOT = Path(__file__).resolve().parent.parent


def end_with(monkeypatch, fault):
    """Let the command `stages` end in a fault."""

    def command(_):
        raise fault

    monkeypatch.setattr(project_parser, "_stages", command)
    return command_line.main(["stages"])


@pytest.mark.parametrize("number", sorted(command_line.NO_ROOM))
def test_no_room_is_one_line_whoever_tells_it(monkeypatch, capsys, number):
    words = os.strerror(number)
    # As the system tells it, and as Polars does: without a number of its own.
    for fault in (OSError(number, words), OSError(f"{words} (os error {number})")):
        assert end_with(monkeypatch, fault) == 1
        message = capsys.readouterr().err
        assert message.startswith("error: expected to write, found '" + words)
        assert message.count("\n") == 1


def test_any_other_fault_of_the_system_keeps_its_traceback(monkeypatch):
    with pytest.raises(OSError, match="os error 5"):
        end_with(monkeypatch, OSError(f"{os.strerror(errno.EIO)} (os error 5)"))
    with pytest.raises(BrokenPipeError):  # not that of standard output, which is well
        end_with(monkeypatch, BrokenPipeError(errno.EPIPE, "elsewhere"))


def test_an_error_does_not_share_its_line_with_a_progress_bar(monkeypatch, capsys):
    def command(_):
        for item in progress_bar(range(9), total=9, unit="shard", desc="match toy"):
            if item == 4:
                raise SourceError("the file went away")

    monkeypatch.setattr(project_parser, "_stages", command)
    assert command_line.main(["stages"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == "error: the file went away"


@pytest.mark.parametrize("lines", [1, 20_000])  # in one go at the end, and in many
def test_a_reader_that_has_gone_ends_it_quietly(lines):
    program = (
        "import sys; from pipeline import __main__ as m, project_parser;"
        f"project_parser._stages = lambda _: [print('stage') for _ in range({lines})] and 0;"
        "sys.stdin.readline(); sys.exit(m.main(['stages']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdout.close()  # before the first word
        process.stdin.write("go\n")
        process.stdin.flush()
        assert process.stderr.read() == ""
    assert process.returncode == 141


@pytest.mark.parametrize(
    ("place", "advice"),
    [
        ("nowhere/report.parquet", "name a folder that exists"),
        ("folder", "name a file in it"),
        ("file/report.parquet", "name a place in a folder"),
        (f"{'x' * 300}.parquet", "give a shorter name"),
    ],
)
def test_a_named_place_where_no_file_can_be_is_one_line(
    tmp_path, place, advice, monkeypatch, capsys
):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("a file is no folder")

    def writes(arguments):
        arguments.out.open("w").close()
        return 0

    def parser():
        made = command_line.argparse.ArgumentParser()
        made.set_defaults(command=writes, out=tmp_path / place)
        return made

    monkeypatch.setattr(command_line, "_parser", parser)
    assert command_line.main([]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: {tmp_path / place}: expected to write, found '")
    assert said.endswith(f"; no file is half-written; {advice} and run it again\n")
    assert len(said.splitlines()) == 1


def test_a_missing_file_that_nobody_named_keeps_its_traceback(tmp_path, monkeypatch):
    def parser():
        made = command_line.argparse.ArgumentParser()
        made.set_defaults(command=lambda _: (tmp_path / "ours").open(), out=Path("elsewhere/x"))
        return made

    monkeypatch.setattr(command_line, "_parser", parser)
    with pytest.raises(FileNotFoundError):
        command_line.main([])
