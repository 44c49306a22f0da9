"""Score captions: likeness to the reference, what they name, and whether it is so.

    scorer = CaptionScorer(release, "test", settings, near=0.8)
    scorer.score(read_predictions(file, "captioning"), file=file)   ->  Scored

A caption is held against the reference (`rouge_l`, `meteor`, `bertscore_f1`), against the names the
reference rests on (`poi_recall`, `location_recall`), and against the trip itself by the rules that
checked the data set (`names_*`, `claims_*`). Names are those that quality control recognises, never
a search for letters. What is missing or has no words is scored as the empty text. Paper: 3.1, A.1.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from pipeline.quality.inspection import InspectedText
from pipeline.tasks.bertscore import bert_scores
from pipeline.tasks.groups import known_routes
from pipeline.tasks.measure import MISSING, OK, Measure, Scored, coverage_of
from pipeline.tasks.meteor import Meteor
from pipeline.tasks.minilm import MODEL, MiniLM
from pipeline.tasks.predictions import Matched, matched
from pipeline.tasks.released import Release
from pipeline.tasks.rouge import ascii_words, rouge_l, words
from pipeline.tasks.settings import CaptioningSettings
from pipeline.tasks.trip_evidence import CityEvidence
from pipeline.tasks.wordnet import installed

EMPTY = "empty"
_METEOR = {
    "meteor": "METEOR: aligned words by form, stem and WordNet synonym (NLTK).",
    "meteor_exact_stem": "METEOR without synonyms, as WordNet was not there: words aligned by form"
    " and stem alone (NLTK). Not to be compared with METEOR.",
}


def measures_of(meteor: str) -> tuple[Measure, ...]:
    """Return the measures, in the order they are shown.

    Args:
        meteor: Name of the METEOR that was to be had.
    """
    return (
        Measure(
            "rouge_l",
            "share",
            "higher",
            "ROUGE-L F1: longest common sequence of words, in any script, accents kept.",
        ),
        Measure(
            "rouge_l_ascii",
            "share",
            "higher",
            "ROUGE-L F1 by the usual tokenizer (rouge-score), which knows a-z and 0-9 alone.",
        ),
        Measure(meteor, "share", "higher", _METEOR[meteor]),
        Measure(
            "bertscore_f1",
            "share",
            "higher",
            f"BERTScore F1: greedy cosine of token vectors of {MODEL}, not rescaled.",
        ),
        Measure(
            "poi_recall",
            "share",
            "higher",
            "Share of the places that the reference names which the caption names too; undefined"
            " where the reference names none.",
        ),
        Measure(
            "location_recall",
            "share",
            "higher",
            "The same of all that the reference names, roads and districts too, the city apart;"
            " undefined where it names nothing.",
        ),
        Measure(
            "named_locations",
            "count",
            "",
            "Different names in the caption, the city's apart, whether true of the trip or not.",
        ),
        Measure(
            "names_grounded",
            "share",
            "higher",
            "Share of the names in the caption that lie on the trip, where it says so; 0 without a"
            " name.",
        ),
        Measure(
            "names_off_route",
            "share",
            "lower",
            "Share of the names that the city has, but not this trip, or not where the caption"
            " says; 0 without a name.",
        ),
        Measure(
            "names_invented",
            "share",
            "lower",
            "Share of the names that nothing in the city bears; 0 without a name.",
        ),
        Measure(
            "claims_contradicted",
            "share",
            "lower",
            "Share of the statements on direction, time, length and things which the trip denies,"
            " of those that a rule can decide; 0 without any.",
        ),
        Measure(
            "claims_decided",
            "count",
            "",
            "Statements of the caption on direction, time, length and things that a rule can"
            " decide.",
        ),
    )


class CaptionScorer:
    """Scores captions of one split.

    Attributes:
        instances: The instances of the split, all columns.
    """

    def __init__(
        self, release: Release, split: str, settings: CaptioningSettings, *, near: float
    ) -> None:
        """Read what captions are held against.

        Args:
            release: The release.
            split: The split.
            settings: Section `score_captioning`.
            near: Least Jaccard similarity of near routes (`release.near_jaccard`).

        Raises:
            SourceError: A table of the release, or the sentence encoder, is missing.
        """
        self._release, self._split = release, split
        self._settings, self._near = settings, near
        self.instances = release.instances("captioning", split)
        self.references = self.instances["target"].struct.field("caption").to_list()
        wordnet = installed()
        self._meteor = Meteor.with_wordnet(wordnet) if wordnet else Meteor.without_wordnet()
        self._encoder = MiniLM.bundled() if settings.bertscore else None

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures, in the order they are shown."""
        every = measures_of(self._meteor.name)
        return tuple(one for one in every if self._encoder or one.name != "bertscore_f1")

    def score(self, predictions: pl.DataFrame, *, file: Path) -> Scored:
        """Score a file of predictions.

        Args:
            predictions: Result of `read_predictions`.
            file: Where they come from, for messages.

        Raises:
            SourceError: They are of no instance of the split, or of none of the release.
        """
        found = matched(self._release, "captioning", self._split, predictions, file=file)
        return self.scored(found)

    def scored(self, found: Matched) -> Scored:
        """Score captions that are matched with the instances of the split."""
        captions = found.rows["caption"].fill_null("")
        worded = pl.Series([bool(words(one)) for one in captions], dtype=pl.Boolean)
        status = found.rows.select(
            status=pl.when(~pl.col("predicted"))
            .then(pl.lit(MISSING))
            .when(worded)
            .then(pl.lit(OK))
            .otherwise(pl.lit(EMPTY))
        )["status"]
        return Scored(
            rows=self._head.with_columns(status).hstack(self.measured(captions.to_list())),
            measures=self.measures,
            groups={"known_route": "known_route"},
            coverage=coverage_of(status, other=found.other),
            options=self.options,
        )

    def measured(self, captions: Sequence[str]) -> pl.DataFrame:
        """Return the measures of captions, one row per instance of the split, in their order."""
        likeness = pl.DataFrame(
            [self._likeness(*pair) for pair in zip(self._words, captions, strict=True)],
            schema=dict.fromkeys(("rouge_l", "rouge_l_ascii", self._meteor.name), pl.Float64),
            orient="row",
        )
        if self._encoder:
            scores = bert_scores(self.references, captions, self._encoder)
            likeness = likeness.with_columns(bertscore_f1=pl.Series([*scores], dtype=pl.Float64))
        faithful = [one.name for one in self.measures if one.name not in likeness.columns]
        return likeness.hstack(
            pl.DataFrame(
                self._faithful(captions),
                schema=dict.fromkeys(faithful, pl.Float64),
                orient="row",
            )
        )

    @property
    def options(self) -> dict[str, Any]:
        """The options in force, the encoder and what METEOR knows among them."""
        encoder = (
            {"encoder": MODEL, "encoder_sha256": self._encoder.revision} if self._encoder else {}
        )
        told = {"meteor": self._meteor.name, "known_route_near": self._near}
        settings: dict[str, Any] = msgspec.to_builtins(self._settings)
        return settings | encoder | told

    @cached_property
    def _city(self) -> CityEvidence:
        return CityEvidence(self._release)

    @cached_property
    def _head(self) -> pl.DataFrame:
        pool, train = map(self._release.candidates, (self._split, "train"))
        known = pool.select("trip_id", known_routes(pool, train, near=self._near))
        trips = self.instances.select("instance_id", "trip_id")
        return trips.join(known, on="trip_id", how="left", maintain_order="left")

    @cached_property
    def _words(self) -> list[tuple[list[str], list[str]]]:
        """The words of each reference, of any script and by the usual tokenizer."""
        return [(words(one), ascii_words(one)) for one in self.references]

    def _likeness(
        self, reference: tuple[list[str], list[str]], caption: str
    ) -> tuple[float, float, float]:
        own, usual = reference
        told = words(caption)
        return (
            rouge_l(own, told),
            rouge_l(usual, ascii_words(caption)),
            self._meteor.score(own, told),
        )

    def _faithful(self, captions: Sequence[str]) -> list[dict[str, float | None]]:
        mentions = self.instances["evidence"].struct.field("mentions")
        return [
            faithfulness(told(self._city.inspect(caption, trip)), reference)
            for caption, trip, reference in zip(
                captions, self._city.trips(self.instances), mentions.to_list(), strict=True
            )
        ]


