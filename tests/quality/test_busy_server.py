"""Stages that ask wait for a busy server, stop when it stays so, and go on in the next run."""

from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import ModelError
from pipeline.language.engines import patience
from pipeline.language.ledger import Ledger
from tests.answering_server import AnsweringServer
from tests.language.asked_project import AskedProject, nine, trip_called
from tests.quality.judged import answer, checked_trip, judged_project

RESPONSES = {"annotate": "responses", "judge": "judge_responses"}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Let pauses be a twentieth of what they are."""
    monkeypatch.setattr(patience, "_FIRST_PAUSE_S", 0.05)
    monkeypatch.setattr(patience, "_LONGEST_PAUSE_S", 0.2)


def project_for(stage: str, root: Path) -> AskedProject:
    root.mkdir()
    if stage == "judge":
        return judged_project(root, [[checked_trip("t1"), checked_trip("t2")]])
    return AskedProject(root, [[trip_called("t1"), trip_called("t2"), trip_called("t3")]])


def text_of(stage: str, body: dict[str, Any]) -> str:
    del body
    return answer() if stage == "judge" else nine("all")


def ask_at(project: AskedProject, stage: str, url: str) -> None:
    engine = {
        "kind": "openai", "base_url": url, "model": "toy", "revision": "1", "concurrency": 4,
        "requests_per_minute": None, "timeout_s": 30, "patience_s": 0.5, "api_key_env": None,
        "strict": True, "extra_body": {},
    }  # fmt: skip
    model = project.params["annotate"]
    keys = {"executor", "sampling", "attempts"}
    project.set(stage, engine=engine, most_failed_share=0.0, **{key: model[key] for key in keys})
    project.run(stage)


@pytest.mark.parametrize("stage", ["annotate", "judge"])
def test_a_busy_server_leaves_no_trace(tmp_path, stage):
    with AnsweringServer(lambda body: text_of(stage, body)) as server:
        server.turns_away = 0
        smooth = project_for(stage, tmp_path / "smooth")
        ask_at(smooth, stage, server.url)
        server.turns_away, server.turned_away = 10**9, 0
        project = project_for(stage, tmp_path / "busy")
        for _ in range(4):  # more runs than attempts
            with pytest.raises(
                ModelError, match=r"answered no request for 0\.5 s .* busy; when it"
            ):
                ask_at(project, stage, server.url)
        with Ledger(project.root / "store") as ledger:
            assert list(ledger.stored()) == []
        server.turns_away = server.turned_away + 3
        ask_at(project, stage, server.url)
        assert server.turned_away == server.turns_away
    assert project.bytes_of(RESPONSES[stage]) == smooth.bytes_of(RESPONSES[stage])
    assert {row["attempt"] for row in project.rows(RESPONSES[stage])} == {1}
