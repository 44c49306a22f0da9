"""The README says what the code says: the journey table is the stage table, the tree exists."""

import argparse
import re
from pathlib import Path

from pipeline.__main__ import CHAPTERS
from pipeline.artifacts import ARTIFACTS, Artifact
from pipeline.release.command import loss_text
from pipeline.stages import STAGES

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def shown(artifact: Artifact) -> str:
    """Return a path as the table shows it: from the city's folder, or from the project's root."""
    if artifact.scope == "city":
        return artifact.path
    return artifact.place.replace("{city}", "<city>")


def journey_rows() -> list[str]:
    """Return the rows that the stage table gives."""
    rows = []
    for stage in STAGES:
        made = ", ".join(f"`{shown(ARTIFACTS[name])}`" for name in stage.writes)
        rejects = f"`{stage.rejections().path}`" if stage.rejects else ""
        rows.append(f"| `{stage.name}` | {stage.desc} | {made} | {rejects} |")
    return rows


def test_the_journey_table_is_the_stage_table():
    block = re.search(r"<!-- journey:.*?-->\n(.*?)<!-- end of journey -->", README, re.DOTALL)
    assert block is not None
    table = block.group(1).strip().splitlines()[2:]
    assert table == journey_rows(), "paste these rows:\n" + "\n".join(journey_rows())


def test_the_loss_table_is_that_of_the_committed_metrics():
    block = re.search(r"<!-- loss:.*?-->\n(.*?)\n<!-- end of loss -->", README, re.DOTALL)
    assert block is not None
    table = loss_text(ROOT, [], form="markdown")
    assert block.group(1) == table, f"paste this table:\n{table}"


def test_every_path_of_the_tree_exists():
    block = re.search(r"## Where things are\n\n```\n(.*?)```", README, re.DOTALL)
    assert block is not None
    for line in block.group(1).splitlines():
        assert (ROOT / line.split()[0]).exists(), line


def test_every_command_of_the_command_line_is_in_the_readme():
    commands = argparse.ArgumentParser().add_subparsers()
    for chapter in CHAPTERS:
        chapter.add_commands(commands)
    assert {"show", "stride"} < set(commands.choices)
    for command in set(commands.choices) - {"run"}:  # DVC calls it; users call `dvc repro`
        assert f"python -m pipeline {command}" in README
