"""What is said of a drive, for screen and page: its plan in codes and names, and its seven texts.

said_rows(Said(intents, texts, provenance))
->  [("1.1", "place Café Ceuta, phase 2"), ..., ("persona", "tired"),
     ("literal", "Stop at a cafe on the way and finish at Café Ceuta."), ...]
"""

from collections.abc import Iterator

from pipeline.records import Intents, Target
from pipeline.show.life import Said

LABELS = {
    "instruction_literal": "literal",
    "instruction_concise": "concise",
    "instruction_chatty": "chatty",
    "retrieval_query_1": "query 1",
    "retrieval_query_2": "query 2",
    "retrieval_query_3": "query 3",
    "trajectory_caption": "caption",
}


def said_rows(said: Said) -> Iterator[tuple[str, str]]:
    """Yield label and words of the plan, then of the texts where there are any."""
    yield from _plan_rows(said.intents)
    if said.texts is None:
        return
    for field, label in LABELS.items():
        yield label, getattr(said.texts, field)
    if said.provenance is not None:
        source = said.provenance
        shots = f", shots {', '.join(source.shots)}" if source.shots else ""
        yield (
            "written by",
            f"{source.engine} {source.model} {source.revision}, attempt {source.attempt}{shots}",
        )


def _plan_rows(intents: Intents) -> Iterator[tuple[str, str]]:
    for target in intents.targets:
        yield target.scenario, _about(target)
    yield "persona", intents.persona
    yield "styles", ", ".join(f"{one.style} {one.form}/{one.length}" for one in intents.styles)
    for number, query in enumerate(intents.queries, start=1):
        told = "; ".join(f"{target.scenario} {_about(target)}" for target in query.targets)
        yield f"query {number} on", told
    if intents.street:
        yield "street", intents.street
    if intents.time_context:
        yield "time", intents.time_context


def _about(target: Target) -> str:
    words = [target.polarity, target.kind.replace("_", " "), ", ".join(target.names)]
    words.append(target.feature.replace("+", " and ").replace("_", " "))
    phases = ", ".join(map(str, target.phases))
    where = f", phase{'s' if len(target.phases) > 1 else ''} {phases}" if phases else ""
    return " ".join(filter(None, words)) + where
