"""What a model may see of a release, and nothing else: the one thing that a baseline is handed.

    view = release.for_models("generation")
    view.inputs("test")            instance_id and the input of each instance: no target
    view.train("generation")       of train the targets too, of any task
    view.pool("test")              paths and times to choose from: for retrieval alone
    view.roads, view.cells, ...    the ground

Targets, evidence, provenance, styles and scenarios of val and test stay with the scorers, the texts
of other tasks too: a query tells where an instruction leads.
"""

from typing import TYPE_CHECKING

import polars as pl

from pipeline.release.definitions import Definitions

if TYPE_CHECKING:
    from pipeline.tasks.released import Release

_SHOWN = (
    "trip_id", "start_time", "time_spent_s", "length_m", "edge_ids", "t_enter_s", "off_from_m",
    "off_to_m", "cells", "cell_edges",
)  # fmt: skip


class ModelView:
    """The part of a release that models of one task may see.

    Attributes:
        task: The task.
        city: Code of the city.
    """

    def __init__(self, release: "Release", task: str) -> None:
        """Show a release to the models of a task."""
        self._release, self.task, self.city = release, task, release.city

    def train(self, task: str) -> pl.DataFrame:
        """Read the instances of train of any task: instance_id, the fields of its input, target."""
        return self._release.inputs(task, "train")

    def inputs(self, split: str) -> pl.DataFrame:
        """Read the instances of a split of the task: instance_id and the fields of its input."""
        return self._release.inputs(self.task, split).drop("target", strict=False)

    def pool(self, split: str) -> pl.DataFrame:
        """Read the trips of a split: trip_id, path and times, no text.

        Raises:
            LookupError: They are of val or test, and the task is not retrieval: another task's
                trips are its answers.
        """
        if self.task != "retrieval" and split != "train":
            raise LookupError(
                f"expected trips of train or the task retrieval, found {split} of {self.task}: its"
                " trips are the answers"
            )
        return self._release.candidates(split).select(_SHOWN)

    @property
    def roads(self) -> pl.DataFrame:
        """The directed road segments (schema road)."""
        return self._release.roads

    @property
    def road_cells(self) -> pl.DataFrame:
        """The H3 cells of each segment (schema road_cell)."""
        return self._release.road_cells

    @property
    def cells(self) -> pl.DataFrame:
        """What lies in each H3 cell (schema cell)."""
        return self._release.cells

    @property
    def names(self) -> pl.DataFrame:
        """The names of the city (schema city_name)."""
        return self._release.names

    @property
    def definitions(self) -> Definitions:
        """What the constraints of its texts mean."""
        return self._release.definitions
