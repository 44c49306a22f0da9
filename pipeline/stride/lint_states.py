"""Whether arrays of states have the people that a benchmark speaks of.

    list(crowd_findings(benchmark, source))
    ->  [Finding("warn", "agents_mismatch", "1017", "", "",
                 "233 people in the benchmark, 41 in the array")]

People are agents that are present in at least one frame. A scenario that states no number, or has
no array, is passed over: coverage is told by the scorer.
"""

from collections.abc import Iterator

from pipeline.errors import SourceError
from pipeline.stride.benchmark import Benchmark, folded
from pipeline.stride.lint_rules import Finding
from pipeline.stride.sources import Source


def crowd_findings(benchmark: Benchmark, source: Source) -> Iterator[Finding]:
    """Yield the scenarios whose array has other people than they say, or cannot be read."""
    there = set(source.ids)
    for scenario in benchmark.scenarios:
        if folded(scenario.id) not in there:
            continue
        try:
            found = source.read(scenario.id).walk.ever_present
        except SourceError as fault:
            yield Finding("warn", "unreadable_states", scenario.id, "", "", str(fault))
            continue
        if scenario.n_agents is not None and found != scenario.n_agents:
            words = f"{scenario.n_agents} people in the benchmark, {found} in the array"
            yield Finding("warn", "agents_mismatch", scenario.id, "", "", words)