class Told(NamedTuple):
    """What a caption names and states, and how much of it is so.

    Attributes:
        names: Different names in it, the city's apart.
        grounded: Names on the trip, each time they are told.
        off_route: Names of the city that are not, or not there.
        invented: Names of nothing in the city.
        supported: Statements that the trip bears out.
        contradicted: Statements that it denies.
    """

    names: frozenset[str]
    grounded: int
    off_route: int
    invented: int
    supported: int
    contradicted: int


def told(found: InspectedText) -> Told:
    """Count what quality control found in a caption."""
    mentions = [one for one in found.mentions if one.kind != "city"]
    verdicts = [one.verdict for one in mentions]
    claims = [one.verdict for one in found.claims]
    return Told(
        frozenset(one.name for one in mentions),
        verdicts.count("grounded"),
        verdicts.count("off_route"),
        verdicts.count("invented"),
        claims.count("supported"),
        claims.count("contradicted"),
    )


def faithfulness(caption: Told, reference: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Return the measures of names and statements of one caption.

    Args:
        caption: What it tells.
        reference: The mentions of the reference (`evidence.mentions`): name, kind, verdict.
    """
    own = [one for one in reference if one["verdict"] == "grounded" and one["kind"] != "city"]
    every = {one["name"] for one in own}
    places = {one["name"] for one in own if one["kind"] == "place"}
    names = caption.grounded + caption.off_route + caption.invented
    claims = caption.supported + caption.contradicted
    return {
        "poi_recall": len(places & caption.names) / len(places) if places else None,
        "location_recall": len(every & caption.names) / len(every) if every else None,
        "named_locations": float(len(caption.names)),
        "names_grounded": caption.grounded / max(names, 1),
        "names_off_route": caption.off_route / max(names, 1),
        "names_invented": caption.invented / max(names, 1),
        "claims_contradicted": caption.contradicted / max(claims, 1),
        "claims_decided": float(claims),
    }
