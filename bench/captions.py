"""How many captions are scored in a CPU second: each reference against that of the next trip.

    python bench/captions.py --city helsinki monaco
    ->  helsinki: 442 captions   ROUGE-L 9,000  METEOR 1,700  names and claims 800  all 500  ...

Read from data/<city>/release, split train. What is read once (NLTK, WordNet, the city's names, the
encoder) is left out: the first round only warms up. BERTScore takes `--bertscore` captions, on the
cores that NumPy takes.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pipeline.errors import SourceError
from pipeline.tasks.bertscore import bert_scores
from pipeline.tasks.captioning import CaptionScorer
from pipeline.tasks.meteor import Meteor
from pipeline.tasks.minilm import MiniLM
from pipeline.tasks.released import open_release
from pipeline.tasks.rouge import ascii_words, rouge_l, words
from pipeline.tasks.settings import CaptioningSettings
from pipeline.tasks.wordnet import installed


def main() -> int:
    """Print a line for each city."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--city", nargs="+", default=["helsinki", "monaco"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bertscore", type=int, default=200)
    asked = parser.parse_args()
    folder = installed()
    meteor = Meteor.with_wordnet(folder) if folder else Meteor.without_wordnet()
    for city in asked.city:
        try:
            measure(city, meteor, rounds=asked.rounds, most=asked.bertscore)
        except SourceError as fault:
            print(fault)
            return 1
    return 0


def measure(city: str, meteor: Meteor, *, rounds: int, most: int) -> None:
    """Print the captions of a city in a CPU second, part by part."""
    settings = CaptioningSettings(bertscore=False)
    release = open_release(Path("data") / city / "release")
    scorer = CaptionScorer(release, "train", settings, near=0.8)
    own = scorer.references
    others = [*own[1:], *own[:1]]
    pairs = list(zip(own, others, strict=True))
    encoder = MiniLM.bundled()
    parts: dict[str, tuple[Callable[[], object], int]] = {
        "ROUGE-L": (lambda: [rouge_l(words(a), words(b)) for a, b in pairs], len(pairs)),
        "ASCII": (lambda: [rouge_l(ascii_words(a), ascii_words(b)) for a, b in pairs], len(pairs)),
        meteor.name: (lambda: [meteor.score(words(a), words(b)) for a, b in pairs], len(pairs)),
        "all but BERTScore": (lambda: scorer.measured(others), len(pairs)),
        "BERTScore": (lambda: [*bert_scores(own[:most], others[:most], encoder)], len(own[:most])),
    }
    told = [f"{name} {captions / seconds(work, rounds):,.0f}" for name, (work, captions) in
            parts.items()]  # fmt: skip
    print(f"{city}: {len(pairs)} captions; in a CPU second: {', '.join(told)}")


def seconds(work: Callable[[], object], rounds: int) -> float:
    """Return the CPU seconds of the fastest round after the first."""
    work()
    found = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return min(found)


if __name__ == "__main__":
    sys.exit(main())
