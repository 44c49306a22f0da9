"""A small town's released trips, made by arithmetic: trip k drives k + 3 segments, cell by cell."""

import polars as pl

from pipeline.release.instances import told_trips
from pipeline.release.routes import routes_of, same_route_ids, twins_of

STYLES = ("literal", "concise", "chatty")
START_S = 1402715460.0  # Saturday, Jun 14, 2014 at 4:11 AM in Lisbon
HASH = "a" * 64
KEY = "b" * 64
SCORES = {
    "instructions_correctness": 5,
    "instructions_no_hallucination": 4,
    "instructions_persona_fidelity": 5,
    "instructions_style_distinctness": 4,
    "queries_specificity": 3,
    "queries_accuracy": 4,
    "queries_no_hallucination": 5,
    "caption_comprehensiveness": 4,
    "caption_accuracy": None,
    "caption_objectivity": 5,
}


def edges_of(k: int) -> list[str]:
    """Return the segments of trip k: k + 3 of them, s<k>, s<k+1>, ..."""
    return [f"s{n}" for n in range(k, 2 * k + 3)]


def cell(n: int) -> str:
    """Return the n-th H3 cell of the town."""
    return f"8a1126d33{n:02x}ffff"


def checked_row(k: int) -> dict:
    """Return trip k after quality control: an origin cell of one segment, the rest in another."""
    place = {"name": f"Café {k}", "phase": 1, "id": f"n{k}", "lon": 24.9, "lat": 60.1}
    target = {
        "scenario": "1.1", "kind": "place", "phases": [1], "names": [f"Café {k}"],
        "ids": [f"n{k}"], "feature": "", "polarity": "",
    }  # fmt: skip
    phase = {
        "dir": "N", "duration": "0 sec", "time_spent": "0 sec", "road_names": [], "desc": "",
        "duration_s": 0.0, "time_spent_s": 0.0, "length_m": 100.0, "heading_deg": 0.0,
        "heading_strength": 1.0,
    }  # fmt: skip
    mention = {"start": 6, "end": 11 + len(str(k)), "text": f"Café {k}", "kind": "place"}
    return {
        "trip_id": f"t{k}",
        "meta": {
            "n_rids": k + 3, "n_phases": 2, "start_time": "Saturday, Jun 14, 2014 at 4:11 AM",
            "total_duration": f"{k} sec", "time_spent": f"{k} sec", "start_road": None,
            "start_class": "residential", "end_road": None, "end_class": "residential",
            "t_start_s": START_S, "duration_s": float(k), "time_spent_s": float(k),
            "length_m": 100.0 * (k + 3), "simulated": True,
        },
        "phases": [
            {"p": 0, "role": "O", "n": 1, "cell": cell(0), "t_enter_s": START_S, **phase},
            {"p": 1, "role": "D", "n": k + 2, "cell": cell(k + 1), "t_enter_s": START_S, **phase},
        ],
        "places": [
            {"phase": 1, "id": f"n{k}", "name": f"Café {k}", "category": "cafe", "group": "dining",
             "lon": 24.9, "lat": 60.1, "distance_m": 10.0}
        ],
        "intents": {
            "drawn": ["1.1", "4.1"], "scenarios": ["1.1"], "targets": [target],
            "persona": "commuter",
            "styles": [{"style": s, "form": f"form_{s}", "length": "short"} for s in STYLES],
            "queries": [{"dimensions": [n], "targets": [target]} for n in (1, 2, 3)],
            "waypoint": target, "street": None, "time_context": None,
        },
        "texts": {
            **{f"instruction_{s}": f"Go to Café {k}, {s}." for s in STYLES},
            **{f"retrieval_query_{n}": f"trip {n} to Café {k}" for n in (1, 2, 3)},
            "trajectory_caption": f"The trip ends at Café {k}.",
        },
        "provenance": {
            "engine": "template", "model": "template", "revision": "1", "prompt_hash": HASH,
            "shots": ["seed-1"], "response_key": KEY, "attempt": 1,
        },
        "mentions": [
            {"field": f"instruction_{s}", "verdict": "grounded", "method": "exact",
             **mention, **place}
            for s in STYLES
        ],
        "claims": [
            {"field": "trajectory_caption", "start": 0, "end": 8, "text": "The trip",
             "kind": "count", "verdict": "unverified", "phase": None, "expected": "",
             "method": "rules"}
        ],
        "repairs": [
            {"field": "retrieval_query_2", "stage": "punctuation", "rule": "double_space",
             "before": "a  b", "after": "a b"}
        ],
        "findings": [
            {"field": "instruction_chatty", "stage": "diversity", "rule": "same_opening",
             "start": 0, "end": 2, "detail": "go to", "action": "flag"}
        ],
    }  # fmt: skip


def town(numbers: list[int], splits: list[str]) -> dict[str, pl.DataFrame]:
    """Return the tables a release reads of trips with these numbers, in these splits."""
    ids = [f"t{k}" for k in numbers]
    return {
        "entries": pl.DataFrame(
            {
                "item_id": [*ids, "lost"],
                "raw_trip_id": [*ids, "lost"],
                "state": [*("released" for _ in ids), "rejected"],
                "stage": [*("release" for _ in ids), "ingest"],
                "reason": [*(None for _ in ids), "too_short"],
                "decides": True,
                "split": [*splits, None],
            }
        ),
        "selected": pl.DataFrame({"trip_id": ids, "score": [4.5] * len(ids)}),
        "judged": pl.DataFrame(
            {
                "trip_id": ids,
                "engine": "rules",
                "model": "rules",
                "revision": "1",
                "prompt_hash": pl.Series([None] * len(ids), dtype=pl.String),
                "scores": [SCORES] * len(ids),
            }
        ),
        "matched": pl.DataFrame(
            {
                "trip_id": ids,
                "edge_ids": [edges_of(k) for k in numbers],
                "t_enter_s": [[START_S + n for n in range(k + 3)] for k in numbers],
                "off_from_m": [12.5] * len(numbers),
                "off_to_m": [40.0] * len(numbers),
            }
        ),
        "told": told_trips(pl.DataFrame([checked_row(k) for k in numbers])),
    }


def with_twins(pool: pl.DataFrame) -> pl.DataFrame:
    """Name the others of a pool that drive a trip's very segments."""
    twins = twins_of(pool.select("trip_id").hstack(routes_of(pool)))
    return pool.with_columns(same_route_ids(pool, twins))
