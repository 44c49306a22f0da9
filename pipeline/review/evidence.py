"""Tell a rater what the names and claims of a text rest on, in one sentence each.

mention_words(Mention("Postikatu", kind="road", verdict="grounded", phase=1))
->  "Postikatu: a road of phase 1."
claim_words(Claim("heading north", kind="direction", verdict="contradicted", expected="south"))
->  "The record says otherwise: south."
"""

from pipeline.records import Claim, Mention

KINDS = {
    "place": "a place",
    "road": "a road",
    "district": "a district",
    "city": "the city",
    "unknown": "a name",
}


def mention_words(mention: Mention) -> str:
    """Return what is known of a name in a text."""
    name, kind = mention.name, KINDS[mention.kind]
    where = "of the trip" if mention.phase is None else f"of phase {mention.phase}"
    if mention.verdict == "invented":
        return f"{name}: no road, place or district of this city bears this name."
    if mention.verdict == "off_route" and mention.phase is None:
        return f"{name}: {kind} of this city, but not of this trip."
    if mention.verdict == "off_route":
        return f"{name}: {kind} {where}, but the text puts it elsewhere."
    return f"{name}: the city itself." if mention.kind == "city" else f"{name}: {kind} {where}."


def claim_words(claim: Claim) -> str:
    """Return what the record says of a statement."""
    said = f": {claim.expected}" if claim.expected else ""
    if claim.verdict == "supported":
        return f"The record agrees{said}."
    if claim.verdict == "contradicted":
        return f"The record says otherwise{said}."
    return f"The record does not settle this{said}."
