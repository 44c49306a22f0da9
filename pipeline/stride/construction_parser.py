"""The actions of `stride` that build a benchmark, without what is slow to import.

python -m pipeline stride lint bench.json --json   ->  construction.lint_file
"""

import argparse
from collections.abc import Callable
from pathlib import Path

_COMPILE = (
    "Compile a text into questions bound to measures, asking the model that params.yaml names under"
    " stride_specs (or none: `template` reads from its words how a crowd moves, negation and"
    " numbers included, prints the words that decided, and refuses a text that is vague or"
    " contradicts itself). What was compiled once is kept in the response ledger. No trajectory is"
    " looked at."
)
_LINT = (
    "Hold a benchmark to rules: shape, known measures and parameters, bounds that cannot be met or"
    " that everything meets, opposites, contacts that bodies cannot have, questions counted twice,"
    " trends near zero, and what Stop, Random and Straight pass. Exit code 1 if there is an error."
)
_REVIEW = (
    "Have people read the texts. `export` writes a CSV with an empty column `verdict` (keep or"
    " drop); `import` takes it into configs/stride/verdicts.csv, which belongs in git."
)
_WALK = (
    "Let a reference generator walk the released scenarios and write ID/sim.npz, which `stride"
    " score` reads: social_force plays the roles behind the texts, goal_walkers and jupedsim know"
    " first goals only. jupedsim wants its package (`make models`)."
)
_INPUTS = (
    "Write, for each released scenario, what a generator may know: text, people, goals, groups,"
    " event, walls and walkable ground. Questions are not in it."
)
_ADOPT = (
    "Turn tables <scene_id>.parquet with the columns frame, agent, x_m, y_m (and vx_mps, vy_mps,"
    " goal_x_m, goal_y_m, radius_m) into <scene_id>/sim.npz, which `stride score` reads."
)

Actions = argparse._SubParsersAction


def add_construction(actions: "Actions[argparse.ArgumentParser]") -> None:
    """Add compile, lint, review, walk, inputs and adopt to the actions of `stride`."""
    compile_ = actions.add_parser("compile", help="a text as questions", description=_COMPILE)
    compile_.add_argument("--text", metavar="T", required=True, help="what a crowd does, in words")
    compile_.add_argument("--category", metavar="C", help="kind of crowd, such as Violent")
    compile_.add_argument("--map", metavar="MAP_ID", help="one of data/stride/maps.parquet")
    compile_.add_argument(
        "--people", metavar="N", type=int, help="how many, 1 to 2000 (default: as the text states)"
    )
    compile_.add_argument("--seconds", metavar="S", type=float, help="how long, to 3600")
    compile_.add_argument("--pattern", metavar="P", help="way of moving, for `template` only")
    compile_.add_argument(
        "--id", metavar="ID", default="0000", help="id of the scenario (default: %(default)s)"
    )
    compile_.add_argument("--out", metavar="BENCH.json", type=Path, help="write it as a benchmark")
    compile_.add_argument("--json", action="store_true", help="print it as JSON")
    compile_.set_defaults(command=_starter("compile"))

    lint = actions.add_parser("lint", help="check a benchmark", description=_LINT)
    lint.add_argument("benchmark", metavar="BENCH.json", type=Path)
    lint.add_argument(
        "--states", metavar="STATES.npz|DIR", type=Path, help="also count the people in arrays"
    )
    lint.add_argument("--json", action="store_true", help="print all findings as JSON")
    lint.set_defaults(command=_starter("lint"))

    review = actions.add_parser("review", help="texts read by people", description=_REVIEW)
    review.add_argument("what", choices=("export", "import"))
    review.add_argument("file", metavar="LIST.csv", type=Path)
    review.set_defaults(command=_starter("review"))

    walk = actions.add_parser("walk", help="by a reference generator", description=_WALK)
    walk.add_argument("generator", choices=("social_force", "goal_walkers", "jupedsim"))
    walk.add_argument("--out", metavar="DIR", type=Path, required=True)
    walk.add_argument(
        "--scenario",
        metavar="ID",
        action="append",
        default=[],
        help="only this one; may be repeated (default: all)",
    )
    walk.set_defaults(command=_starter("walk"))

    inputs = actions.add_parser("inputs", help="for other generators", description=_INPUTS)
    inputs.add_argument("folder", metavar="DIR", type=Path)
    inputs.set_defaults(command=_starter("inputs"))

    adopt = actions.add_parser("adopt", help="walks from tables", description=_ADOPT)
    adopt.add_argument("source", metavar="DIR", type=Path)
    adopt.add_argument("--out", metavar="DIR", type=Path, required=True)
    adopt.add_argument("--dt", metavar="S", type=float, required=True, help="seconds a frame")
    adopt.set_defaults(command=_starter("adopt"))


def _starter(action: str) -> Callable[[argparse.Namespace], int]:
    def start(arguments: argparse.Namespace) -> int:
        from pipeline.stride import construction  # noqa: PLC0415 - numbers load when needed

        return construction.ACTIONS[action](arguments)

    return start
