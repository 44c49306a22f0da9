"""A log gets a line now and then, a terminal a bar, and nobody loses an item."""

import os
import sys
import termios

import pytest

from pipeline import progress
from pipeline.progress import progress_bar


@pytest.fixture
def clock(monkeypatch):
    """Let every item take four seconds."""
    now = iter(range(0, 1000, 4))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))


def test_a_log_gets_a_line_each_time_ten_seconds_have_passed(clock, capsys):
    assert list(progress_bar("abcdefg", total=7, unit="shard", desc="match toy")) == [*"abcdefg"]
    assert capsys.readouterr().err.splitlines() == [
        "match toy: shard 2 of 7", "match toy: shard 5 of 7",
    ]  # fmt: skip


def test_a_log_that_does_not_know_the_end_tells_how_many_are_done(clock, capsys):
    list(progress_bar(iter(range(3)), total=None, unit="row", desc="read toy"))
    assert capsys.readouterr().err == "read toy: row 2\n"


def test_what_is_soon_done_has_no_line(capsys):
    assert list(progress_bar(range(9), total=9, unit="shard", desc="match toy")) == [*range(9)]
    assert capsys.readouterr().err == ""


def test_a_terminal_has_a_bar(monkeypatch):
    screen, terminal = os.openpty()
    termios.tcsetwinsize(terminal, (24, 120))
    with os.fdopen(terminal, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        assert list(progress_bar("ab", total=2, unit="shard", desc="match toy")) == ["a", "b"]
        stream.flush()
        shown = ""
        while "2/2" not in shown:  # a terminal hands on what it has
            shown += os.read(screen, 10_000).decode()
    os.close(screen)
    assert "match toy: 100%|" in shown
