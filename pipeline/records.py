"""The life of an item on one page: one real trip, from the taxi's GPS to its phases.

    RawTrip       41 GPS points as the file holds them, each with the decision cleaning took
    CleanedTrip   35 points that survived, in rising time
    MatchedTrip   58 road segments driven one after another, each with its entry time
    PhasedTrip    16 phases: segments in one H3 cell told as heading, duration, roads, surroundings
    PlannedTrip   the same, with named places beside the route and what shall be said of it
    AnnotatedTrip the same, with seven texts: three instructions, three queries, one caption
    CheckedTrip   the same, texts mended, with the evidence of every name and claim in them
    JudgedTrip    ten scores from 1 to 5, of one judge, joined by trip_id
    SelectedTrip  a trip that is good enough and among the best of its city
    Rejection     what an item becomes when a stage refuses it: a reason, never silence

Times are UTC epoch seconds, coordinates (lon, lat). Tables hold these records as rows; the schema
of each (`schemas/<record>.schema.json`) states units, bounds and an example of every field, and a
test holds the two together.
"""

from typing import Literal

import msgspec


class Rejection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An item that a stage refused, and why."""

    item_id: str
    stage: str
    reason: str
    detail: str


class RawTrip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trip as its file holds it; pre-matched trips bring `edge_ids`, one per point."""

    raw_trip_id: str
    vehicle_id: str | None
    t: list[float]
    lon: list[float]
    lat: list[float]
    edge_ids: list[str]
    decisions: list[str]
    outcome: str
    trip_ids: list[str]


class CleanedTrip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The points of a raw trip that cleaning kept; `raw_index` says which they were."""

    trip_id: str
    raw_trip_id: str
    vehicle_id: str | None
    t: list[float]
    lon: list[float]
    lat: list[float]
    raw_index: list[int]
    edge_ids: list[str]
    notes: list[str]
    simulated: bool


class MatchedTrip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A connected drive over directed segments: each ends at the node where the next begins.

    `evidence` counts the GPS points on a segment; 0 means the segment is inferred. The first and
    the last segment are driven in part: from `off_from_m` and up to `off_to_m`.
    """

    trip_id: str
    cleaned_trip_id: str
    edge_ids: list[str]
    t_enter_s: list[float]
    t_exit_s: list[float]
    evidence: list[int]
    off_from_m: float
    off_to_m: float
    route_length_m: float
    confidence: float
    method: str
    simulated: bool


