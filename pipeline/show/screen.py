"""Print a trip's life as plain text, at most 100 columns wide.

    TRIP 1372636858620000589 · porto · phased
    RAW  41 points in 10 min 0 sec, Mon 1 Jul 2013, 01:00:58 to 01:10:58 (Europe/Lisbon)
    ...
      p  role  dir  n  duration       roads                       description

Long lists show their first and last rows and say how many lie between, unless all are asked for.
"""

import sys
import textwrap
from collections import Counter
from collections.abc import Iterator

from pipeline.records import CleanedTrip, MatchedPoints, RawTrip, Rejection
from pipeline.show.clock import duration_words, length_words, local_clock, local_day
from pipeline.show.examined import examined_rows
from pipeline.show.life import CleanedLife, DriveLife, Ending, TripLife
from pipeline.show.said import said_rows
from pipeline.show.text_table import WIDTH, printable, text_table

KEPT = "kept"


def print_life(life: TripLife, *, all_rows: bool) -> None:
    """Print the screen of a trip on standard output; see `screen_of`."""
    sys.stdout.write(screen_of(life, all_rows=all_rows) + "\n")


def screen_of(life: TripLife, *, all_rows: bool) -> str:
    """Return the screen of a trip, without a final newline.

    Args:
        life: The trip.
        all_rows: Show every row of long lists instead of their first and last.
    """
    lines = [*_head(life)]
    if life.raw:
        lines += ["", *_raw(life.raw, life.time_zone)]
        lines += ["", *_cleaning(life.raw, life.time_zone, all_rows=all_rows)]
    for cleaned in life.cleaned:
        lines += ["", *_matching(cleaned, life.time_zone, all_rows=all_rows)]
        for drive in cleaned.drives:
            lines += ["", *_drive(drive, life.time_zone, all_rows=all_rows)]
            lines += ["", *_phases(drive, all_rows=all_rows)]
            if drive.said is not None:
                lines += ["", *_said(drive, life.rejections)]
            if drive.examined is not None:
                lines += ["", "EXAMINED", *_labelled(list(examined_rows(drive.examined)))]
    lines += ["", *_end(life)]
    return "\n".join(printable(line).rstrip() for line in lines)


def _head(life: TripLife) -> Iterator[str]:
    trip_id = life.raw.raw_trip_id if life.raw else life.asked_id
    badge = " · SIMULATED" if life.simulated else ""
    yield f"TRIP {trip_id} · {life.city} · {life.final.state}{badge}"
    if trip_id != life.asked_id:
        yield f"asked for as {life.asked_id}"


def _raw(raw: RawTrip, zone: str) -> Iterator[str]:
    if not raw.t:
        yield "RAW  0 points"
        return
    in_time = sorted(range(len(raw.t)), key=raw.t.__getitem__)  # a file may hold any order
    a, b = in_time[0], in_time[-1]
    first, last = local_clock(raw.t[a], zone), local_clock(raw.t[b], zone)
    span, day = duration_words(raw.t[b] - raw.t[a]), local_day(raw.t[a], zone)
    yield f"RAW  {_count(len(raw.t), 'point')} in {span}, {day}, {first} to {last} ({zone})"
    yield (
        f"     first {raw.lon[a]:.5f} {raw.lat[a]:.5f}   last {raw.lon[b]:.5f} {raw.lat[b]:.5f}"
        f"   (lon lat)   vehicle {raw.vehicle_id or 'unknown'}"
    )


def _cleaning(raw: RawTrip, zone: str, *, all_rows: bool) -> Iterator[str]:
    counts = Counter(raw.decisions)
    dropped = [i for i, decision in enumerate(raw.decisions) if decision != KEPT]
    parts = [f"{KEPT} {counts[KEPT]}"]
    parts += [f"{reason} {n}" for reason, n in sorted(counts.items()) if reason != KEPT]
    total = f"{len(raw.decisions)} = {counts[KEPT]} + {len(dropped)}"
    yield f"CLEANING  {' · '.join(parts)}   ({total})   outcome: {raw.outcome}"
    rows = [
        [
            str(i),
            local_clock(raw.t[i], zone),
            f"{raw.lon[i]:.5f}",
            f"{raw.lat[i]:.5f}",
            raw.decisions[i],
        ]
        for i in dropped
    ]
    if rows:
        heads = ["index", "local time", "lon", "lat", "dropped because"]
        yield from text_table(heads, rows, right=(0, 2, 3), all_rows=all_rows)
    made = ", ".join(raw.trip_ids) or "none"
    yield from _folded(f"made {_count(len(raw.trip_ids), 'cleaned trip')}: {made}")


