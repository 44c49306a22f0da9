"""The journey: every stage in order, what it reads and what it writes. Read this first.

    raw GPS + OSM + Overture
      pull_osm -> roads ┐
      pull_context ─────┴> cells ┐             (pull_osm, pull_context -> names, for check)
      simulate -> ingest -> match ┴> compress ┬> report
                         (truth) -> assess ┘  └> plan_intents -> annotate -> check ┐
                                  agree <- rejudge <- select <- judge <────────────┘
                                                      └> account -> release -> publish

DVC (`dvc.yaml`), the command line, the README table and the tests are all held to this table.
A stage is a function `run(io, *, <sections>)`: its keyword arguments are exactly the sections of
params.yaml (`params`) and the keys of configs/<city>.yaml (`config`) named here (and `city`, if it
asks for it), so DVC reruns it for those values and for no others.
"""

from typing import Literal, NamedTuple

from pipeline.artifacts import ARTIFACTS, Artifact


class Stage(NamedTuple):
    """One row of the journey.

    Attributes:
        name: The stage, a verb; `dvc repro <name>@<city>` runs it for one city.
        function: `package.module:function` that does it.
        desc: What it turns into what, in one line.
        reads: Names of the artifacts it opens.
        writes: Names of the artifacts it makes.
        params: Sections of params.yaml it is given.
        config: Keys of configs/<city>.yaml it is given.
        files: Data files of the package that decide its result (tables, templates).
        rejects: Whether it can reject items, with reasons, to rejected/<stage>.parquet.
        asks: Whether it asks a model, and keeps the answers in the response ledger; `asking` beside
            its function yields what, for `python -m pipeline plan`.
        scope: `city`: run for each city by itself. `project`: run once, over all cities of
            params.yaml (`dvc repro <name>`); of the cities' artifacts it may read any.
    """

    name: str
    function: str
    desc: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    params: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    rejects: bool = False
    asks: bool = False
    scope: Literal["city", "project"] = "city"

    def rejections(self) -> Artifact:
        """Return the artifact that holds what this stage rejected."""
        return ARTIFACTS[f"{self.name}_rejected"]


