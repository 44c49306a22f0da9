"""The command `qc-text`: hold any sentence against a trip, and print what quality control says.

    check_sentence(root, "monaco", "sim0040-1722246362", field="instruction_literal", text="...")
    ->  {"verdict": "reject", "reasons": ["off_route_name"], "text": ..., "mentions": [...], ...}

Stages 1, 2, 3 (by rule) and 5. Variety is a matter of all texts together and is not looked at.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from pipeline.artifacts import ARTIFACTS, artifact_path
from pipeline.errors import SourceError
from pipeline.keys import Text
from pipeline.params import Parameters
from pipeline.quality.check_texts import NAME_TABLES, CheckSettings, city_names
from pipeline.quality.examiner import RULES
from pipeline.quality.inspection import FIELDS, Inspected, Inspector
from pipeline.quality.verification import open_claims, rules_verdict, settled
from pipeline.records import Mention, PlannedTrip, Texts
from pipeline.tables import files_of, read_table

# What text stands in the place of those that are not looked at.
_NONE = ""


def check_sentence(root: Path, city: str, trip_id: str, *, field: str, text: str) -> dict[str, Any]:
    """Return what quality control says of one text of a trip.

    Args:
        root: Root of the project.
        city: Key of the city.
        trip_id: A planned trip.
        field: Which of the seven texts it shall be.
        text: The text; need not be the trip's own.

    Raises:
        ParameterError: Unknown city, or a fault in its parameters.
        SourceError: There is no such trip, field or table, or the text is none.
    """
    if field not in FIELDS:
        raise SourceError(
            f"--field: expected one of {', '.join(FIELDS)}, found {field!r}; name one of them"
        )
    if not text.strip():
        raise SourceError("--text: expected a sentence, found none; put it in quotes")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise SourceError("--text: expected UTF-8, found bytes that are none; encode it anew")
    parameters = Parameters(root)
    parameters.city(city)
    settings: CheckSettings = parameters.section("check", CheckSettings)
    tables = {name: _table(root, city, name) for name in NAME_TABLES}
    names = city_names(parameters.config(city, "name", Text), **tables)
    inspector = Inspector(names, settings.rules, wording=settings.wording)
    evidence = inspector.evidence(_trip(root, city, trip_id))
    found = inspector.inspect_text(field, text, evidence)
    texts = msgspec.structs.replace(Texts(*(_NONE for _ in FIELDS)), **{field: found.reading.text})
    whole = Inspected(trip_id, texts, found.mentions, found.claims, found.repairs, found.findings)
    waiting = open_claims(whole.claims)
    if waiting:
        verdicts = [rules_verdict(claim) for claim in waiting]
        whole = settled(whole, verdicts, by=RULES, policies=settings.rules)
    reasons = [finding.rule for finding in whole.findings if finding.action == "reject"]
    verdict = "reject" if reasons else ("repair" if whole.repairs else "pass")
    return {
        "city": city,
        "trip_id": trip_id,
        "field": field,
        "verdict": verdict,
        "reasons": list(dict.fromkeys(reasons)),
        "text": found.reading.text,
        **{
            name: msgspec.to_builtins(getattr(whole, name))
            for name in ("mentions", "claims", "repairs", "findings")
        },
    }


def _table(root: Path, city: str, name: str) -> pl.DataFrame:
    artifact = ARTIFACTS[name]
    path = artifact_path(artifact, root=root, city=city)
    if not path.exists():
        raise SourceError(
            f"data/{city}/{artifact.path}: expected this table, found nothing; run `dvc repro"
            f" names@{city} plan_intents@{city}`"
        )
    return read_table(path, artifact)


def _trip(root: Path, city: str, trip_id: str) -> PlannedTrip:
    artifact = ARTIFACTS["planned"]
    folder = artifact_path(artifact, root=root, city=city)
    for file in files_of(folder, artifact) if folder.is_dir() else []:
        rows = read_table(file, artifact).filter(pl.col("trip_id") == trip_id)
        if rows.height:
            return msgspec.convert(rows.to_dicts()[0], PlannedTrip)
    raise SourceError(
        f"trip {trip_id!r}: expected a planned trip of {city}, found none so named; `python -m"
        f" pipeline show {city}` lists ids, `dvc repro plan_intents@{city}` plans them"
    )


def print_verdict(said: dict[str, Any], *, as_json: bool) -> None:
    """Print what `check_sentence` found, for people or as JSON."""
    if as_json:
        print(json.dumps(said, ensure_ascii=False, indent=2))
        return
    print(said["verdict"] + (f": {', '.join(said['reasons'])}" if said["reasons"] else ""))
    if said["repairs"]:
        print(f"  mended   {said['text']}")
    for one in msgspec.convert(said["mentions"], list[Mention]):
        print(f"  name     {one.text} -> {one.verdict}{_where(one)}")
    for one in said["claims"]:
        expected = f" (expected {one['expected']})" if one["verdict"] == "contradicted" else ""
        print(f"  claim    {one['text']} [{one['kind']}] -> {one['verdict']}{expected}")
    for one in said["findings"]:
        print(f"  {one['action']:<8} {one['rule']}: {one['detail']}")


def _where(mention: Mention) -> str:
    parts: list[str] = [mention.kind]
    parts += [mention.name] if mention.name != mention.text else []
    parts += [f"phase {mention.phase}"] if mention.phase is not None else []
    parts += [mention.id] if mention.id else []
    parts += [f"{mention.lon:.5f},{mention.lat:.5f}"] if mention.lon is not None else []
    return f" ({', '.join(parts)})"
