"""Word a cell in one line, in the form of the paper's Listing 1.

    -> "GNN: WATERFRONT | Natural: garden, park, water | Commercial: dining, shopping |
        Facilities: bar, coffee shop | District: Cedofeita"

Parts without content are left out; lists are alphabetical, the commonest words are kept.
"""

from collections import Counter
from collections.abc import Iterable, Mapping


def describe_cell(
    geo_tag: str,
    *,
    natural: Iterable[str],
    commercial: Iterable[str],
    facilities: Iterable[str],
    district: str | None,
) -> str:
    """Return the line; only the geo-tag is never left out."""
    parts = {
        "GNN": geo_tag,
        "Natural": ", ".join(natural),
        "Commercial": ", ".join(commercial),
        "Facilities": ", ".join(facilities),
        "District": district or "",
    }
    return " | ".join(f"{name}: {words}" for name, words in parts.items() if words)


def commonest_words(counts: Mapping[str, int], limit: int) -> list[str]:
    """Return the `limit` commonest words in alphabetical order; of equals the earlier letter."""
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    return sorted(ranked[:limit])


def facility_words(categories: Iterable[str | None], *, dull: Iterable[str]) -> Counter[str]:
    """Count place categories as words ("coffee_shop" is "coffee shop"), dull ones left out."""
    skipped = {None, *dull}
    return Counter(name.replace("_", " ") for name in categories if name and name not in skipped)