STAGES: tuple[Stage, ...] = (
    # ---- the ground -----------------------------------------------------------------------------
    Stage(
        "pull_osm",
        "pipeline.city.extract:run",
        "Fetch the pinned OSM extract and check that it is the right one.",
        reads=(),
        writes=("osm", "osm_manifest"),
        config=("network", "name_tag", "bbox"),
    ),
    Stage(
        "pull_context",
        "pipeline.city.context:run",
        "Bring places and land into Overture's shape, from OSM tags or an Overture release.",
        reads=("osm",),
        writes=("place", "land_use", "land", "water", "division_area", "context_manifest"),
        config=("context", "name_tag", "bbox"),
        files=("pipeline/city/tables",),
        rejects=True,
    ),
    Stage(
        "roads",
        "pipeline.city.roads:run",
        "Cut the extract's drivable ways into directed road segments.",
        reads=("osm",),
        writes=("roads", "roads_metrics"),
        params=("roads",),
        config=("network", "name_tag", "bbox"),
        files=("pipeline/city/tables/name_words.yaml",),
        rejects=True,
    ),
    Stage(
        "cells",
        "pipeline.city.cells:run",
        "Give each segment its H3 cells, and each cell its surroundings in words.",
        reads=("roads", "place", "land_use", "land", "water", "division_area"),
        writes=("road_cells", "cells", "geotag_metrics"),
        params=("seed", "cells"),
        config=("h3_resolution", "bbox"),
        files=("pipeline/city/tables",),
    ),
    Stage(
        "names",
        "pipeline.city.names:run",
        "List every name of the city: streets by car or on foot, places, areas, districts.",
        reads=("osm", "place", "land_use", "land", "water", "division_area"),
        writes=("names",),
        config=("name_tag",),
    ),
    # ---- what moved -----------------------------------------------------------------------------
    Stage(
        "simulate",
        "pipeline.trips.simulation.simulate:run",
        "Drive simulated trips over the real roads and record them as raw GPS, keeping the truth.",
        reads=("roads", "road_cells", "cells"),
        writes=("simulated_traces", "simulated_truth"),
        params=("seed", "simulate"),
        config=("simulation", "time_zone", "bbox"),
    ),
    Stage(
        "ingest",
        "pipeline.trips.ingest:run",
        "Read raw traces in the city's own format and clean them.",
        reads=("traces",),
        writes=("raw_trips", "cleaned", "cleaning_audit"),
        config=("traces", "cleaning", "bbox"),
        rejects=True,
    ),
    Stage(
        "match",
        "pipeline.trips.match:run",
        "Match every cleaned trip to a connected drive over road segments.",
        reads=("cleaned", "roads"),
        writes=("matched", "matched_points"),
        params=("match", "drives"),
        config=("cleaning",),
        rejects=True,
    ),
    Stage(
        "compress",
        "pipeline.trips.phases:run",
        "Tell each drive as phases: runs of segments in one H3 cell.",
        reads=("matched", "roads", "road_cells", "cells"),
        writes=("phased",),
        params=("compress",),
        config=("time_zone",),
        rejects=True,
    ),
    # ---- what is said of it ---------------------------------------------------------------------
    Stage(
        "plan_intents",
        "pipeline.language.intents:run",
        "Draw what shall be said of each trip, and keep what its own evidence supports.",
        reads=("phased", "matched", "roads", "road_cells", "cells"),
        writes=(
            "planned", "intents_metrics", "scenarios_plot", "scenario_counts_plot", "personas_plot",
        ),
        params=("seed", "intents"),
        files=("prompts/vocabulary.yaml",),
        rejects=True,
    ),
    Stage(
        "annotate",
        "pipeline.language.annotate:run",
        "Write seven texts on each trip: three instructions, three queries, one caption.",
        reads=("planned",),
        writes=(
            "annotated", "responses", "annotation_metrics", "annotation_run", "words_plot",
            "questions_plot",
        ),
        params=("annotate",),
        files=("prompts/annotate", "prompts/template", "prompts/vocabulary.yaml"),
        rejects=True,
        asks=True,
    ),
    Stage(
        "narrate",
        "pipeline.language.narrate:run",
        "Tell each wanted cell in a few sentences, for readers.",
        reads=("cells", "phased"),
        writes=("narrated", "narration_responses", "narration_metrics", "narration_run"),
        params=("narrate",),
        config=("narrate_cells",),
        files=("prompts/narrate", "prompts/template", "prompts/vocabulary.yaml"),
        rejects=True,
        asks=True,
    ),
    # ---- which texts hold -----------------------------------------------------------------------
    Stage(
        "check",
        "pipeline.quality.check_texts:run",
        "Check the texts: names and claims against the trip, wording, variety, marks.",
        reads=("annotated", "roads", "road_cells", "cells", "names"),
        writes=(
            "checked", "verify_responses", "check_metrics", "check_rules_plot", "check_names_plot",
        ),
        params=("seed", "check"),
        config=("name",),
        files=(
            "pipeline/city/tables/name_words.yaml",
            "pipeline/quality/tables/common_words.yaml",
            "pipeline/quality/tables/kinds_of_words.yaml",
            "pipeline/quality/tables/labels",
            "pipeline/quality/tables/no_names.yaml",
            "pipeline/quality/tables/nouns.yaml",
            "pipeline/quality/tables/roles.yaml",
            "pipeline/quality/tables/terms.yaml",
            "pipeline/quality/tables/unrecorded.yaml",
            "prompts/verify",
            "prompts/verify_texts",
            "prompts/vocabulary.yaml",
        ),
        rejects=True,
        asks=True,
    ),
    # ---- how good they are ----------------------------------------------------------------------
    Stage(
        "judge",
        "pipeline.quality.judge:run",
        "Score the texts of every checked trip by ten criteria, 1 to 5.",
        reads=("checked",),
        writes=("judged", "judge_responses", "judge_metrics", "judge_scores_plot"),
        params=("seed", "families", "judge"),
        files=("pipeline/quality/judge_rules.yaml", "prompts/judge", "prompts/vocabulary.yaml"),
        asks=True,
    ),
    Stage(
        "select",
        "pipeline.quality.select:run",
        "Take the best trips of the city, and draw those that others look at again.",
        reads=("checked", "judged"),
        writes=("selected", "sampled", "selection_metrics"),
        params=("seed", "select"),
        rejects=True,
    ),
    Stage(
        "rejudge",
        "pipeline.quality.rejudge:run",
        "Have the drawn trips scored by other judges as well.",
        reads=("checked", "sampled"),
        writes=("rejudged", "rejudge_responses", "rejudge_metrics"),
        params=("seed", "families", "judge", "rejudge"),
        files=("pipeline/quality/judge_rules.yaml", "prompts/judge", "prompts/vocabulary.yaml"),
        asks=True,
    ),
    Stage(
        "agree",
        "pipeline.quality.agree:run",
        "Measure how far models and people agree, with chance beside.",
        reads=("checked", "judged", "sampled", "rejudged", "reviews"),
        writes=("ratings", "agreement", "agreement_plot", "ratings_plot"),
        params=("seed", "agree"),
        files=("prompts/judge/rubric.yaml", "prompts/vocabulary.yaml"),
        rejects=True,
    ),
    # ---- what is released -----------------------------------------------------------------------
    Stage(
        "account",
        "pipeline.release.account:run",
        "Follow every input to its one end, and deal the released trips into splits.",
        reads=(
            "raw_trips", "cleaned", "matched", "phased", "planned", "annotated", "checked",
            "selected", "ingest_rejected", "match_rejected", "compress_rejected",
            "plan_intents_rejected", "annotate_rejected", "check_rejected", "select_rejected",
        ),
        writes=("loss", "loss_metrics", "outcome_plot", "outcome_picture"),
        params=("seed", "account"),
        config=("traces",),
    ),
    Stage(
        "release",
        "pipeline.release.release:run",
        "Write the task instances of each split, the pool for retrieval, and what they rest on.",
        reads=(
            "loss", "loss_metrics", "selected", "judged", "checked", "matched", "roads",
            "road_cells", "cells", "names", "osm_manifest", "context_manifest", "traces",
            "annotation_metrics", "check_metrics", "selection_metrics", "agreement",
        ),
        writes=(
            "generation", "retrieval", "captioning", "candidates", "released_roads",
            "released_road_cells", "released_cells", "released_names", "released_definitions",
            "release_metrics", "contents",
        ),
        params=("release", "intents"),
        config=("name", "language", "h3_resolution", "time_zone", "traces"),
        files=("pipeline/release/feature_words.yaml", "prompts/vocabulary.yaml"),
    ),
    Stage(
        "publish",
        "pipeline.release.publish:run",
        "Put the releases of all cities together, with card, metadata and checksums.",
        reads=(
            "contents", "generation", "retrieval", "captioning", "candidates", "released_roads",
            "released_road_cells", "released_cells", "released_names", "released_definitions",
        ),
        writes=("published",),
        params=("cities", "publish"),
        files=(
            "pipeline/release/card.md",
            "schemas/generation_instance.schema.json",
            "schemas/retrieval_instance.schema.json",
            "schemas/caption_instance.schema.json",
            "schemas/retrieval_candidate.schema.json",
            "schemas/road.schema.json",
            "schemas/road_cell.schema.json",
            "schemas/cell.schema.json",
            "schemas/city_name.schema.json",
            "schemas/definitions.schema.json",
        ),
        scope="project",
    ),
    # ---- crowds (STRIDE) ------------------------------------------------------------------------
    Stage(
        "stride_cut",
        "pipeline.stride.maps_stage:cut",
        "Cut maps for crowds out of the city's extract: walls, walkable ground, ways in.",
        reads=("osm", "osm_manifest"),
        writes=("stride_cut_maps",),
        params=("stride_maps",),
        config=("name_tag", "bbox"),
    ),
    Stage(
        "stride_maps",
        "pipeline.stride.maps_stage:run",
        "Put the maps of all cities, and those read from pictures, together and draw them.",
        reads=("stride_cut_maps",),
        writes=("stride_maps", "stride_map_files"),
        params=("cities", "stride_maps"),
        files=("configs/stride/maps",),
        scope="project",
    ),
    Stage(
        "stride_scenarios",
        "pipeline.stride.scenarios:run",
        "Write texts on crowds at these places, and give everybody in them a place and a goal.",
        reads=("stride_maps",),
        writes=("stride_scenarios", "stride_scenario_responses", "stride_scenario_metrics"),
        params=("seed", "stride_scenarios"),
        files=(
            "configs/stride/verdicts.csv",
            "prompts/stride/categories.yaml",
            "prompts/stride/cues.yaml",
            "prompts/stride/scenario",
            "prompts/stride/stories",
            "prompts/stride/words.yaml",
        ),
        rejects=True,
        asks=True,
        scope="project",
    ),
    Stage(
        "stride_specs",
        "pipeline.stride.specs:run",
        "Compile each text into questions bound to measures; no trajectory is looked at.",
        reads=("stride_maps", "stride_scenarios"),
        writes=("stride_specs", "stride_spec_responses"),
        params=("stride_specs",),
        files=(
            "prompts/stride/cues.yaml", "prompts/stride/patterns.yaml", "prompts/stride/spec",
            "prompts/stride/trajfacts.yaml",
        ),
        rejects=True,
        asks=True,
        scope="project",
    ),
    Stage(
        "stride_lint",
        "pipeline.stride.lint:run",
        "Hold the questions to rules, and release the scenarios in which nothing is impossible.",
        reads=("stride_maps", "stride_scenarios", "stride_specs"),
        writes=("stride_benchmark", "stride_lint", "stride_lint_metrics"),
        rejects=True,
        scope="project",
    ),
    Stage(
        "stride_simulate",
        "pipeline.stride.simulate:run",
        "Let the social-force model walk every scenario, with its story and without.",
        reads=("stride_maps", "stride_scenarios", "stride_benchmark"),
        writes=("stride_trajectories",),
        params=("seed", "stride_simulate"),
        scope="project",
    ),
    Stage(
        "stride_score",
        "pipeline.stride.table:run",
        "Score it beside walkers that read nothing, with the published means as citations.",
        reads=("stride_maps", "stride_scenarios", "stride_benchmark", "stride_trajectories"),
        writes=("stride_reports", "stride_scores", "stride_table", "stride_picture"),
        params=("seed",),
        files=("schemas/stride_report.schema.json",),
        scope="project",
    ),
    # ---- how well it went -----------------------------------------------------------------------
    Stage(
        "assess",
        "pipeline.trips.accuracy.assessment:run",
        "Match the simulated traces and compare with the truth, beside a nearest-edge baseline.",
        reads=("simulated_traces", "simulated_truth", "roads"),
        writes=("assessment",),
        params=("match",),
        config=("simulation", "traces", "cleaning", "bbox"),
    ),
    Stage(
        "report",
        "pipeline.trips.report:run",
        "Count what arrived, what was lost and why, and draw it.",
        reads=(
            "roads", "cells", "raw_trips", "cleaned", "matched", "matched_points", "phased",
            "ingest_rejected", "match_rejected", "compress_rejected",
        ),
        writes=("ledger", "metrics", "phases_plot", "loss_plot"),
        config=("h3_resolution",),
    ),
)  # fmt: skip
