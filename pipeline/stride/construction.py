"""What the actions `compile`, `lint`, `review`, `walk`, `inputs` and `adopt` of `stride` do.

python -m pipeline stride compile --text "A school class follows its teacher across the square."
python -m pipeline stride lint bench.json --json
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from pipeline.artifacts import ARTIFACTS, artifact_path
from pipeline.errors import ModelError, ParameterError, SourceError
from pipeline.keys import Seed
from pipeline.language.asked import provenance_of
from pipeline.language.engines.settings import TemplateSettings
from pipeline.language.ledger import Ledger
from pipeline.language.outcome import first_ok
from pipeline.params import Parameters
from pipeline.runner import ledger_folder
from pipeline.stride import review as reviewing
from pipeline.stride.benchmark import (
    Benchmark,
    Scenario,
    document_of,
    read_benchmark,
    write_benchmark,
)
from pipeline.stride.generators import external
from pipeline.stride.lint import lint, lint_lines
from pipeline.stride.lint_states import crowd_findings
from pipeline.stride.maps import CrowdMap, maps_of
from pipeline.stride.patterns import FOLDER, patterns, patterns_revision
from pipeline.stride.reading import Reading
from pipeline.stride.scenario_records import StrideScenario, scenarios_of
from pipeline.stride.simulate import SimulateSettings
from pipeline.stride.sources import Settings, open_source
from pipeline.stride.spec_prompt import (
    SpecAsk,
    SpecRequests,
    fault_of,
    shown_map,
    specification_of,
)
from pipeline.stride.spec_records import scene_of, spec_of
from pipeline.stride.specs import SpecSettings, compiled
from pipeline.stride.walking import walk_scenarios
from pipeline.stride.writers import ask_writer, writer_id
from pipeline.tables import read_table

# Whoever compiles a text outside a project uses what lies beside the program.
_HOME = Path(__file__).resolve().parents[2]
_MOST_PEOPLE, _MOST_SECONDS = 2000, 3600.0


def compile_text(arguments: argparse.Namespace) -> int:
    """Compile one text into a specification, print it, and write it as a benchmark of one."""
    _check_size(arguments.people, arguments.seconds)
    here = Path.cwd()
    root = here if (here / "params.yaml").is_file() else _HOME
    text = " ".join(arguments.text.split())
    reading = patterns().read(text)
    benchmark = compiled_text(
        SpecAsk(
            scene_id=arguments.id,
            description=text,
            category=arguments.category,
            n_agents=_people(arguments.people, reading),
            duration_s=arguments.seconds,
            place=shown_map(_map(arguments.map, root).record) if arguments.map else None,
            event=None,
            pattern=arguments.pattern,
        ),
        map_id=arguments.map or "",
        root=root,
    )
    record = lint(benchmark)
    if arguments.out:
        write_benchmark(benchmark, arguments.out)
        print(f"wrote {arguments.out}", file=sys.stderr)
    if arguments.json:
        document = {
            "benchmark": document_of(benchmark),
            "reading": _reading_document(reading),
            "findings": record["findings"],
        }
        print(json.dumps(document, ensure_ascii=False, indent=1))
    else:
        print("\n".join(_told(benchmark.scenarios[0], reading)))
        for one in record["findings"]:
            where = " ".join(part for part in (one["question"], one["function"]) if part)
            print(f"{one['level']}: {where}: {one['detail']} ({one['code']})")
    return 1 if record["errors"] else 0


def _reading_document(reading: Reading) -> dict[str, Any]:
    stated = reading.stated._asdict()
    return {
        **reading._asdict(),
        "decided": [sign._asdict() for sign in reading.decided],
        "stated": {name: one and one._asdict() for name, one in stated.items()},
    }


def _people(given: int | None, reading: Reading) -> int | None:
    """Return how many people there are: as given, or as the text states."""
    stated = reading.stated.people
    if stated is None:
        return given
    if given is not None and not stated.least <= given <= stated.most:
        raise ParameterError(
            f"--people: expected what the text states ({stated.words}), found {given}; leave it out"
            " or mend the text"
        )
    found = round(stated.middle) if given is None else given
    _check_size(found, None)
    return found


def _check_size(people: int | None, seconds: float | None) -> None:
    if people is not None and not 1 <= people <= _MOST_PEOPLE:
        raise ParameterError(
            f"--people: expected 1 to {_MOST_PEOPLE}, found {people}; give another number"
        )
    if seconds is not None and not (math.isfinite(seconds) and 0 < seconds <= _MOST_SECONDS):
        raise ParameterError(
            f"--seconds: expected above 0 and at most {_MOST_SECONDS:g}, found {seconds:g}; give"
            " another number"
        )


def compiled_text(ask: SpecAsk, *, map_id: str, root: Path) -> Benchmark:
    """Return a benchmark of one scenario for a text; asks whom params.yaml names.

    Raises:
        ModelError: No answer came.
        ParameterError: The phrase bank does not know such a text, or a model is asked by pattern.
    """
    parameters = Parameters(root)
    settings: SpecSettings = parameters.section("stride_specs", SpecSettings)
    bank = patterns()
    if isinstance(settings.writer.engine, TemplateSettings):
        if ask.pattern not in {None, *bank.patterns}:
            raise ParameterError(
                f"--pattern: expected one of {', '.join(bank.patterns)}, found {ask.pattern!r};"
                " name one of them"
            )
        bank.pattern_for(ask.description, ask.pattern)  # a text it does not know is refused here
    elif ask.pattern is not None:
        raise ParameterError(
            "--pattern: expected none, as params.yaml names a model (stride_specs.writer.engine),"
            f" found {ask.pattern!r}; leave it out"
        )
    # One text is all there is: that it failed is told below, not as a share.
    writer = msgspec.structs.replace(settings.writer, most_failed_share=1.0)
    model = writer_id(writer, bank_revision=patterns_revision())
    asker = SpecRequests(FOLDER, model, writer.sampling, facts=bank.facts)
    request = asker.request(ask)
    with Ledger(ledger_folder(root, parameters)) as ledger:
        ((_, attempts),) = ask_writer(
            [request],
            settings=writer,
            bank=lambda one: compiled(one, bank),
            fault=fault_of,
            ledger=ledger,
            desc="stride compile",
            replay=False,
        )
    answer = first_ok(attempts)
    if answer is None:
        last = attempts[-1]
        raise ModelError(
            f"stride compile: expected an answer of {model.model}, found none in {len(attempts)}"
            f" attempts, the last: {last.status} ({last.reason}); name another model in params.yaml"
            " (stride_specs.writer), or ask anew after `python -m pipeline ledger gc --failed`"
        )
    spec = spec_of(ask.scene_id, specification_of(answer), provenance_of(answer, asker.hash, []))
    scene = scene_of(
        spec,
        description=ask.description,
        category=ask.category or "",
        map_id=map_id,
        location=ask.place.name if ask.place else "",
        n_agents=ask.n_agents,
    )
    return Benchmark(f"{model.engine}/{model.model}", (scene,), "released", {})


def _told(scene: Scenario, reading: Reading) -> list[str]:
    lines = [scene.description, scene.reasoning, *_read(scene, reading)]
    for question in scene.questions:
        lines.append(f"{question.id} {question.text}")
        lines += [
            f"   {one.function} {_range(one.expected)}, tolerance {one.delta}: {one.reasoning}"
            for one in question.measurements
        ]
    return lines


def _read(scene: Scenario, reading: Reading) -> list[str]:
    """Return what else was read: words left out, and numbers."""
    lines = []
    if reading.denied:
        lines.append(f"Denied, or not of this moment: {', '.join(map(repr, reading.denied))}.")
    if scene.n_agents is not None:
        stated = reading.stated.people
        lines.append(f"People: {scene.n_agents}" + (f" ({stated.words!r})." if stated else "."))
    return lines


def _range(expected: Mapping[str, Any]) -> str:
    low, high = expected.get("min"), expected.get("max")
    if high is None:
        return f"{low} or more"
    return f"{high} or less" if low is None else f"{low} to {high}"


def lint_file(arguments: argparse.Namespace) -> int:
    """Lint a benchmark file, and arrays for it if given; exit code 1 when there is an error."""
    benchmark = read_benchmark(arguments.benchmark)
    if arguments.states is None:
        record = lint(benchmark)
    else:
        with open_source(arguments.states, settings=Settings(mode="strict")) as source:
            record = lint(benchmark, more=crowd_findings(benchmark, source))
    if arguments.json:
        print(json.dumps(record, ensure_ascii=False, indent=1))
    else:
        print("\n".join(lint_lines(record)))
    return 1 if record["errors"] else 0


def review(arguments: argparse.Namespace) -> int:
    """Export the list of texts for people, or take in what they said."""
    if arguments.what == "export":
        scenarios = _scenarios()
        reviewing.export_list(scenarios, arguments.file)
        print(f"wrote {arguments.file}: {len(scenarios)} texts, verdict keep or drop")
        return 0
    count = reviewing.import_list(arguments.file)
    print(f"{count} verdicts taken in; `dvc repro stride_scenarios` keeps out what was dropped")
    return 0


def walk(arguments: argparse.Namespace) -> int:
    """Let a reference generator walk released scenarios; what it writes is ready for scoring."""
    parameters = Parameters(Path.cwd())
    scenarios = _released()
    known = [one.scene_id for one in scenarios]
    unknown = sorted(set(arguments.scenario) - set(known))
    if unknown:
        raise ParameterError(
            f"--scenario: expected ids of data/stride/benchmark.json, found {', '.join(unknown)};"
            " leave it out to walk them all"
        )
    wanted = arguments.scenario or known
    walk_scenarios(
        [one for one in scenarios if one.scene_id in wanted],
        _maps(Path.cwd()),
        arguments.generator,
        settings=parameters.section("stride_simulate", SimulateSettings),
        seed=parameters.section("seed", Seed),
        folder=arguments.out,
    )
    print(f"wrote {arguments.out}: {len(wanted)} walks; score them with `stride score --states`")
    return 0


def inputs(arguments: argparse.Namespace) -> int:
    """Write what a generator of somebody else may know of every released scenario."""
    scenarios = _released()
    count = external.write_inputs(scenarios, _maps(Path.cwd()), arguments.folder)
    print(f"wrote {arguments.folder}: {count} scenarios")
    return 0


def adopt(arguments: argparse.Namespace) -> int:
    """Turn tables of walks into the form that is scored."""
    count = external.adopt(arguments.source, arguments.out, dt_s=arguments.dt)
    print(f"wrote {arguments.out}: {count} walks; score them with `stride score --states`")
    return 0


# ---- the project's own files --------------------------------------------------------------------


def _place(name: str, root: Path) -> Path:
    path = artifact_path(ARTIFACTS[name], root=root, city=None)
    if not path.exists():
        raise SourceError(
            f"{path.relative_to(root)}: expected the artifact {name!r}, found nothing; run"
            " `dvc repro stride_score`"
        )
    return path


def _table(name: str, root: Path) -> pl.DataFrame:
    return read_table(_place(name, root), ARTIFACTS[name])


def _scenarios() -> list[StrideScenario]:
    return scenarios_of(_table("stride_scenarios", Path.cwd()))


def _released() -> list[StrideScenario]:
    benchmark = read_benchmark(_place("stride_benchmark", Path.cwd()))
    wanted = {scene.id for scene in benchmark.scenarios}
    return [one for one in _scenarios() if one.scene_id in wanted]


def _maps(root: Path) -> dict[str, CrowdMap]:
    return {one.map_id: CrowdMap(one) for one in maps_of(_table("stride_maps", root))}


def _map(map_id: str, root: Path) -> CrowdMap:
    maps = _maps(root)
    if map_id not in maps:
        raise ParameterError(
            f"--map: expected one of {', '.join(sorted(maps))}, found {map_id!r}; name one of them"
        )
    return maps[map_id]


ACTIONS: dict[str, Callable[[argparse.Namespace], int]] = {
    "compile": compile_text,
    "lint": lint_file,
    "review": review,
    "walk": walk,
    "inputs": inputs,
    "adopt": adopt,
}
