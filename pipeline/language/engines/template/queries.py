"""Three retrieval queries of a trip: what someone types who looks for records like this one.

QueryPlan(dimensions=[2], targets=[roads Rua A, Rua B])
->  "Recorded drives from Rua X to Central that follow Rua A before Rua B."

They speak of past trips, never to a driver, and of no stop: the record shows what a trip passes,
not what anybody did there. Each says the evidence of its own dimensions, with start and destination
around it, and the three begin differently.
"""

from pipeline.language.engines.template.banks import Banks
from pipeline.language.engines.template.choices import Choices
from pipeline.language.engines.template.composer import ON_RECORD, Composer, Makers
from pipeline.language.engines.template.evidence import Evidence, Told
from pipeline.language.engines.template.skeletons import CLOCK, COURSE, PACE, WAY
from pipeline.language.engines.template.wording import ended, in_a_row

# Longest query, characters: that of prompts/annotate/answer.schema.json.
LIMIT = 400
_TRIES = 12
_TOLD_OF_RECORDS = WAY | COURSE | PACE


def queries(evidence: Evidence, banks: Banks) -> list[str]:
    """Return the queries of a trip, in the order of its plan."""
    texts: list[str] = []
    taken: set[str] = set()
    for number, told in enumerate(evidence.queries, 1):
        choices = Choices(evidence.trip.trip_id, f"query {number}")
        text = _within(told, choices, evidence, banks)
        for _ in range(_TRIES):
            if text.partition(" ")[0] not in taken:
                break
            text = _within(told, choices, evidence, banks)
        taken.add(text.partition(" ")[0])
        texts.append(text)
    return texts


def _within(told: Told, choices: Choices, evidence: Evidence, banks: Banks) -> str:
    """Return a query within the limit, with as much of its evidence as fits."""
    while True:
        text = ended(_query(told, choices, banks), evidence.marked)
        if len(text) <= LIMIT or not told.wishes:
            return text
        told = told._replace(wishes=told.wishes[:-1])


def _query(told: Told, choices: Choices, banks: Banks) -> str:
    bank = banks.queries
    composer: Composer

    def predicates() -> list[str]:
        return [wish.word("that", choices) for wish in composer.of(_TOLD_OF_RECORDS)]

    makers: Makers = {
        "records": lambda: choices.pick(bank.records),
        "nouns": lambda: choices.pick(bank.nouns),
        "from": lambda: f" from {composer.origin(on=False)}" if composer.start else "",
        "that": lambda: _after(" that ", predicates()),
        "and_preds": lambda: _continued(predicates()),
        "preds": lambda: in_a_row(predicates()),
        "preds_list": lambda: _listed(predicates()),
        "when_taken": lambda: "".join(w.filled(bank.taken, choices) for w in composer.of(CLOCK)),
        "when_adj": lambda: "".join(
            w.filled(bank.before_records, choices) for w in composer.of(CLOCK)
        ),
    }
    composer = Composer(told, choices, manner=ON_RECORD, makers=makers)
    return composer.compose(bank.skeletons)


def _after(word: str, predicates: list[str]) -> str:
    return f"{word}{in_a_row(predicates)}" if predicates else ""


def _continued(predicates: list[str]) -> str:
    """Return " and follow Rua A" or ", follow Rua A and head north", after another predicate."""
    if len(predicates) < 2:
        return _after(" and ", predicates)
    return f", {in_a_row(predicates)}"


def _listed(predicates: list[str]) -> str:
    """Return predicates for between two others; with a comma where they hold "and" themselves."""
    listed = ", ".join(predicates)
    return f"{listed}," if " and " in listed else listed