def _matching(life: CleanedLife, zone: str, *, all_rows: bool) -> Iterator[str]:
    trip, points = life.trip, life.points
    yield f"CLEANED TRIP {trip.trip_id}  {_count(len(trip.t), 'point')}"
    if trip.notes:
        yield from _folded(f"notes: {', '.join(trip.notes)}")
    if points is None:
        return
    reasons = ", ".join(points.reasons) or "none"
    counts = Counter(
        status for status, edge in zip(points.status, points.edge_id, strict=True) if edge
    )
    yield (
        f"  {sum(counts.values())} of {len(points.status)} points on the route"
        f" ({points.matched_share:.1%}) in {_count(points.parts, 'part')}:"
        f" {' · '.join(f'{status} {n}' for status, n in sorted(counts.items())) or 'none'}"
    )
    yield from _folded(f"told by the matcher: {reasons}")
    rows = list(_unmatched_rows(trip, points, zone))
    if rows:
        heads = ["index", "raw index", "local time", "not matched because"]
        yield from text_table(heads, rows, right=(0, 1), all_rows=all_rows)


def _unmatched_rows(trip: CleanedTrip, points: MatchedPoints, zone: str) -> Iterator[list[str]]:
    for i, (status, edge) in enumerate(zip(points.status, points.edge_id, strict=True)):
        if edge is None:
            yield [str(i), str(trip.raw_index[i]), local_clock(trip.t[i], zone), status]


def _drive(drive: DriveLife, zone: str, *, all_rows: bool) -> Iterator[str]:
    trip = drive.trip
    yield (
        f"DRIVE {trip.trip_id}  {_count(len(trip.edge_ids), 'segment')}"
        f" · {length_words(trip.route_length_m)} · {trip.method} · confidence {trip.confidence:.2f}"
    )
    yield (
        f"  starts {trip.off_from_m:.0f} m into the first segment, ends {trip.off_to_m:.0f} m into"
        " the last"
    )
    rows = [
        [
            str(seq),
            road.edge_id,
            road.name or "-",
            road.highway or "-",
            "-" if road.length_m is None else f"{road.length_m:.0f} m",
            local_clock(trip.t_enter_s[seq], zone),
            str(trip.evidence[seq]) if trip.evidence[seq] else "inferred",
        ]
        for seq, road in enumerate(drive.roads)
    ]
    heads = ["seq", "edge_id", "road", "class", "length", "entered", "points"]
    yield from text_table(heads, rows, right=(0, 4, 6), all_rows=all_rows)


def _phases(drive: DriveLife, *, all_rows: bool) -> Iterator[str]:
    phased = drive.phased
    if phased is None:
        yield "PHASES  none"
        return
    meta = phased.meta
    yield (
        f"PHASES  {meta.n_phases} from {meta.n_rids} segments · {meta.time_spent}"
        f" · {length_words(meta.length_m)}"
    )
    yield f"  {meta.start_time}"
    rows = [
        [
            str(one.p),
            one.role,
            one.dir,
            str(one.n),
            one.time_spent,
            ", ".join(one.road_names) or "-",
            one.desc or "-",
        ]
        for one in phased.phases
    ]
    heads = ["p", "role", "dir", "n", "time spent", "roads", "description"]
    yield from text_table(heads, rows, right=(0, 3), all_rows=all_rows)


def _said(drive: DriveLife, rejections: list[Rejection]) -> Iterator[str]:
    said = drive.said
    if said is None:
        return
    ids = ("annotate", drive.trip.trip_id)
    refused = [one for one in rejections if (one.stage, one.item_id) == ids]
    why = f", rejected by annotate: {refused[0].reason}: {refused[0].detail}" if refused else ""
    yield from _folded("SAID" if said.texts else f"SAID  no texts{why}", indent="")
    yield from _labelled(list(said_rows(said)))


def _labelled(rows: list[tuple[str, str]]) -> Iterator[str]:
    width = max(len(label) for label, _ in rows)
    for label, words in rows:
        yield from _hanging(f"{label:<{width}}", words)


def _hanging(label: str, words: str) -> list[str]:
    head = f"  {label}  "
    return textwrap.wrap(words, WIDTH, initial_indent=head, subsequent_indent=" " * len(head))


def _end(life: TripLife) -> Iterator[str]:
    final = life.final
    yield from _folded(f"ENDED  {ending_words(final)}", indent="")
    if len(life.endings) > 1:
        yield f"  its {len(life.endings)} pieces:"
        for one in life.endings:
            yield from _folded(f"{one.kind} {one.item_id}: {ending_words(one)}", indent="    ")


def ending_words(ending: Ending) -> str:
    """Word an ending in one sentence."""
    if ending.state == "released":
        return f"released, {ending.detail}"
    if ending.state == "phased":
        return "phased: it is told as phases"
    words = f"{ending.state} by {ending.stage}"
    if ending.state == "waiting":
        words = f"waiting for {ending.stage}"
    return ": ".join(part for part in (words, ending.reason, ending.detail) if part)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _folded(text: str, *, indent: str = "  ") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "    ") or [
        indent
    ]
