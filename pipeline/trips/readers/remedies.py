"""Say which key of a city's file to change, by the reason for which its rows are not read.

row_truncated, a table -> "check `traces.delimiter` (now ',')"
"""

from pipeline.trips.readers.settings import TableTraces, TracesSettings

_FORMAT = "check `traces.format`"
_ROADMAP = "check that `traces.roadmap` and the trajectories are of one data set"
_REMEDIES = {
    "coordinate_not_finite": "no key reads such a number: mend the rows or leave them out",
    "lists_unequal": "no key reads such a row: mend the rows or leave them out",
    "unknown_edge": _ROADMAP,
    "edges_not_adjacent": _ROADMAP,
    "other_mode": "name the modes to keep in `traces.modes` as labels.txt words them",
    "unlabelled": "set `traces.unlabelled: keep`, or add labels.txt",
    "unoccupied": "check `traces.format`: the third field is 1 with a fare on board",
    "route_point": "routes are plans, not recordings: `traces.format: gpx` reads tracks",
    "waypoint": "waypoints are no recordings: `traces.format: gpx` reads tracks",
    "mixed_vehicles": "an id must be of one vehicle: mend the files, or read them as a table with"
    " `traces.columns.vehicle`",
}


def remedy_for(reason: str, traces: TracesSettings) -> str:
    """Return what to do about rows (or ids) that are lost for a reason, naming the key."""
    if isinstance(traces, TableTraces):
        found = _table_remedies(traces).get(reason)
        if found:
            return found
    zone = getattr(traces, "time_zone", None)
    if reason == "time_unparsable" and zone:
        return f"{_FORMAT}, and `traces.time_zone` (now {zone})"
    return _REMEDIES.get(reason, _FORMAT)


def _table_remedies(traces: TableTraces) -> dict[str, str]:
    """Return the remedies of a table, with the keys as they are set now."""
    columns = traces.columns
    place = "`.point`" if columns.point else "`.lon` and `.lat`"
    if columns.vehicle is None:
        vehicles = (
            "ids restart: name the column of the vehicle in `traces.columns.vehicle` (now null)"
        )
    else:
        vehicles = (
            "ids restart within a vehicle: check `traces.columns.trip` and `.vehicle` (now"
            f" {columns.trip} and {columns.vehicle})"
        )
    return {
        "row_truncated": f"check `traces.delimiter` (now {traces.delimiter!r}), and that each row"
        " has as many fields as the header",
        "time_unparsable": f"set `traces.time` (now {traces.time}) to how times are written:"
        " epoch_s, epoch_ms, iso, or a pattern such as %d/%m/%Y %H:%M:%S",
        "row_unparsable": f"check `traces.decimal` (now {traces.decimal!r}) and"
        f" `traces.columns.trip`, {place}",
        "mixed_vehicles": vehicles,
    }
