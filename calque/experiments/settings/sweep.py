"""`--sweep KEY=V1,V2`: a study run with several values of a setting; steps that variants share are computed
only once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from calque.derive.errors import BadInput
from calque.derive.fingerprint import fingerprint
from calque.experiments.run.places import REPORT
from calque.experiments.run.step import Step
from calque.experiments.settings import catalogue
from calque.experiments.settings.override import override
from calque.experiments.study.study import Study, step_key

MOST = 100  # maximum number of variants of a study
Values = tuple[str, ...]  # one value per swept setting


@dataclass(frozen=True)
class Sweep:
    """A study and the `settings` to sweep, each a key with its values as text; every combination of values is
    a variant of the study."""

    study: Study
    settings: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def read(cls, study: Study, options: Sequence[str]) -> Sweep:
        """Parse options such as `dictionary.fraction=0.01,0.1,0.5`, or `objectives=MLM,XLM;MLM,ALIGN-MLM`."""
        settings = []
        for option in options:
            key, equals, text = option.partition("=")
            parts = text.split(";" if ";" in text else ",")
            values = tuple(part.strip() for part in parts if part.strip())
            if not equals or len(values) < 2 or len(set(values)) < len(values):
                expected = "key=value,value with two or more different values"
                raise BadInput(f"--sweep {option}: expected {expected}")
            settings.append((key.strip(), values))
        if len({key for key, _ in settings}) < len(settings):
            raise BadInput("--sweep names a setting twice; list all values of a setting in one option")
        if (variants := prod(len(values) for _, values in settings)) > MOST:
            raise BadInput(f"--sweep makes {variants:,} variants of the study; at most {MOST} are allowed")
        sweep = cls(study, tuple(settings))
        assert sweep.variants  # parses every value before anything is computed
        return sweep

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(key for key, _ in self.settings)

    @property
    def options(self) -> list[str]:
        options = []
        for key, values in self.settings:
            mark = ";" if "," in "".join(values) else ","
            options.append(f"{key}={mark.join(values)}")
        return options

    @cached_property
    def variants(self) -> dict[Values, Study]:
        variants = {}
        for values in product(*(values for _, values in self.settings)):
            settings = list(map("=".join, zip(self.keys, values, strict=True)))
            variants[values] = override(self.study, settings, "--sweep")
        return variants

    @property
    def name(self) -> str:
        return self.study.name

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(seed for study in self.variants.values() for seed in study.seeds))

    def home(self, root: Path) -> Path:
        return self.study.home(root)

    def steps(self, root: Path) -> list[Step]:
        """Return all steps, without duplicates. Raises BadInput if two values of a setting lead to the same
        steps."""
        steps = {combination: study.steps(root) for combination, study in self.variants.items()}
        for number, (key, values) in enumerate(self.settings):
            first_with: dict[str, str] = {}  # the first value that leads to certain steps
            for value in values:
                variants = [steps[combination] for combination in steps if combination[number] == value]
                folders = str([[step.folder for step in variant] for variant in variants])
                if (first := first_with.setdefault(folders, value)) != value:
                    fault = f"--sweep {key}={','.join(values)}: {first} and {value} give the same results"
                    raise BadInput(f"{fault}; sweep a setting that changes them")
        return self._merged(steps)

    def trained(self, root: Path = Path()) -> list[Step]:
        """Return the pretraining steps, shipped or not, without duplicates."""
        return self._merged(
            {combination: study.trained(root) for combination, study in self.variants.items()}
        )

    def _merged(self, steps: Mapping[Values, Sequence[Step]]) -> list[Step]:
        users: dict[Any, tuple[Step, list[Values]]] = {}
        for combination, variant_steps in steps.items():
            for step in variant_steps:
                users.setdefault(step_key(step), (step, []))[1].append(combination)
        return [self._titled(step, variants) for step, variants in users.values()]

    def _titled(self, step: Step, users: Sequence[Values]) -> Step:
        """Append to a step's title the swept values that need the step, unless all values do."""
        decisive = []
        for number, (key, values) in enumerate(self.settings):
            needed_values = [
                value for value in values if any(combination[number] == value for combination in users)
            ]
            if len(needed_values) < len(values):
                name = "" if len(self.settings) == 1 else f"{key.rpartition('.')[2]}="
                decisive.append(name + " or ".join(needed_values))
        return replace(step, title=f"{step.title} [{', '.join(decisive)}]") if decisive else step

    def report(self, root: Path, changed: bool) -> Path:
        folder_names = [[step.folder.name for step in study.steps(root)] for study in self.variants.values()]
        return root / self.name / f"{REPORT}-{fingerprint(self.settings, folder_names)}"


def studies_of(about: Mapping[str, Any], own: str | None = None) -> list[Study]:
    """Return the study, or all variants in the sweep, that a report describes, without its claims, whose file
    may be elsewhere; `own` is a user's study file."""
    settings = [*about.get("settings", ()), "claims=none"]
    described = override(catalogue.named_study(own or about["study"]), settings)
    sweep = about.get("sweep")
    return [*Sweep.read(described, sweep).variants.values()] if sweep else [described]
