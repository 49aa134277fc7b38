"""A task that is learnt in one language and tested in others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Literal

from analysis.tasks.finetune import FinetuneConfig
from derive.sources.files import TaskFiles


@dataclass(frozen=True)
class Across:
    """Annotated files of one language to learn from, and of others by language to be tested in.

    `finetune` says how a model is fine-tuned. Where there are `learning_rates`, `batches` or `epochs`, each combination
    of them is tried in its place, and the best is taken by the mean over the dev sets of the source and of `devs`.
    `ways` are what models are fine-tuned on: the source alone (ZS), its `translations` too, which translate its
    training files example by example (TT), or also pairs with a text of each language (TT-CS).

    `learnt_as` names another task that learns from the same files with the same settings, as MLQA's models are XQuAD's:
    one model is fine-tuned for both.

    `sizes` make a learning curve: models are also fine-tuned on so many of the training examples, of which the smaller
    draws are part of the larger.
    """

    files: TaskFiles
    tests: Mapping[str, tuple[Path, ...]]
    finetune: FinetuneConfig
    devs: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    learning_rates: tuple[float, ...] = ()
    batches: tuple[int, ...] = ()
    epochs: tuple[int, ...] = ()
    translations: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    ways: tuple[Literal["ZS", "TT", "TT-CS"], ...] = ("ZS",)
    learnt_as: str = ""
    sizes: tuple[int, ...] = ()

    @property
    def configs(self) -> tuple[FinetuneConfig, ...]:
        """Every setting that is tried."""
        one = self.finetune
        tried = product(
            self.learning_rates or (one.learning_rate,), self.batches or (one.batch,), self.epochs or (one.epochs,)
        )
        return tuple(replace(one, learning_rate=rate, batch=batch, epochs=epochs) for rate, batch, epochs in tried)

    def mistakes(self) -> list[str]:
        """Everything that is wrong with these values, in words."""
        wrong = [f"finetune.{mistake}" for mistake in self.finetune.mistakes()]
        if not wrong:
            wrong += [
                f"the grid: {mistake}" for mistake in sorted({said for one in self.configs for said in one.mistakes()})
            ]
        if "ZS" not in self.ways:  # tables show what translations add to it
            wrong.append("ways have ZS among them")
        if len({*self.ways}) < len(self.ways):
            wrong.append("ways name one twice")
        if (self.ways != ("ZS",)) != bool(self.translations):
            wrong.append("ways have TT or TT-CS where there are translations, and only there")
        if list(self.sizes) != sorted({*self.sizes}) or min(self.sizes, default=1) < 1:
            wrong.append("sizes are numbers of training examples from 1 on, each once, the smallest first")
        if self.sizes and self.files.limit and self.sizes[-1] >= self.files.limit:
            wrong.append(
                f"sizes are below files.limit, which is {self.files.limit:,}: models are fine-tuned on that many too"
            )
        if self.sizes and (self.ways != ("ZS",) or self.learnt_as):
            wrong.append("sizes are of a task that is learnt by itself and without translations")
        for key in ("tests", "devs", "translations"):
            wrong += [f"{key}.{language} names no file" for language, paths in getattr(self, key).items() if not paths]
        if self.files.numbered and self.translations:
            wrong.append(
                "files.numbered takes away the ids by which questions and their translations are held together"
            )
        if not self.tests:
            wrong.append("tests are of one other language at least")
        if len({*self.configs}) < len(self.configs):
            wrong.append("the grid has a setting twice")
        if len(self.configs) == 1 and not (self.files.dev or self.files.held_out):
            wrong.append("files.held_out is above 0 where files.dev names none: a task has a dev set")
        if len(self.configs) > 1 and not (self.files.dev or self.files.held_out):
            wrong.append(
                "several settings are chosen between on a dev set, and there is none: name dev files or hold some out"
            )
        return wrong

    def learns_like(self, other: Across) -> bool:
        """Whether a model that is fine-tuned for one of them, with a single setting, is one of the other's too."""
        ours, theirs = self.files, other.files
        tested = replace(
            ours, test=theirs.test, dev=theirs.dev, tested=theirs.tested
        )  # decides nothing of what is learnt
        same = tested == theirs and bool(ours.test) == bool(theirs.test)
        same = same and (self.ways, self.translations) == (other.ways, other.translations)
        return same and self.configs == other.configs and len(self.configs) == 1
