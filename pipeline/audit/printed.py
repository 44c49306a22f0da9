"""Print an audit or a release diff: Markdown or JSON on standard output, and files if asked for.

print_audit(report, page=Path("out/audit.html"), as_json=False)
print_diff(compared, records=Path("out/records.csv"), as_json=False)
"""

import sys
from pathlib import Path

import msgspec

from pipeline.audit.diff import Compared
from pipeline.audit.diff_report import ReleaseDiff
from pipeline.audit.diff_told import diff_blocks
from pipeline.audit.markdown import markdown
from pipeline.audit.page import write_page
from pipeline.audit.report import AuditReport
from pipeline.audit.told import audit_blocks
from pipeline.csv_files import csv_of
from pipeline.replacing import replace_text


def print_audit(report: AuditReport, *, page: Path | None, as_json: bool) -> None:
    """Print an audit.

    Args:
        report: What was found.
        page: HTML file to write as well, or None.
        as_json: Print the record (schemas/audit_report.schema.json) instead of Markdown.
    """
    blocks = list(audit_blocks(report))
    if page is not None:
        write_page(f"Audit: {report.before.given} to {report.after.given}", blocks, page)
    sys.stdout.write(_json(report) if as_json else markdown(blocks))


def print_diff(compared: Compared, *, records: Path | None, as_json: bool) -> None:
    """Print a release diff.

    Args:
        compared: What was found.
        records: CSV file to write, with every record that is not the same, or None.
        as_json: Print the record (schemas/release_diff.schema.json) instead of Markdown.
    """
    if records is not None:
        replace_text(records, csv_of(compared.records))
    report = compared.report
    sys.stdout.write(_json(report) if as_json else markdown(diff_blocks(report)))


def _json(report: AuditReport | ReleaseDiff) -> str:
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"
