"""Two or three factual sentences on a cell: the task `narrate` without a model.

{"kind": "GREEN/PARK", "natural": ["park", "tree"], "district": "Kluuvi", "places": [...], ...}
->  "This part of Kluuvi is a green area. It has a park and trees. The Kiasma lies here."
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.language.areas import Area, lies_in
from pipeline.language.engines.template.banks import NarrativeBank
from pipeline.language.engines.template.choices import Choices
from pipeline.language.engines.template.wording import ended, ends_in_mark, in_a_row, sayable
from pipeline.language.vocabulary import Vocabulary

# Things and names told, at most.
MOST_THINGS, MOST_NAMES = 5, 2


class Narrator:
    """Describes cells; one for all."""

    def __init__(self, bank: NarrativeBank, words: Vocabulary) -> None:
        self._bank, self._words = bank, words
        self._kinds = {c: kind.words for kind in words.facilities for c in kind.categories}

    def narrate(self, cell: Mapping[str, Any], *, item_id: str) -> str:
        """Return the sentences of a cell.

        Args:
            cell: The fields of `narrate.ShownCell`: kind, natural, commercial, district, places.
            item_id: Decides the wording.
        """
        choices = Choices(item_id, "narrative")
        district = cell["district"]
        area = Area(cell["kind"], cell["natural"], cell["commercial"], (), district)
        values = {"area": district} if district and sayable(district) else {}
        zones = [zone.code for zone in self._words.zones if lies_in(area, zone)]
        kind = next((code for code in self._bank.kinds if code in zones), None)
        openings = self._bank.plain_openings
        if kind is not None:
            values["kind"] = choices.pick(self._bank.kinds[kind])
            openings = self._bank.openings
        said = [choices.pick_fitting(openings, values).fill(values)]
        things = self._things(area, cell["places"])
        if things:
            said.append(choices.pick(self._bank.things).fill({"things": in_a_row(things)}))
        names = [place["name"] for place in cell["places"] if sayable(place["name"])][:MOST_NAMES]
        if names:
            phrases = self._bank.one_name if len(names) == 1 else self._bank.two_names
            said.append(choices.pick(phrases).fill({"names": in_a_row(names)}))
        marked = [name for name in (*names, district or "") if ends_in_mark(name)]
        return ended(" ".join(said), marked)

    def _things(self, area: Area, places: Sequence[Mapping[str, str | None]]) -> list[str]:
        said = [self._bank.nature[word] for word in area.natural if word in self._bank.nature]
        kinds = [place["kind"] for place in places]
        said += [self._kinds[kind] for kind in kinds if kind in self._kinds]
        if not any(kind in self._kinds for kind in kinds):
            said += [self._bank.groups[g] for g in area.commercial if g in self._bank.groups]
        return list(dict.fromkeys(said))[:MOST_THINGS]
