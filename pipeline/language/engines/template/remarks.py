"""What a persona says around its request: interjections, remarks on the wishes, a parting word.

Remarks(voice of the tired persona, ...).makers()["remarks"]()
->  " Just follow Rua A and then Rua B, or whatever. Make it quick, I'm beat."
"""

from collections.abc import Mapping, Sequence

from pipeline.language.engines.template.banks import ChattyVoice, Pair
from pipeline.language.engines.template.choices import Choices
from pipeline.language.engines.template.composer import Makers
from pipeline.language.engines.template.mentions import Mention
from pipeline.language.engines.template.skeletons import CLOCK, COURSE, PACE, WAY
from pipeline.language.engines.template.wording import in_a_row

# How often, per cent: two wishes go into one remark, a wish is put in the persona's own frame, a
# sentence of attitude is said, a parting word is said.
JOINED, FRAMED, MOOD, CLOSE = 35, 60, 60, 65


class Remarks:
    """The asides of one chatty text."""

    def __init__(self, voice: ChattyVoice, wishes: Sequence[Mention], choices: Choices) -> None:
        self._voice, self._wishes, self._choices = voice, wishes, choices
        self._paced = any(wish.group == PACE for wish in wishes)
        self._frame = choices.below(len(voice.wrap))

    def makers(self) -> Makers:
        """Return the slots of chatty skeletons; those in the middle bring a space before."""
        voice, pick = self._voice, self._choices.pick
        return {
            "lead": lambda: pick(voice.lead),
            "ask": lambda: pick(voice.ask),
            "gripe": lambda: pick(voice.gripe),
            "gripe_comma": lambda: pick(voice.gripe_comma),
            "story": lambda: pick(voice.story),
            "story_comma": lambda: pick(voice.story_comma),
            "mood_first": lambda: pick(self._of(voice.mood)),
            "mood": lambda: self._now_and_then(self._of(voice.mood), MOOD),
            "close": lambda: self._now_and_then(self._of(voice.close), CLOSE),
            "trail": lambda: f" {pick(voice.trail)}",
            "remarks": lambda: self._remarks(WAY | COURSE | PACE | CLOCK),
            "spatial_remarks": lambda: self._remarks(WAY | COURSE),
        }

    def _of(self, pair: Pair) -> Sequence[str]:
        return pair.paced if self._paced else pair.unpaced

    def _now_and_then(self, options: Sequence[str], percent: int) -> str:
        return f" {self._choices.pick(options)}" if self._choices.chance(percent) else ""

    def _remarks(self, groups: int) -> str:
        left = [wish for wish in self._wishes if wish.group & groups]
        said = ""
        while left:
            route = [wish for wish in left if wish.group & (WAY | COURSE)]
            if len(route) > 1 and self._choices.chance(JOINED):
                said += f" {self._framed(route[:2])}"
                left = [wish for wish in left if wish not in route[:2]]
            else:
                said += f" {self._remark(left.pop(0))}"
        return said

    def _remark(self, wish: Mention) -> str:
        if wish.group == PACE:
            return wish.filled(self._voice.paces[wish.kind], self._choices)
        if wish.group == CLOCK or not self._choices.chance(FRAMED):
            return wish.word("say", self._choices)
        return self._framed([wish])

    def _framed(self, wishes: Sequence[Mention]) -> str:
        """Put wishes into the persona's own frame; frames take turns, so none comes twice."""
        frame = self._voice.wrap[self._frame]
        self._frame = (self._frame + 1) % len(self._voice.wrap)
        first = "Do" in frame.slots
        said = [
            wish.word("do_chatty", self._choices, capital=first and number == 0)
            for number, wish in enumerate(wishes)
        ]
        values: Mapping[str, str] = {frame.slots[0]: in_a_row(said)}
        return frame.fill(values)
