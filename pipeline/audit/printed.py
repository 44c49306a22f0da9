"""Print a report: Markdown or JSON on standard output, and a page where one is asked for.

print_audit(report, page=Path("out/audit.html"), as_json=False)
"""

import sys
from pathlib import Path

import msgspec

from pipeline.audit.markdown import markdown
from pipeline.audit.page import write_page
from pipeline.audit.report import AuditReport
from pipeline.audit.told import audit_blocks


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
    if as_json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n")
    else:
        sys.stdout.write(markdown(blocks))
