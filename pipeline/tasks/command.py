"""What the actions of `tasks` do: read a release and predictions, score, write, print a table.

python -m pipeline tasks score generation ...  ->  report.json, and on the screen a row per measure
python -m pipeline tasks compare A.json B.json ->  on the screen which is better, and how surely
python -m pipeline tasks board A.json B.json   ->  board.html, all of it on one page
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from pipeline.errors import SourceError
from pipeline.hashes import sha256_of
from pipeline.keys import check_values
from pipeline.params import Parameters
from pipeline.tasks.asked import Asked, gains_of
from pipeline.tasks.board import Boarded, write_board
from pipeline.tasks.caption_floors import caption_references
from pipeline.tasks.captioning import CaptionScorer
from pipeline.tasks.compare import compare_files, comparison_lines, write_comparison
from pipeline.tasks.examples import board_examples
from pipeline.tasks.floors import generation_references
from pipeline.tasks.generation import ORACLE, GenerationScorer
from pipeline.tasks.measure import Reference, Scored
from pipeline.tasks.predictions import read_predictions
from pipeline.tasks.released import Release, open_release
from pipeline.tasks.report import Source, read_report, report_of, table_lines, write_report
from pipeline.tasks.retrieval import RetrievalScorer
from pipeline.tasks.retrieval_floors import retrieval_references
from pipeline.tasks.settings import CaptioningSettings, GenerationSettings


class Order(NamedTuple):
    """What is to be scored.

    Attributes:
        release: The release.
        split: Its split.
        predictions: Result of `read_predictions`.
        file: Where they come from, for messages.
        parameters: The project's parameters.
        options: `--option` as given: KEY=VALUE.
    """

    release: Release
    split: str
    predictions: pl.DataFrame
    file: Path
    parameters: Parameters
    options: Sequence[str]


def _generation(order: Order) -> tuple[Scored, tuple[Reference, ...]]:
    settings = settings_of(order, "score_generation", GenerationSettings)
    near = order.release.definitions.near_jaccard
    scorer = GenerationScorer(order.release, order.split, settings, near=near)
    scored = scorer.score(order.predictions, file=order.file)
    seed, oracle = order.parameters.section("seed", int), ORACLE + "dest_hit" in scored.rows.columns
    return scored, generation_references(scorer, seed=seed, oracle=oracle)


def _retrieval(order: Order) -> tuple[Scored, tuple[Reference, ...]]:
    if order.options:
        raise SourceError(
            f"--option {order.options[0]}: expected no option, retrieval has none; leave it out"
        )
    near = order.release.definitions.near_jaccard
    queries = order.release.instances("retrieval", order.split)
    gains = gains_of(Asked.by(order.release, queries), order.release.candidates(order.split))
    scorer = RetrievalScorer(order.release, order.split, near=near, gains=gains)
    found = scorer.matched(order.predictions, file=order.file)
    seed = order.parameters.section("seed", int)
    return scorer.scored(found), retrieval_references(scorer, found, seed=seed)


def _captioning(order: Order) -> tuple[Scored, tuple[Reference, ...]]:
    settings = settings_of(order, "score_captioning", CaptioningSettings)
    near = order.release.definitions.near_jaccard
    scorer = CaptionScorer(order.release, order.split, settings, near=near)
    scored = scorer.score(order.predictions, file=order.file)
    return scored, caption_references(scorer, seed=order.parameters.section("seed", int))


# A task gives its scores and those of its floors and ceilings; its name also stands in the parser.
SCORERS: dict[str, Callable[[Order], tuple[Scored, tuple[Reference, ...]]]] = {
    "generation": _generation,
    "retrieval": _retrieval,
    "captioning": _captioning,
}


def score(arguments: argparse.Namespace) -> int:
    """Score a prediction file and write its report."""
    release, file = open_release(arguments.release), arguments.pred
    parameters = Parameters(Path.cwd())
    predictions = read_predictions(file, arguments.task)
    order = Order(release, arguments.split, predictions, file, parameters, arguments.option)
    scored, references = SCORERS[arguments.task](order)
    source = Source(
        task=arguments.task,
        city=release.city,
        split=arguments.split,
        name=arguments.name or file.stem,
        release_hash=release.hash(),
        predictions_hash=sha256_of(file),
        seed=parameters.section("seed", int),
    )
    report = report_of(scored, references, source)
    write_report(report, arguments.out)
    print("\n".join(table_lines(report)))
    print(f"wrote {arguments.out}")
    return 0


def compare(arguments: argparse.Namespace) -> int:
    """Compare two reports, print what differs, and write it where asked for."""
    comparison = compare_files(arguments.first, arguments.second)
    lines = comparison_lines(comparison, by=arguments.by)
    if arguments.out:
        write_comparison(comparison, arguments.out)
        lines.append(f"wrote {arguments.out}")
    print("\n".join(lines))
    return 0


def board(arguments: argparse.Namespace) -> int:
    """Put reports on one page, with examples where releases and predictions are named."""
    reports = [read_report(file) for file in arguments.reports]
    examples = board_examples(reports, arguments.release, arguments.pred)
    boarded = [Boarded(*one) for one in zip(arguments.reports, reports, examples, strict=True)]
    write_board(boarded, arguments.page, citations=arguments.citations)
    print(f"wrote {arguments.page}")
    return 0


def settings_of(order: Order, section: str, kind: Any) -> Any:
    """Return a section of params.yaml, with the values of `--option` in place of its own.

    Raises:
        ParameterError: The section is missing or faulty.
        SourceError: An option names no key of it, or a value out of range.
    """
    settings = order.parameters.section(section, kind)
    values: dict[str, Any] = msgspec.to_builtins(settings)
    for given in order.options:
        key, equals, value = given.partition("=")
        if key not in values or not equals:
            raise SourceError(
                f"--option {given}: expected KEY=VALUE with a key of {section}"
                f" ({', '.join(values)}); see params.yaml"
            )
        values[key] = value
    try:
        converted = msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as fault:
        raise _refused(section, str(fault)) from fault
    found = check_values(msgspec.to_builtins(converted), section)
    if found:
        raise _refused(section, f"{found[0]}: {found[1]}")
    return converted


def _refused(section: str, found: str) -> SourceError:
    return SourceError(
        f"--option: expected values that {section} allows, found {found}; see params.yaml"
    )
