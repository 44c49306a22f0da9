"""What `tasks predict` does: hand a model what it may see, and write what it answers.

python -m pipeline tasks predict generation destsp_bm25 --release DIR --out routes.parquet
"""

import argparse

from pipeline.errors import SourceError
from pipeline.replacing import replaced
from pipeline.tasks.baselines import MODELS
from pipeline.tasks.predictions import SCHEMAS
from pipeline.tasks.released import open_release


def predict(arguments: argparse.Namespace) -> int:
    """Write the predictions of a model, or list the models.

    Raises:
        SourceError: No such model, or no release, or no place to write to is named.
    """
    if arguments.list:
        for task, models in MODELS.items():
            for model in models:
                print(f"{task} {model.name}")
        return 0
    known = {model.name: model for model in MODELS.get(arguments.task, ())}
    if arguments.model not in known:
        raise SourceError(
            f"tasks predict: expected a task and one of its models ({', '.join(known) or 'none'}),"
            f" found {arguments.task} {arguments.model}; see `tasks predict --list`"
        )
    for option in ("release", "out"):
        if getattr(arguments, option) is None:
            raise SourceError(f"tasks predict: expected --{option}, found none; give it")
    if arguments.out.suffix != ".parquet":
        raise SourceError(
            f"{arguments.out}: expected a file that ends in .parquet; give --out another name"
        )
    view = open_release(arguments.release).for_models(arguments.task)
    found = known[arguments.model].predict(view, arguments.split)
    with replaced(arguments.out) as file:
        found.write_parquet(file)
    print(f"wrote {arguments.out}: {found.height} rows, {SCHEMAS[arguments.task]}")
    return 0
