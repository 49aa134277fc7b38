"""`--sweep KEY=V1,V2`: one study with several values of a setting; steps that the values share are computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path

from derive.errors import BadInput
from derive.files import fingerprint
from experiments.override import override
from experiments.step import Step, with_needs
from experiments.study import REPORT, Study

MOST = 100
"""Variants of one study."""


@dataclass(frozen=True)
class Sweep:
    """A study with every combination of values of some settings: each a key and its values, as text."""

    study: Study
    settings: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def read(cls, study: Study, options: Sequence[str]) -> Sweep:
        """A study with options such as `dictionary.fraction=0.01,0.1,0.5`, or `objectives=MLM,XLM;MLM,ALIGN-MLM`."""
        settings = []
        for option in options:
            key, equals, text = option.partition("=")
            values = tuple(value.strip() for value in text.split(";" if ";" in text else ",") if value.strip())
            if not equals or len(values) < 2 or len(set(values)) < len(values):
                raise BadInput(f"--sweep {option}: expected key=value,value with two or more different values")
            settings.append((key.strip(), values))
        if len({key for key, _ in settings}) < len(settings):
            raise BadInput("--sweep names a setting twice; list all values of a setting in one option")
        sweep = cls(study, tuple(settings))
        combinations = list(product(*(values for _, values in settings)))
        if len(combinations) > MOST:
            raise BadInput(f"--sweep makes {len(combinations):,} variants of the study; expected at most {MOST}")
        assert sweep.variants  # reads every value, before anything is computed
        return sweep

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(key for key, _ in self.settings)

    @cached_property
    def variants(self) -> dict[tuple[str, ...], Study]:
        combinations = product(*(values for _, values in self.settings))
        return {
            values: override(self.study, [f"{key}={value}" for key, value in zip(self.keys, values, strict=True)])
            for values in combinations
        }

    @property
    def name(self) -> str:
        return self.study.name

    def home(self, root: Path) -> Path:
        return self.study.home(root)

    def steps(self, root: Path) -> list[Step]:
        return with_needs(step for study in self.variants.values() for step in study.steps(root))

    def report(self, root: Path, changed: bool = True) -> Path:
        shown = [[step.folder.name for step in study.steps(root)] for study in self.variants.values()]
        return self.home(root) / f"{REPORT}-{fingerprint(self.settings, shown)}"


def summarise_sweep(sweep: Sweep, root: Path, folder: Path) -> str:
    """Write the report of a sweep to `folder`, whole or not at all; returns what a terminal shows."""
    from analysis.papers.sweep import Sweep as SweepResults
    from analysis.papers.sweep import sweep_figure, sweep_table
    from analysis.report.page import Report, write_page
    from analysis.results.results import Results
    from derive.files import whole_folder
    from experiments.report import terminal_text, write_records
    from experiments.summary import facts_of, floors_of, measured, runs_and_records, scale

    runs, records, floors, variants = [], [], [], {}
    for values, study in sweep.variants.items():
        settings = dict(zip(sweep.keys, values, strict=True))
        suffix = "@" + ",".join(f"{key}={value}" for key, value in settings.items())
        found, its_floors = measured(study, root), floors_of(study, root)
        its_runs, its_records = runs_and_records(found)
        its_runs = [replace(run, id=run.id + suffix, settings=settings) for run in its_runs]
        its_records = [replace(record, run=record.run + suffix) for record in its_records]
        variants[values] = Results(its_runs, its_records, floors=its_floors)
        runs += its_runs
        records += its_records
        floors += [floor for floor in its_floors if floor not in floors]
    results, size = SweepResults(sweep.keys, variants), scale(sweep.study)
    table, plot = sweep_table(results, size), sweep_figure(results, size)
    with whole_folder(folder) as part:
        write_records(part, runs, records, floors)
        (part / "sweep.csv").write_text(table.csv, encoding="utf-8")
        (part / "sweep.md").write_text(table.markdown, encoding="utf-8")
        page = Report(
            title=f"Calque: the study {sweep.name} by {', '.join(sweep.keys)}",
            scale=size,
            drawings=[plot.save(part / "figures")] if plot else [],
            claims=None,
            tables=[table],
            facts=[*((key, ", ".join(values)) for key, values in sweep.settings), *facts_of(study, root, found)],
            runs=[run.id for run in runs],
        )
        write_page(part / "report.html", page)
    return terminal_text(folder, [], {"sweep": table})
