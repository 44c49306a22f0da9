"""What the paper reports, as citations: typed from its tables, never mixed with scores of ours.

cited({"retrieval"})  ->  Cited("Li et al.: ...", [CitedTable(table="Table 4", ...), ...])
"""

from collections.abc import Collection
from pathlib import Path

import msgspec

from pipeline.params import document_of

CITED_FILE = Path(__file__).with_name("cited.yaml")


class CitedTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One table of the paper.

    Attributes:
        task: The task it is about.
        table: Its number there.
        title: What it shows.
        columns: Its metrics, with an arrow in the better direction.
        cities: City -> method -> a value of each column.
    """

    task: str
    table: str
    title: str
    columns: list[str]
    cities: dict[str, dict[str, list[float]]]

    def __post_init__(self) -> None:
        for city, methods in self.cities.items():
            for method, values in methods.items():
                if len(values) != len(self.columns):
                    raise ValueError(
                        f"{self.table}, {city}, {method}: expected {len(self.columns)} values,"
                        f" found {len(values)}"
                    )


class Cited(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tables of one source.

    Attributes:
        source: The source, as one cites it.
        tables: Its tables, in the order shown.
    """

    source: str
    tables: list[CitedTable]


def cited(tasks: Collection[str]) -> Cited:
    """Return what the paper reports on some tasks."""
    found: Cited = document_of(CITED_FILE, Cited)
    return Cited(found.source, [one for one in found.tables if one.task in tasks])
