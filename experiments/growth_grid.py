"""The study of growth: every transform with every objective and seed, probed at every snapshot of its pretraining.

<root>/<study>/languages-<fp>/                                  the derived languages
<root>/<study>/tasks/<task>-<fp>/                               examples that a probe learns from and is tested on
<root>/<study>/shown-to-probes-<fp>/                            how much of both probes are shown, counted
<root>/<study>/<language>/<objective>/seed-<k>-<fp>/            a pretraining run, with its snapshots
<root>/<study>/<language>/<objective>/seed-<k>-<fp>/growth-<fp>/   records of every snapshot
<root>/<study>/report/                                          records, tables, figures, report.html
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from analysis.measures.probe_text import ProbeConfig
from analysis.records.run import Described, Run
from derive.dictionary import DictionaryConfig
from derive.preview import PREVIEW
from derive.source import Source
from derive.transform import Transform
from experiments.account import of_pretraining
from experiments.cell import Cell
from experiments.cell_grid import CellGrid
from experiments.facts import computed_with, counted, listed
from experiments.step import Step
from experiments.steps.growth import Growth
from experiments.steps.languages import DeriveLanguages
from experiments.steps.pretraining import Pretrain
from experiments.steps.probe_text import ShownToProbes
from pretrain.config import ModelConfig, TrainConfig
from pretrain.mixture import Mixture
from pretrain.objective import Objective

PAPER = "growth"
"""The report's tables and figures."""


@dataclass(frozen=True)
class GrowthGrid(CellGrid):
    """What is derived and pretrained, and what its snapshots are probed with.

    A linear probe learns the examples of `task`. `held_out` is the share of the text that no model reads and all are
    probed on. `train.snapshots` says how often.
    """

    name: str
    source: Source
    transforms: tuple[Transform, ...]
    objectives: tuple[Objective, ...]
    seeds: tuple[int, ...]
    vocabulary: int | Path
    task: str = "pos"
    held_out: float = 0.02
    probe: ProbeConfig = field(default_factory=ProbeConfig)
    dictionary: DictionaryConfig = field(default_factory=DictionaryConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    threads: int = 1

    @property
    def tasks(self) -> tuple[str, ...]:
        return (self.task,)

    @property
    def given(self) -> None:
        return None

    @property
    def read(self) -> Mixture:
        return Mixture(held_out=self.held_out)

    @property
    def extent(self) -> str:
        train, ids = self.train, self.train.steps * self.train.batch * self.model.length
        return (
            f"{counted(len(self.cells), 'model')} of {train.steps:,} steps of {train.batch} x {self.model.length} ids "
            f"({ids / 1e6:,.0f} M) with {self.languages(Path()).rows:,} types, each probed at {len(train.kept)} steps"
        )

    def probing(self, run: Pretrain, cell: Cell, languages: DeriveLanguages, root: Path) -> Growth:
        """The step that probes a cell's snapshots."""
        (examples,) = self.examples(root)
        began = self.pretraining(languages, cell.start) if cell.start else None
        return Growth(run, examples, self.probe, began)

    def shown(self, root: Path) -> ShownToProbes:
        """The step that looks whether there is enough to probe with, so that no model is trained where there is not."""
        (examples,) = self.examples(root)
        names = tuple(transform.name for transform in self.transforms)
        home, languages = self.home(root), self.languages(root)
        return ShownToProbes(home, languages, names, self.held_out, self.model.length, examples, self.probe)

    def pretraining(self, languages: DeriveLanguages, cell: Cell) -> Pretrain:
        return replace(super().pretraining(languages, cell), after=(self.shown(languages.home.parent),))

    def steps(self, root: Path) -> list[Step]:
        languages = self.languages(root)
        steps: list[Step] = [languages, *self.examples(root), self.shown(root)]
        steps += [self.pretraining(languages, cell) for cell in self.starts]
        for cell in self.cells:
            run = self.pretraining(languages, cell)
            steps += [run, self.probing(run, cell, languages, root)]
        return steps

    def summarise(self, root: Path, folder: Path) -> str:
        from experiments.report import write_report

        languages = self.languages(root)
        runs = [self.pretraining(languages, cell) for cell in self.cells]
        measured = [self.probing(run, cell, languages, root) for cell, run in zip(self.cells, runs, strict=True)]
        return write_report(
            self.name,
            self.scale,
            PAPER,
            [self.run_of(cell, run.folder.name) for cell, run in zip(self.cells, runs, strict=True)],
            [row for one in measured for row in one.read()],
            folder,
            preview=languages.open().path(PREVIEW).read_text(encoding="utf-8"),
            exclusions=[*self.of_derivation(root), *of_pretraining(runs)],
            facts=self._facts(languages, runs[0], list(self.shown(root).read())),
        )

    def run_of(self, cell: Cell, name: str) -> Run:
        """A cell's model as its records know it, made in the folder `name`."""
        run = cell.run(name, study=self.name, layers=self.model.layers, given=None)
        return replace(run, mixture=Described.of(self.read))

    def _facts(self, languages: DeriveLanguages, first: Pretrain, shown: list[dict[str, int]]) -> list[tuple[str, str]]:
        run = first.open().facts["identity"]
        fewest = {what: min(counts[what] for counts in shown) for what in shown[0]}
        return [
            ("Seeds", ", ".join(map(str, self.seeds))),
            ("Model", listed(run["model"])),
            ("Training", listed(run["train"])),
            ("Held out", f"the last {self.held_out:.1%} of the text, on which all models are probed"),
            (
                "Probes",
                f"{fewest['pairs']:,} parallel sentences, {fewest['masked']:,} masked ids of each language, "
                f"{fewest['tagged']:,} tagged words to learn from and {fewest['tested']:,} to test on",
            ),
            ("Dictionary", f"{self.dictionary.fraction:.0%} of the types, by {self.dictionary.by}"),
            ("Languages", f"{languages.fingerprint} (fingerprint of the derived data)"),
            *computed_with(run["threads"], run["device"]),
        ]

    def mistakes(self) -> list[str]:
        wrong = super().mistakes() + list(self.mistaken_portions())
        wrong += [f"probe.{mistake}" for mistake in self.probe.mistakes()]
        if not self.train.snapshots:
            wrong.append("train.snapshots is 0: growth is measured on snapshots, which are then not kept")
        if not 0 < self.held_out < 1:
            wrong.append(f"held_out is a fraction between 0 and 1, not {self.held_out}")
        return wrong
