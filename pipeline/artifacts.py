"""Every data file of the pipeline: where it lies, what one row is, and which schema it keeps.

ARTIFACTS["matched"] -> data/<city>/matched/, one row per matched trip, key trip_id,
                        schemas/matched_trip.schema.json
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

Form = Literal["table", "shards", "json", "file", "folder"]


class Artifact(NamedTuple):
    """One data file or folder of a city.

    `table` is one Parquet file, `shards` a folder of Parquet files that are joined by id, `json`
    one JSON record; `file` and `folder` hold bytes in somebody else's format and have no schema.
    A `metric`, a `plot` or a `note` is small and lies in git; all else lies in DVC's cache. Paths
    start at data/<city>/, those of scope `project` at data/; `{city}` in them is filled in.
    """

    name: str
    path: str
    form: Form
    schema: str | None
    unit: str
    key: str
    kind: Literal["data", "metric", "plot", "note"] = "data"
    scope: Literal["city", "project"] = "city"

    @property
    def place(self) -> str:
        """Return its path from the project's root, with `{city}` and `{traces}` to fill in."""
        if self.path == "{traces}":
            return self.path
        return f"data/{self.path}" if self.scope == "project" else f"data/{{city}}/{self.path}"

    @property
    def is_sealed(self) -> bool:
        """Tell whether its files carry checksums of their own; what does not is held to records."""
        return self.form in {"table", "shards"}


def _index(rows: Iterable[Artifact]) -> dict[str, Artifact]:
    return {row.name: row for row in rows}


