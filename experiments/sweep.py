"""`--sweep KEY=V1,V2`: one study with several values of a setting; steps that the values share are computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path

from calque.derive.errors import BadInput
from calque.derive.fingerprint import fingerprint
from calque.experiments.override import override
from calque.experiments.report_records import REPORT
from calque.experiments.step import Step, with_needs
from calque.experiments.study import Study

MOST = 100  # variants of one study


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
        if (variants := prod(len(values) for _, values in settings)) > MOST:
            raise BadInput(f"--sweep makes {variants:,} variants of the study; expected at most {MOST}")
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
