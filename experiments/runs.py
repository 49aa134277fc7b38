"""A study's models as its records know them: what each was made of, said by the objects that made it."""

from __future__ import annotations

from analysis.records.run import Described, Run, Start
from experiments.transfer_grid import Cell, TransferGrid
from pretrain.start import weights_digest

RUNS, RECORDS = "runs.jsonl", "records.jsonl"
"""The files of a report that hold what its models were made of, and its numbers."""
SOURCE = Described("source", "the source")


def run_of(study: TransferGrid, cell: Cell, name: str) -> Run:
    """One model of a study, in the folder `name`."""
    start = cell.start
    return Run(
        id=name,
        study=study.name,
        seed=cell.seed,
        languages=(SOURCE, Described.of(cell.transform)),
        objective=Described.of(cell.objective),
        start=Start(Described.of(start.objective), start.portion / cell.portion) if start else _given(study),
        layers=study.model.layers,
    )


def _given(study: TransferGrid) -> Start | None:
    """The checkpoint of a folder that a study's models begin with; none of their steps are spent on it."""
    return Start(Described(weights_digest(study.start)[:12], study.start.name), 0.0) if study.start else None
