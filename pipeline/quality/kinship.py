"""Tell whether a judge and the writer of what it judges are of one family of models.

    family_of("openai/gpt-oss-120b", "vllm", {"gpt": "openai", "qwen": "qwen"})   ->  "openai"
    Kinship(judge, writers, families).same_family   ->  True, False, or None where nobody can tell

A model prefers texts of its own family, so the judge should be of another one. The rule is plain:
the longest word of `families` in params.yaml that the model's name holds decides. `template` and
`rules` are no models and each a family of its own.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl

from pipeline.language.requests import NO_MODEL


class Writer(NamedTuple):
    """Who wrote texts, and for how many trips."""

    engine: str
    model: str
    trips: int


def family_of(model: str, engine: str, families: Mapping[str, str]) -> str | None:
    """Return the family of a model; None where its name tells none.

    Args:
        model: Its name, such as `org/name`.
        engine: What runs it.
        families: Family by a word of the name, in lower case.
    """
    if engine in NO_MODEL:
        return engine
    words = [word for word in families if word in model.lower()]
    return families[max(words, key=len)] if words else None


def writers_of(provenance: pl.Series) -> list[Writer]:
    """Return who wrote the texts of some trips, given their column `provenance`."""
    counts = provenance.struct.unnest().group_by("engine", "model").len().sort("engine", "model")
    return [Writer(*row) for row in counts.iter_rows()]


class Kinship:
    """A judge beside those whose texts it judges.

    Attributes:
        family: Family of the judge; None where its name tells none.
        same_family: Whether a writer is of the judge's family; None where that cannot be told.
    """

    def __init__(
        self, *, engine: str, model: str, writers: list[Writer], families: Mapping[str, str]
    ) -> None:
        self._model, self._writers = model, writers
        self.family = family_of(model, engine, families)
        self._families = [family_of(one.model, one.engine, families) for one in writers]
        known = self.family is not None and None not in self._families
        same = self.family is not None and self.family in self._families
        self.same_family: bool | None = True if same else False if known else None

    def figures(self) -> dict[str, Any]:
        """Return what metrics say of it."""
        return {
            "family": self.family,
            "writers": [
                writer._asdict() | {"family": family}
                for writer, family in zip(self._writers, self._families, strict=True)
            ],
            "same_family": self.same_family,
        }

    def warning(self) -> str | None:
        """Return the line a user should read; None where all is well."""
        writers = ", ".join(f"{one.model} ({one.trips:,} trips)" for one in self._writers)
        if self.same_family:
            return (
                f"warning: {self._model} judges texts of its own family ({self.family}), written by"
                f" {writers}; models prefer their own, so choose a judge of another family"
            )
        if self.same_family is None and self._writers:
            return (
                f"warning: cannot tell whether {self._model} judges texts of its own family,"
                f" written by {writers}; name the families under `families:` in params.yaml"
            )
        return None
