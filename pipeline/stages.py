"""The journey: every stage in order, what it reads and what it writes. Read this first.

    raw GPS + OSM + Overture
      pull_osm -> roads ┐
      pull_context ─────┴> cells ┐
      simulate -> ingest -> match ┴> compress -> report
                         (truth) -> assess ┘

DVC (`dvc.yaml`), the command line, the README table and the tests are all held to this table.
A stage is a function `run(io, *, <sections>)`: its keyword arguments are exactly the sections of
params.yaml (`params`) and the keys of configs/<city>.yaml (`config`) named here (and `city`, if it
asks for it), so DVC reruns it for those values and for no others.
"""

from typing import NamedTuple

from pipeline.artifacts import ARTIFACTS, Artifact


class Stage(NamedTuple):
    """One row of the journey.

    Attributes:
        name: The stage, a verb; `dvc repro <name>@<city>` runs it for one city.
        function: `package.module:function` that does it.
        desc: What it turns into what, in one line.
        reads: Names of the artifacts it opens.
        writes: Names of the artifacts it makes.
        params: Sections of params.yaml it is given.
        config: Keys of configs/<city>.yaml it is given.
        files: Data files of the package that decide its result (tables, templates).
        rejects: Whether it can reject items, with reasons, to rejected/<stage>.parquet.
    """

    name: str
    function: str
    desc: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    params: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    rejects: bool = False

    def rejections(self) -> Artifact:
        """Return the artifact that holds what this stage rejected."""
        return ARTIFACTS[f"{self.name}_rejected"]


STAGES: tuple[Stage, ...] = ()
