"""Captions without a model: by grammar, and by copying from the training trip that is most alike.

    TemplateCaptioner().predict(view, "test")   ->  rows of schemas/caption_prediction.schema.json

The template is a control: what is true, said by rules from path and ground alone. Where the data's
own texts were written by it, it shares their phrases, though not their draws. The nearest caption
is the retrieval of TrajRap without its language model (paper A.2): what copying alone gives.
"""

from collections.abc import Iterator

import msgspec
import numpy as np
import polars as pl

from pipeline.language.ends import end_street
from pipeline.language.engines.template import realiser
from pipeline.language.vocabulary import Vocabulary, vocabulary
from pipeline.records import Intents, PlannedTrip, QueryPlan, StylePlan, Target
from pipeline.tasks.overlap import cell_sets, jaccard
from pipeline.tasks.trip_evidence import CityEvidence
from pipeline.tasks.view import ModelView

# The grammar draws by the trip's id: with another one not as whoever wrote the reference.
_CONTROL = "control/"


class TemplateCaptioner:
    """The grammar of the `template` engine, told the path and the ground.

    Attributes:
        name: As in tables.
    """

    name = "template"

    def predict(self, view: ModelView, split: str) -> pl.DataFrame:
        """Write a caption for each trip of a split."""
        shown, words = view.inputs(split), vocabulary()
        captions = [
            realiser()
            .annotate(msgspec.structs.replace(trip, intents=_plan(trip, words)))
            .trajectory_caption
            for trip in _trips(view, shown)
        ]
        return shown.select("instance_id", pl.Series("caption", captions, dtype=pl.String))


def _trips(view: ModelView, shown: pl.DataFrame) -> Iterator[PlannedTrip]:
    instances = shown.select(
        pl.concat_str(pl.lit(_CONTROL), "instance_id").alias("trip_id"),
        pl.lit(value=False).alias("simulated"),
        pl.struct(pl.exclude("instance_id")).alias("input"),
    )
    return CityEvidence(view).trips(instances)


def _plan(trip: PlannedTrip, words: Vocabulary) -> Intents:
    """Return a plan about the end alone: the grammar wants one, and a caption tells none of it."""
    last, street = len(trip.phases) - 1, end_street(trip.meta)
    end = Target("1.1", "road", [last], [street] if street else [], [], "", "")
    if street is None:
        end = Target("1.2", "zone", [last], [], [], words.zones[0].code, "")
    styles = [StylePlan(one.code, one.forms[0].code, one.lengths[0].code) for one in words.styles]
    queries = [QueryPlan([1], [end])] * 3
    return Intents([], [], [end], words.personas[0].code, styles, queries, None, None, None)


class NearestCaption:
    """The caption of the training trip whose cells are most like those of the path.

    Attributes:
        name: As in tables.
    """

    name = "nearest_path"

    def predict(self, view: ModelView, split: str) -> pl.DataFrame:
        """Copy a caption for each trip of a split; of equally near trips the first by id."""
        train, shown = view.train("captioning").sort("instance_id"), view.inputs(split)
        if train.is_empty():
            return shown.select("instance_id", caption=pl.lit(None, pl.String))
        sets = cell_sets(pl.concat([train["cells"], shown["cells"]]))
        every = np.arange(train.height)
        nearest = [
            int(jaccard(sets, np.full(train.height, train.height + row), every).argmax())
            for row in range(shown.height)
        ]
        captions = train["target"].struct.field("caption")
        return shown.select("instance_id", caption=captions.gather(nearest))
