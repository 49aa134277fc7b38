"""A task that is learnt in one language and tested in others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Literal

from analysis.tasks.finetune import FinetuneConfig
from derive.language import SOURCE
from derive.source import SPLITS
from derive.sources.files import TaskFiles
from derive.unknown import shown

TAKEN = (SOURCE, *SPLITS)
"""What no language is called: files and lines of reports are."""
LONGEST = 32
"""Letters of a language's name."""


def names_language(name: object) -> bool:
    """Whether something can be the name of a language, which folders and files are called by."""
    if not isinstance(name, str) or len(name) > LONGEST or name in TAKEN:
        return False
    return bool(re.fullmatch(r"[A-Za-z0-9]+([_-][A-Za-z0-9]+)*", name))


def no_language(name: object) -> str:
    """What is said of a name that cannot be a language's."""
    taken = ", ".join(TAKEN)
    return f"{shown(str(name))} is no name of a language; expected letters, digits and dashes, as in zh-tw, not {taken}"


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
            for language, paths in getattr(self, key).items():
                if not names_language(language):
                    wrong.append(f"{key}: {no_language(language)}")
                elif not paths:
                    wrong.append(f"{key}.{language} names no file")
        if self.files.numbered and self.translations:
            wrong.append(
                "files.numbered takes away the ids by which questions and their translations are held together"
            )
        if not self.tests:
            wrong.append("tests are of one other language at least")
        if len({*self.configs}) < len(self.configs):
            wrong.append("the grid has a setting twice")
        if not (self.files.dev or self.files.held_out):
            wrong.append("settings are chosen between on a dev set, and there is none: name dev files or hold some out")
        return wrong

    def learns_like(self, other: Across) -> bool:
        """Whether a model that is fine-tuned for one of them, with a single setting, is one of the other's too."""
        ours, theirs = self.files, other.files
        # Which files are tested decides nothing of what is learnt, but where there are none, some of that is held out.
        asked = replace(ours, test=theirs.test, dev=theirs.dev, tested=theirs.tested)
        same = asked == theirs and (not ours.test, not ours.dev) == (not theirs.test, not theirs.dev)
        same = same and (self.ways, self.translations) == (other.ways, other.translations)
        return same and self.configs == other.configs and len(self.configs) == 1
