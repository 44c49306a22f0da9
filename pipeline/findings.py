"""What a check of a city finds before any heavy work: one line each, with the remedy.

warning  unnamed roads: expected at most 40 %, found 63 %; set `network.service_roads: false`
"""

from typing import Literal

import msgspec


class Finding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing a check looked at.

    Attributes:
        level: `error` stops or spoils the run, `warning` is suspicious, `info` is good to know.
        what: What was looked at.
        expected: What it should be.
        found: What it is.
        remedy: What to do about it; empty when nothing needs doing.
        examples: Some of the rows it is about, a line each.
    """

    level: Literal["error", "warning", "info"]
    what: str
    expected: str
    found: str
    remedy: str = ""
    examples: tuple[str, ...] = ()

    def text(self) -> str:
        """Word the finding: its line, and a line for each example."""
        return "\n".join([self.line(), *(f"         such as {one}" for one in self.examples)])

    def line(self) -> str:
        """Word the finding on one line."""
        remedy = f"; {self.remedy}" if self.remedy else ""
        expected = f"expected {self.expected}, " if self.expected else ""
        return f"{self.level:<8} {self.what}: {expected}found {self.found}{remedy}"
