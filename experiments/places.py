"""Where a study's results lie. A fingerprint of what a folder was made from is in its name.

<root>/<study>/data-<fp>/                                  the derived languages
<root>/<study>/<language>/<objective>/seed-<k>-<fp>/       a pretraining run
<root>/<study>/<language>/<objective>/seed-<k>-<fp>/evaluation-<fp>/   its records
<root>/cache/                                              grammars that were learnt, trees that were parsed
<root>/<study>/report/                                     records, tables, figures, report.html
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from derive.files import fingerprint
from experiments.study import Cell, Study


@dataclass(frozen=True)
class Places:
    """The folders of one study below a root."""

    root: Path
    study: Study

    @property
    def home(self) -> Path:
        """Everything of the study."""
        return self.root / self.study.name

    @property
    def data(self) -> Path:
        """The derived languages."""
        return self.home / f"data-{self.study.data_fingerprint}"

    def run(self, cell: Cell) -> Path:
        """A cell's pretraining run."""
        folder = self.home / cell.transform.name / cell.objective.name
        return folder / f"seed-{cell.seed}-{self.study.run_fingerprint(cell)}"

    def evaluation(self, cell: Cell) -> Path:
        """A cell's records."""
        return self.run(cell) / f"evaluation-{fingerprint(self.study.finetune)}"

    @property
    def cache(self) -> Path:
        """What took long to make and other studies may need too: grammars and trees."""
        return self.root / "cache"

    @property
    def report(self) -> Path:
        """What is made from all records."""
        return self.home / "report"
