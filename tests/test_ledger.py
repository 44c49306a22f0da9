"""Every raw trip ends in exactly one state."""

import polars as pl

from pipeline.trips.ledger import ledger_of


def frames():
    """Five raw trips, one per way to end, and one unreadable row."""
    raw = pl.DataFrame({"raw_trip_id": ["told", "split", "lost", "dirty", "one_cell"]})
    cleaned = pl.DataFrame(
        {"trip_id": ["told", "split.1", "split.2", "lost", "one_cell"],
         "raw_trip_id": ["told", "split", "split", "lost", "one_cell"]}
    )  # fmt: skip
    matched = pl.DataFrame(
        {"trip_id": ["told", "split.1", "split.1_p3", "one_cell"],
         "cleaned_trip_id": ["told", "split.1", "split.1", "one_cell"]}
    )  # fmt: skip
    phased = pl.DataFrame({"trip_id": ["told", "split.1"]})
    rejected = pl.DataFrame(
        [
            ("dirty", "ingest", "too_few_points"),
            ("row 7", "ingest", "malformed_row"),
            ("lost", "match", "not_matched"),
            ("split.1_p2", "match", "drive_too_short"),
            ("split.2", "match", "not_matched"),
            ("split.1_p3", "compress", "too_few_phases"),
            ("one_cell", "compress", "too_few_phases"),
        ],
        schema=["item_id", "stage", "reason"],
        orient="row",
    )
    return raw, cleaned, matched, phased, rejected


def test_every_input_is_in_exactly_one_state():
    ledger = ledger_of(*frames())
    assert ledger["raw_trip_id"].to_list() == [
        "dirty", "lost", "one_cell", "row 7", "split", "told",
    ]  # fmt: skip
    by_id = {row["raw_trip_id"]: row for row in ledger.to_dicts()}
    ends = {key: (row["state"], row["stage"], row["reason"]) for key, row in by_id.items()}
    assert ends == {
        "told": ("phased", "compress", None),
        "split": ("phased", "compress", None),
        "lost": ("rejected", "match", "not_matched"),
        "dirty": ("rejected", "ingest", "too_few_points"),
        "row 7": ("rejected", "ingest", "malformed_row"),
        "one_cell": ("rejected", "compress", "too_few_phases"),
    }


def test_a_split_trip_counts_its_pieces():
    row = ledger_of(*frames()).row(by_predicate=pl.col("raw_trip_id") == "split", named=True)
    assert (row["cleaned"], row["drives"], row["phased"]) == (2, 2, 1)