ARTIFACTS = _index(
    (
        # ---- the ground
        Artifact("osm", "osm/network.osm.pbf", "file", None, "OSM extract, as pulled", "-"),
        Artifact("osm_manifest", "osm/manifest.json", "json", "manifest", "one pull", "artifact"),
        Artifact("place", "context/place.parquet", "table", "overture_place", "one place", "id"),
        Artifact("land_use", "context/land_use.parquet", "table", "overture_area", "one area",
                 "id"),
        Artifact("land", "context/land.parquet", "table", "overture_area", "one natural feature",
                 "id"),
        Artifact("water", "context/water.parquet", "table", "overture_area", "one water feature",
                 "id"),
        Artifact("division_area", "context/division_area.parquet", "table", "overture_division",
                 "one division", "id"),
        Artifact("context_manifest", "context/manifest.json", "json", "manifest", "one pull",
                 "artifact"),
        Artifact("roads", "roads.parquet", "table", "road", "one directed segment", "edge_id"),
        Artifact("roads_metrics", "metrics/roads.json", "json", "roads_metrics", "one city", "city",
                 "metric"),
        Artifact("road_cells", "road_cells.parquet", "table", "road_cell", "one directed segment",
                 "edge_id"),
        Artifact("cells", "cells.parquet", "table", "cell", "one H3 cell", "cell"),
        Artifact("names", "names.parquet", "table", "city_name", "one name of the city", "name"),
        Artifact("geotag_metrics", "metrics/geotag.json", "json", "geotag_metrics", "one city",
                 "city", "metric"),
        # ---- what moved
        Artifact("traces", "{traces}", "folder", None, "raw trace files", "-"),
        Artifact("simulated_traces", "simulated/traces", "folder", None, "simulated trace files",
                 "-"),
        Artifact("simulated_truth", "simulated/truth.parquet", "table", "simulated_truth",
                 "one simulated trip", "raw_trip_id"),
        Artifact("raw_trips", "raw_trips", "shards", "raw_trip", "one trip as read", "raw_trip_id"),
        Artifact("cleaned", "cleaned", "shards", "cleaned_trip", "one cleaned trip", "trip_id"),
        Artifact("cleaning_audit", "cleaning_audit.json", "json", "cleaning_audit", "one city",
                 "city"),
        Artifact("matched", "matched", "shards", "matched_trip", "one connected drive", "trip_id"),
        Artifact("matched_points", "matched_points", "shards", "matched_points", "one cleaned trip",
                 "trip_id"),
        Artifact("phased", "phased", "shards", "phased_trip", "one drive in phases", "trip_id"),
        # ---- what is said of it
        Artifact("planned", "planned", "shards", "planned_trip", "one trip with intents",
                 "trip_id"),
        Artifact("intents_metrics", "metrics/intents.json", "json", "intents_metrics", "one city",
                 "city", "metric"),
        Artifact("scenarios_plot", "plots/scenarios.csv", "file", None,
                 "one scenario of one series", "-", "plot"),
        Artifact("scenario_counts_plot", "plots/scenario_counts.csv", "file", None,
                 "one number of scenarios of one series", "-", "plot"),
        Artifact("personas_plot", "plots/personas.csv", "file", None, "one persona of one series",
                 "-", "plot"),
        Artifact("annotated", "annotated", "shards", "annotated_trip", "one trip with texts",
                 "trip_id"),
        Artifact("responses", "responses", "shards", "response", "one attempt", "key"),
        Artifact("annotation_metrics", "metrics/annotation.json", "json", "annotation_metrics",
                 "one city", "city", "metric"),
        Artifact("annotation_run", "metrics/annotation_run.json", "json", "asking_run", "one city",
                 "city", "metric"),
        Artifact("words_plot", "plots/words_per_style.csv", "file", None,
                 "one number of words of one style", "-", "plot"),
        Artifact("questions_plot", "plots/questions_per_style.csv", "file", None,
                 "one style of one series", "-", "plot"),
        Artifact("narrated", "narrated.parquet", "table", "narrative", "one H3 cell", "cell"),
        Artifact("narration_responses", "narration_responses.parquet", "table", "response",
                 "one attempt", "key"),
        Artifact("narration_metrics", "metrics/narration.json", "json", "narration_metrics",
                 "one city", "city", "metric"),
        Artifact("narration_run", "metrics/narration_run.json", "json", "asking_run", "one city",
                 "city", "metric"),
        # ---- which texts hold
        Artifact("checked", "checked", "shards", "checked_trip", "one checked trip", "trip_id"),
        Artifact("verify_responses", "verify_responses", "shards", "response", "one attempt",
                 "key"),
        Artifact("check_metrics", "metrics/check.json", "json", "check_metrics", "one city", "city",
                 "metric"),
        Artifact("check_rules_plot", "plots/check_rules.csv", "file", None, "one rule", "-",
                 "plot"),
        Artifact("check_names_plot", "plots/check_names.csv", "file", None,
                 "one verdict of one text", "-", "plot"),
        # ---- how good they are
        Artifact("judged", "judged", "shards", "judged_trip", "one verdict", "trip_id"),
        Artifact("judge_responses", "judge_responses", "shards", "response", "one attempt", "key"),
        Artifact("judge_metrics", "metrics/judging.json", "json", "judge_metrics", "one city",
                 "city", "metric"),
        Artifact("judge_scores_plot", "plots/judge_scores.csv", "file", None,
                 "one score of one criterion", "-", "plot"),
        Artifact("selected", "selected.parquet", "table", "selected_trip", "one trip taken",
                 "trip_id"),
        Artifact("sampled", "sampled.parquet", "table", "sampled_trip", "one trip drawn",
                 "trip_id"),
        Artifact("selection_metrics", "metrics/selection.json", "json", "selection_metrics",
                 "one city", "city", "metric"),
        Artifact("rejudged", "rejudged.parquet", "table", "judged_trip", "one verdict", "trip_id"),
        Artifact("rejudge_responses", "rejudge_responses.parquet", "table", "response",
                 "one attempt", "key"),
        Artifact("rejudge_metrics", "metrics/rejudging.json", "json", "rejudge_metrics", "one city",
                 "city", "metric"),
        Artifact("reviews", "reviews", "folder", None, "ratings by people, as exported", "-",
                 scope="project"),
        Artifact("ratings", "ratings.parquet", "table", "rating", "one rating", "trip_id"),
        Artifact("agreement", "metrics/agreement.json", "json", "agreement", "one city", "city",
                 "metric"),
        Artifact("agreement_plot", "plots/agreement.csv", "file", None,
                 "one criterion of one series", "-", "plot"),
        Artifact("ratings_plot", "plots/ratings.csv", "file", None,
                 "one score of one criterion and rater", "-", "plot"),
        # ---- what is released
        Artifact("loss", "loss.parquet", "table", "loss_entry", "one piece of a raw trip",
                 "item_id"),
        Artifact("loss_metrics", "metrics/loss.json", "json", "loss_metrics", "one city", "city",
                 "metric"),
        Artifact("outcome_plot", "plots/outcome.csv", "file", None, "one outcome", "-", "plot"),
        Artifact("outcome_picture", "plots/outcome.svg", "file", None, "one city", "-", "plot"),
        Artifact("generation", "release/generation", "shards", "generation_instance",
                 "one instruction", "instance_id"),
        Artifact("retrieval", "release/retrieval", "shards", "retrieval_instance", "one query",
                 "instance_id"),
        Artifact("captioning", "release/captioning", "shards", "caption_instance", "one caption",
                 "instance_id"),
        Artifact("candidates", "release/candidates", "shards", "retrieval_candidate",
                 "one trip of a pool", "trip_id"),
        Artifact("released_roads", "release/ground/roads.parquet", "table", "road",
                 "one directed segment", "edge_id"),
        Artifact("released_road_cells", "release/ground/road_cells.parquet", "table", "road_cell",
                 "one directed segment", "edge_id"),
        Artifact("released_cells", "release/ground/cells.parquet", "table", "cell", "one H3 cell",
                 "cell"),
        Artifact("released_names", "release/ground/names.parquet", "table", "city_name",
                 "one name of the city", "name"),
        Artifact("released_definitions", "release/ground/definitions.json", "json", "definitions",
                 "one city", "city"),
        Artifact("release_metrics", "metrics/release.json", "json", "release_metrics", "one city",
                 "city", "metric"),
        Artifact("contents", "contents/{city}.json", "json", "release_contents", "one city", "city",
                 "note", scope="project"),
        Artifact("published", "release", "folder", None, "the release of all cities", "-",
                 scope="project"),
        # ---- crowds (STRIDE)
        Artifact("stride_cut_maps", "stride/cut/{city}.parquet", "table", "stride_map", "one map",
                 "map_id", scope="project"),
        Artifact("stride_maps", "stride/maps.parquet", "table", "stride_map", "one map", "map_id",
                 scope="project"),
        Artifact("stride_map_files", "stride/maps", "folder", None, "walls and picture of a map",
                 "-", scope="project"),
        Artifact("stride_scenarios", "stride/scenarios.parquet", "table", "stride_scenario",
                 "one scenario", "scene_id", scope="project"),
        Artifact("stride_scenario_responses", "stride/scenario_responses.parquet", "table",
                 "response", "one attempt", "key", scope="project"),
        Artifact("stride_scenario_metrics", "stride/metrics/scenarios.json", "json",
                 "stride_scenario_metrics", "one run", "-", "metric", scope="project"),
        Artifact("stride_specs", "stride/specs.parquet", "table", "stride_spec",
                 "one scenario's questions", "scene_id", scope="project"),
        Artifact("stride_spec_responses", "stride/spec_responses.parquet", "table", "response",
                 "one attempt", "key", scope="project"),
        Artifact("stride_benchmark", "stride/benchmark.json", "json", "stride_benchmark",
                 "the benchmark", "-", scope="project"),
        Artifact("stride_lint", "stride/lint.json", "json", "stride_lint", "the benchmark", "-",
                 scope="project"),
        Artifact("stride_lint_metrics", "stride/metrics/lint.json", "json", "stride_lint_metrics",
                 "one run", "-", "metric", scope="project"),
        Artifact("stride_trajectories", "stride/trajectories", "folder", None,
                 "walk of one generator in one scenario", "-", scope="project"),
        Artifact("stride_reports", "stride/reports", "folder", None, "report on one generator",
                 "-", scope="project"),
        Artifact("stride_scores", "stride/metrics/scores.json", "json", "stride_scores",
                 "all generators", "-", "metric", scope="project"),
        Artifact("stride_table", "stride/metrics/scores.md", "file", None, "all generators", "-",
                 "note", scope="project"),
        Artifact("stride_picture", "stride/plots/example.png", "file", None, "one scenario", "-",
                 "plot", scope="project"),
        # ---- how well it went, in git
        Artifact("assessment", "metrics/accuracy.json", "json", "assessment", "one city", "city",
                 "metric"),
        Artifact("ledger", "ledger.parquet", "table", "ledger_entry", "one raw trip",
                 "raw_trip_id"),
        Artifact("metrics", "metrics/summary.json", "json", "metrics", "one city", "city",
                 "metric"),
        Artifact("phases_plot", "plots/phases_per_trip.csv", "file", None, "one number of phases",
                 "-", "plot"),
        Artifact("loss_plot", "plots/loss.csv", "file", None, "one reason", "-", "plot"),
        # ---- what was rejected
        *(
            Artifact(f"{stage}_rejected", f"rejected/{stage}.parquet", "table", "rejection",
                     "one rejected item", "item_id")
            for stage in (
                "pull_context", "roads", "ingest", "match", "compress", "plan_intents", "annotate",
                "narrate", "check", "select", "agree",
            )
        ),
        *(
            Artifact(f"{stage}_rejected", f"stride/rejected/{stage}.parquet", "table", "rejection",
                     "one rejected item", "item_id", scope="project")
            for stage in ("stride_scenarios", "stride_specs", "stride_lint")
        ),
    )
)  # fmt: skip


def artifact_path(
    artifact: Artifact, *, root: Path, city: str | None, traces: str | None = None
) -> Path:
    """Return where an artifact lies.

    Args:
        artifact: A row of `ARTIFACTS`.
        root: Root of the project, where params.yaml lies.
        city: Key of the city under `cities:`; None for what belongs to all of them.
        traces: Folder of the city's raw trace files (`cities.<city>.traces`); only the artifact
            `traces` needs it.
    """
    return root / artifact.place.format(city=city, traces=traces or f"data/{city}/raw/traces")