class MatchedPoints(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where each point of a cleaned trip came to lie, or why it did not."""

    trip_id: str
    edge_id: list[str | None]
    offset_m: list[float | None]
    distance_m: list[float | None]
    status: list[str]
    matched_share: float
    parts: int
    reasons: list[str]


class TripMeta(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The head of a phase sequence, worded as in the paper's Listing 1, with the numbers beside.

    `total_duration` is the paper's, from the entry of the first segment to that of the last;
    `time_spent` lasts until the drive ends, and the phases' add up to it. `start_road` and
    `end_road` name the first and the last segment, null where it has no name, with their OSM
    highway classes: a phase lists each road once, so its list does not say where a trip ends.
    """

    n_rids: int
    n_phases: int
    start_time: str
    total_duration: str
    time_spent: str
    start_road: str | None
    start_class: str
    end_road: str | None
    end_class: str
    t_start_s: float
    duration_s: float
    time_spent_s: float
    length_m: float
    simulated: bool


class Phase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Consecutive segments with one dominant H3 cell (paper A.3.2): (h, n, d, dt, rho, m, s).

    `duration` is the paper's, between the entries of its first and last segment; `time_spent` is
    that until the next phase is entered.
    """

    p: int
    role: str
    dir: str
    n: int
    duration: str
    time_spent: str
    road_names: list[str]
    desc: str
    cell: str
    t_enter_s: float
    duration_s: float
    time_spent_s: float
    length_m: float
    heading_deg: float
    heading_strength: float


class PhasedTrip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trip as the annotator reads it: a few phases that need no further look-up."""

    trip_id: str
    meta: TripMeta
    phases: list[Phase]


class Place(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A named place beside the route.

    `distance_m` is measured to the start or end of the drive in the first and last phase, to the
    driven road in the others.
    """

    phase: int
    id: str
    name: str
    category: str | None
    group: str
    lon: float
    lat: float
    distance_m: float


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a scenario is about in this trip: the evidence that makes it true.

    `names` are proper names as the phases and places hold them, in the order driven; `ids` are the
    ids of places, parallel to `names` (empty for roads and districts); `feature` is a code of
    prompts/vocabulary.yaml, "" where names say it all.
    """

    scenario: str
    kind: str
    phases: list[int]
    names: list[str]
    ids: list[str]
    feature: str
    polarity: Literal["", "prefer", "avoid"]


class StylePlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How one instruction is to be worded: a sentence form and a length of Table 11, as codes."""

    style: Literal["literal", "concise", "chatty"]
    form: str
    length: str


class QueryPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The dimensions (1-4) one retrieval query covers, and the evidence for each."""

    dimensions: list[int]
    targets: list[Target]


class Intents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What shall be said of a trip (paper A.3.3): scenarios, persona, styles, queries.

    `drawn` holds the scenarios as first drawn, `scenarios` those the trip's own evidence supports.
    """

    drawn: list[str]
    scenarios: list[str]
    targets: list[Target]
    persona: str
    styles: list[StylePlan]
    queries: list[QueryPlan]
    waypoint: Target | None
    street: str | None
    time_context: str | None


class PlannedTrip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A phased trip, the named places beside it, and what shall be said of it."""

    trip_id: str
    meta: TripMeta
    phases: list[Phase]
    places: list[Place]
    intents: Intents


class Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The seven texts of a trip (paper A.3.6)."""

    instruction_literal: str
    instruction_concise: str
    instruction_chatty: str
    retrieval_query_1: str
    retrieval_query_2: str
    retrieval_query_3: str
    trajectory_caption: str


class Provenance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where texts come from: engine, model, prompt files, shots, and the response in the ledger."""

    engine: str
    model: str
    revision: str
    prompt_hash: str
    shots: list[str]
    response_key: str
    attempt: int


class AnnotatedTrip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A planned trip with its texts and their provenance."""

    trip_id: str
    meta: TripMeta
    phases: list[Phase]
    places: list[Place]
    intents: Intents
    texts: Texts
    provenance: Provenance


class Mention(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A name in a text, and what it rests on.

    `start` and `end` count characters of the text `field`. `name` is the name as the evidence
    holds it; `phase`, `id`, `lon` and `lat` say where it lies, null or "" where nothing is known.
    """

    field: str
    start: int
    end: int
    text: str
    kind: Literal["place", "road", "district", "city", "unknown"]
    verdict: Literal["grounded", "off_route", "invented"]
    name: str
    phase: int | None
    id: str
    lon: float | None
    lat: float | None
    method: str


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A statement of a text on direction, time or duration, held against the phases.

    `phase` is the one that decided; null where the statement is of the whole trip or of several.
    """

    field: str
    start: int
    end: int
    text: str
    kind: str
    verdict: Literal["supported", "contradicted", "unverified"]
    phase: int | None
    expected: str
    method: str


class Repair(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """A text before and after a rule mended it; no repair touches a name."""

    field: str
    stage: str
    rule: str
    before: str
    after: str


class Finding(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """What a rule of quality control found in a text, and what follows from it."""

    field: str
    stage: str
    rule: str
    start: int
    end: int
    detail: str
    action: Literal["flag", "repair", "reject"]


class CheckedTrip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An annotated trip that quality control let pass."""

    trip_id: str
    meta: TripMeta
    phases: list[Phase]
    places: list[Place]
    intents: Intents
    texts: Texts
    provenance: Provenance
    mentions: list[Mention]
    claims: list[Claim]
    repairs: list[Repair]
    findings: list[Finding]


class Scores(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ten criteria of the rubric (paper Table 12), 1 to 5; null = not scored, never low."""

    instructions_correctness: int | None
    instructions_no_hallucination: int | None
    instructions_persona_fidelity: int | None
    instructions_style_distinctness: int | None
    queries_specificity: int | None
    queries_accuracy: int | None
    queries_no_hallucination: int | None
    caption_comprehensiveness: int | None
    caption_accuracy: int | None
    caption_objectivity: int | None


class Rationales(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why a judge scored as it did, by task; "" where nothing was scored."""

    instructions: str
    queries: str
    caption: str


class JudgedTrip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One judge's verdict on one trip.

    `status` is `ok` or what kept it from a verdict; `shown` lists the texts that are judged
    together in the order the judge read them. `rules` is an engine without a model: it has neither
    prompt nor response.
    """

    trip_id: str
    engine: str
    model: str
    revision: str
    prompt_hash: str | None
    shown: list[str]
    scores: Scores
    rationales: Rationales
    status: str
    reason: str
    attempts: int
    response_key: str | None


class SelectedTrip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trip that was taken; `at_cut` says that a tie at the cut was broken in its favour."""

    trip_id: str
    score: float
    scored: int
    at_cut: bool


class SampledTrip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trip that others look at too, and why: a second model, people, or both.

    `judge_milder` are criteria the judge found nothing false by although quality control flagged
    the texts, `judge_stricter` those it found something false by although no flag stands.
    """

    trip_id: str
    selected: bool
    score: float | None
    why: list[Literal["sample", "near_cut", "judge_milder", "judge_stricter", "people"]]
    judge_milder: list[str]
    judge_stricter: list[str]


class Rating(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One score by a person: a line of data/reviews/<city>/<rater>.jsonl.

    `score` was given before any model's score was seen, and it alone is measured. `revealed` tells
    whether they have been shown since, `revised` what the person would score now if that differs.
    `rubric_hash` tells by which rubric, `item_hash` which texts were rated, and `checksum` that the
    line is as the page wrote it.
    """

    trip_id: str
    rater: str
    criterion: str
    score: int
    revealed: bool
    revised: int | None
    comment: str
    seconds: float
    rubric_hash: str
    item_hash: str
    checksum: str
