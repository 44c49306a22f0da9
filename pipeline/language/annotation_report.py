"""Put a city's texts into numbers: how many came, how long they are, how many ask; and two plots.

tally = TextTally()
tally.add(texts)                  # seven texts of each trip
tally.figures()  ->  [{"field": "instruction_literal", "texts": 651, "words_mean": 14.2, ...}]
data/<city>/plots/words_per_style.csv       how long instructions are (paper Figure 13, left)
data/<city>/plots/questions_per_style.csv   how many of them ask (Figure 13, right)
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import polars as pl

from pipeline.language.requests import Answer
from pipeline.language.vocabulary import STYLES
from pipeline.records import Texts

FIELDS = Texts.__struct_fields__
# Share of instructions with a question, as the paper reports them (Figure 13).
PAPER_QUESTION_SHARE = {"literal": 0.002, "concise": 0.0, "chatty": 0.275}
_OPENER_WORDS = 2


class TextTally:
    """Counts over the seven texts of any number of trips; holds counts, no texts."""

    def __init__(self) -> None:
        self._words: dict[str, Counter[int]] = {field: Counter() for field in FIELDS}
        self._openers: dict[str, set[str]] = {field: set() for field in FIELDS}
        self._questions: Counter[str] = Counter()
        self._trips = 0
        self._different = 0

    def add(self, texts: Texts) -> None:
        """Count one trip's texts. Words are what white space separates."""
        first_words = set()
        for field, text in msgspec.structs.asdict(texts).items():
            words = text.split()
            self._words[field][len(words)] += 1
            self._openers[field].add(" ".join(words[:_OPENER_WORDS]).casefold())
            self._questions[field] += "?" in text
            if field.startswith("instruction_"):
                first_words.add(words[0].strip(",.!?").casefold() if words else "")
        self._trips += 1
        self._different += len(first_words) == len(STYLES)

    def figures(self) -> list[dict[str, Any]]:
        """Return one entry per text; means and shares are null where there are no trips.

        `openers` counts different first two words; more is more varied.
        """
        return [
            {
                "field": field,
                "texts": self._trips,
                "words_mean": _share(sum(n * times for n, times in self._words[field].items()),
                                     self._trips),
                "words_most": max(self._words[field], default=None),
                "question_share": _share(self._questions[field], self._trips),
                "openers": len(self._openers[field]),
            }
            for field in FIELDS
        ]  # fmt: skip

    def different_openers_share(self) -> float | None:
        """Return the share of trips whose three instructions begin with three different words."""
        return _share(self._different, self._trips)

    def words_plot(self) -> pl.DataFrame:
        """Return how many instructions of each style have how many words: style, words, texts.

        Every number of words up to the largest has a row, so that a line falls to 0 between.
        """
        most = max((n for style in STYLES for n in self._words[f"instruction_{style}"]), default=0)
        rows = [
            {"style": style, "words": n, "texts": self._words[f"instruction_{style}"][n]}
            for style in STYLES
            for n in range(most + 1)
        ]
        return pl.DataFrame(rows, schema={"style": pl.String, "words": pl.Int64, "texts": pl.Int64})

    def questions_plot(self) -> pl.DataFrame:
        """Return the share of instructions that ask, beside the paper's: style, series, share."""
        rows = [
            row
            for style in STYLES
            for row in (
                (style, "here", _share(self._questions[f"instruction_{style}"], self._trips)),
                (style, "paper", PAPER_QUESTION_SHARE[style]),
            )
        ]
        schema = {"style": pl.String, "series": pl.String, "share": pl.Float64}
        return pl.DataFrame(rows, schema=schema, orient="row")


class AskingTally:
    """Counts over what became of requests."""

    def __init__(self) -> None:
        self._requests = 0
        self._failed: Counter[str] = Counter()
        self._attempts: Counter[int] = Counter()
        self._prompt: int | None = 0
        self._output: int | None = 0

    def add(self, attempts: Sequence[Answer], answer: Answer | None, *, shared: bool) -> None:
        """Count one request.

        Args:
            attempts: All its attempts, at least one.
            answer: The good one, if there is one.
            shared: Whether the same was asked for an item before: its tokens are counted there.
        """
        self._requests += 1
        self._attempts[len(attempts)] += 1
        if answer is None:
            self._failed[attempts[-1].status] += 1
        for one in () if shared else attempts:
            self._prompt = _sum(self._prompt, one.prompt_tokens)
            self._output = _sum(self._output, one.output_tokens)

    def figures(self) -> dict[str, Any]:
        """Return the counts; tokens are null as soon as one attempt did not count them."""
        failed = sum(self._failed.values())
        return {
            "requests": self._requests,
            "ok": self._requests - failed,
            "failed": failed,
            "failed_by_status": dict(sorted(self._failed.items())),
            "requests_by_attempts": {str(n): self._attempts[n] for n in sorted(self._attempts)},
            "prompt_tokens": self._prompt,
            "output_tokens": self._output,
        }


def _sum(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
