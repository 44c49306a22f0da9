"""Each option tells its default in the same way; numbers are refused below their least."""

import argparse
import shlex
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import __main__ as command_line
from pipeline.errors import SourceError
from pipeline.options import argument, at_least


def options(parser: argparse.ArgumentParser, name: str) -> Iterator[tuple[str, argparse.Action]]:
    """Yield every option and argument of a parser and of the commands below it."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command, inner in action.choices.items():
                yield from options(inner, f"{name} {command}")
        elif not isinstance(action, argparse._HelpAction):
            yield f"{name} {'/'.join(action.option_strings) or action.dest}", action


OPTIONS = dict(options(command_line._parser(), "pipeline"))
WITH_DEFAULT = {
    name: action for name, action in OPTIONS.items() if action.default not in (None, False)
}


def test_there_are_options_with_a_default():
    assert len(OPTIONS) > 100
    assert len(WITH_DEFAULT) >= 15


@pytest.mark.parametrize("name", WITH_DEFAULT)
def test_an_option_with_a_default_tells_it_in_its_help(name):
    action = WITH_DEFAULT[name]
    told = (action.help or "").rpartition(" (default: ")
    assert told[1]
    assert told[2].endswith(")")
    # A value is filled in by argparse, so it cannot be another one; nothing is told in words.
    assert action.default == [] or told[2] == "%(default)s)"


@pytest.mark.parametrize("name", OPTIONS)
def test_no_help_tells_a_default_in_another_way(name):
    text = OPTIONS[name].help or ""
    assert "the default" not in text
    assert "by default" not in text
    assert "none = " not in text


@pytest.mark.parametrize(
    ("command", "option", "least"),
    [
        (("plan", "--diffs", "-1"), "--diffs", 0),
        (("seed", "helsinki", "-n", "0"), "-n", 1),
        (("audit", "HEAD", "workspace", "--prompts", "-1"), "--prompts", 0),
        (("audit", "HEAD", "workspace", "--worse", "-3"), "--worse", 0),
        (
            ("match-file", "--network", "n", "--points", "p", "--out", "o", "--workers", "-1"),
            "--workers",
            0,
        ),
    ],
)
def test_a_number_below_the_least_is_one_line(command, option, least, capsys):
    assert command_line.main(list(command)) == 1
    line = capsys.readouterr().err
    assert line.startswith(f"error: {option}: expected {least} or more, found {command[-1]}; ")
    assert line.count("\n") == 1


def test_the_least_itself_is_a_number():
    assert at_least(0, "--diffs", 0) == 0
    with pytest.raises(SourceError, match="expected 1 or more, found 0"):
        at_least(1, "-n", 0)


@given(st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"])))
def test_any_text_comes_back_from_the_command_line_it_is_put_into(text):
    parser = argparse.ArgumentParser()
    parser.add_argument("city")
    parser.add_argument("trip_id")
    parser.add_argument("--page")
    words = shlex.split(f"monaco {argument(text)}")
    assert parser.parse_args(words).trip_id == text


def test_an_id_that_looks_like_an_option_comes_behind_two_dashes():
    assert argument("-7 b") == "-- '-7 b'"
    assert argument("17") == "17"
