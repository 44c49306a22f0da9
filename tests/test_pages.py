"""Every HTML page has one policy: whatever a text in it holds, it fetches nothing."""

import re
from pathlib import Path

from pipeline.audit.page import page

PIPELINE = Path(__file__).resolve().parent.parent / "pipeline"
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')


def test_all_pages_have_the_same_policy_which_lets_nothing_in():
    pages = {str(file.relative_to(PIPELINE)): file.read_text("utf-8")
             for file in PIPELINE.rglob("*.html")}  # fmt: skip
    assert set(pages) == {
        "review/page.html", "show/page.html", "stride/report_page.html", "tasks/board.html"
    }  # fmt: skip
    pages["audit"] = page("A & B", [])
    policies = {name: POLICY.findall(text) for name, text in pages.items()}
    assert len({tuple(found) for found in policies.values()}) == 1
    (policy,) = policies["audit"]
    rules = dict(one.strip().split(" ", 1) for one in policy.split(";"))
    assert rules.pop("default-src") == "'none'"
    assert set(rules.values()) <= {"'unsafe-inline'"}


def test_a_policy_stands_before_anything_that_could_be_fetched():
    for text in (*(file.read_text("utf-8") for file in PIPELINE.rglob("*.html")), page("", [])):
        head = text[: POLICY.search(text).start()]
        assert not re.search(r"<(script|style|link|img|body)", head)


def test_no_other_module_writes_a_page():
    holding = [file for file in PIPELINE.rglob("*.py") if "<html" in file.read_text("utf-8")]
    assert [str(file.relative_to(PIPELINE)) for file in holding] == ["audit/page.py"]
