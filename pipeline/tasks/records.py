"""The predictions a model hands in: one record per instance, as rows of Parquet or lines of JSONL.

A field with a default may be absent from a file. The schemas (`schemas/*_prediction.schema.json`)
state what each means; what is null, empty or NaN is scored as wrong, never refused.
"""

import msgspec


class GenerationPrediction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A route for one instruction; `candidates` are further routes, best first."""

    instance_id: str
    edge_ids: list[str | None] | None
    candidates: list[list[str | None] | None] | None = None
    t_enter_s: list[float | None] | None = None


class RetrievalPrediction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Trips of the pool for one query, best first; or in any order, with scores."""

    instance_id: str
    trip_ids: list[str | None] | None
    scores: list[float | None] | None = None


class CaptionPrediction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A caption for one trip."""

    instance_id: str
    caption: str | None
