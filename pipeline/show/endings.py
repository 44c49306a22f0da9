"""Say where a trip ended: every item it came down to is in exactly one state.

    raw trip 17 -> cleaned 17 -> drives 17 (phased) and 17_p2 (rejected by compress)
    ->  [Ending("17", "drive", "phased"), Ending("17_p2", "drive", "rejected", "compress")]

What came of a phased drive later stands in the loss ledger, once it is made: released, or rejected
by a later stage.

`waiting` means the next stage has not run yet; `lost` and `contradictory` mean that a stage broke
its contract (neither kept nor rejected, or both), and should never be seen.
"""

from collections.abc import Iterable

import polars as pl

from pipeline.records import RawTrip, Rejection
from pipeline.release.loss import LIFE, RELEASE
from pipeline.show.life import CleanedLife, Ending, Kind, State
from pipeline.show.shards import CityTables

# A trip counts as released, or phased, when any drive of it is; else faults and open ends come
# before refusals.
PRECEDENCE: tuple[State, ...] = (
    "released", "phased", "contradictory", "lost", "waiting", "rejected",
)  # fmt: skip
DEPTH = {stage: number for number, stage in enumerate([*LIFE, RELEASE])}


def endings_of(
    tables: CityTables,
    raw: RawTrip | None,
    cleaned: list[CleanedLife],
    rejections: list[Rejection],
) -> list[Ending]:
    """Return one ending per item a trip came down to, in the order of its life.

    Args:
        tables: The city, asked which stages have run.
        raw: The raw trip; None for a row that could not be read.
        cleaned: Its cleaned trips with their drives.
        rejections: All rejections under any of its ids.
    """
    refused = {(one.stage, one.item_id): one for one in rejections}
    if raw is None:
        return [_rejected("row", one) for one in rejections]
    if not cleaned:
        return [_at_stage("raw trip", raw.raw_trip_id, "ingest", "raw_trips", refused, tables)]
    endings = [ending for one in cleaned for ending in _cleaned_endings(tables, one, refused)]
    return _with_loss(tables, endings, refused)


def final_of(endings: list[Ending]) -> Ending:
    """Return the one state of the trip as a whole, by the loss ledger's rule.

    It is released, or phased, when at least one drive is; a trip all of whose pieces were refused
    ended where its furthest piece did.
    """
    return min(
        endings,
        key=lambda one: (PRECEDENCE.index(one.state), -DEPTH.get(one.stage, 0), one.item_id),
    )


def _with_loss(
    tables: CityTables, endings: list[Ending], refused: dict[tuple[str, str], Rejection]
) -> list[Ending]:
    """Return the endings, those of phased drives as the loss ledger has them where it is made."""
    phased = [one.item_id for one in endings if one.state == "phased"]
    if not phased or not tables.files("loss"):
        return endings
    own = tables.scan("loss").filter(pl.col("item_id").is_in(phased))
    columns = ("item_id", "state", "stage", "reason", "split")
    entries = {
        row["item_id"]: row for row in tables.collect(own.select(columns), "loss").to_dicts()
    }
    later = []
    for one in endings:
        entry = entries.get(one.item_id)
        if entry is None:
            later.append(one)
        elif entry["state"] == "released":
            split = f"split {entry['split']}"
            later.append(Ending(one.item_id, "drive", "released", RELEASE, "", split))
        else:
            stage, reason = entry["stage"], entry["reason"] or ""
            why = refused.get((stage, one.item_id))
            detail = why.detail if why else ""
            later.append(Ending(one.item_id, "drive", "rejected", stage, reason, detail))
    return later


def _cleaned_endings(
    tables: CityTables, life: CleanedLife, refused: dict[tuple[str, str], Rejection]
) -> Iterable[Ending]:
    trip_id = life.trip.trip_id
    kept = {one.trip.trip_id: one for one in life.drives}
    turned_away = {
        item
        for stage, item in refused
        if stage == "match" and (item == trip_id or item.startswith(f"{trip_id}_p"))
    }
    if not kept and not turned_away:
        return [_at_stage("cleaned trip", trip_id, "match", "matched", refused, tables)]
    endings = []
    for item in sorted(kept.keys() | turned_away, key=lambda one: (len(one), one)):
        if item in kept and item in turned_away:
            endings.append(_contradiction("drive", item, "match"))
        elif item in turned_away:
            kind: Kind = "drive" if kept or item != trip_id else "cleaned trip"
            endings.append(_rejected(kind, refused["match", item]))
        elif kept[item].phased is None:
            endings.append(_at_stage("drive", item, "compress", "phased", refused, tables))
        elif ("compress", item) in refused:
            endings.append(_contradiction("drive", item, "compress"))
        else:
            endings.append(Ending(item, "drive", "phased", "compress", "", ""))
    return endings


def _at_stage(
    kind: Kind,
    item_id: str,
    stage: str,
    makes: str,
    refused: dict[tuple[str, str], Rejection],
    tables: CityTables,
) -> Ending:
    """Return the ending of an item that a stage did not turn into the next thing."""
    if (stage, item_id) in refused:
        return _rejected(kind, refused[stage, item_id])
    if not tables.files(makes):
        command = tables.maker_command(makes)
        return Ending(item_id, kind, "waiting", stage, "", f"not run yet: `{command}`")
    detail = f"neither kept nor rejected by {stage}: rerun `{tables.maker_command(makes)}`"
    return Ending(item_id, kind, "lost", stage, "", detail)


def _rejected(kind: Kind, rejection: Rejection) -> Ending:
    return Ending(
        rejection.item_id,
        kind,
        "rejected",
        rejection.stage,
        rejection.reason,
        rejection.detail,
    )


def _contradiction(kind: Kind, item_id: str, stage: str) -> Ending:
    return Ending(item_id, kind, "contradictory", stage, "", f"both kept and rejected by {stage}")
