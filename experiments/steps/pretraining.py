"""The step that pretrains one model."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol

import torch

from derive.errors import BadInput
from derive.estimated_links import PairSample
from derive.files import fingerprint, sha256
from derive.language import SOURCE
from experiments.packing import CONTEXT
from experiments.step import Cost, Machine, Stage, Step
from experiments.steps.estimated_links import EstimatedLinks
from experiments.steps.languages import LanguagesStep
from pretrain.config import ModelConfig, TrainConfig
from pretrain.cost import card_bytes, parameters, training_bytes
from pretrain.hub import model_folder
from pretrain.mixture import ALL_TOGETHER, Mixture
from pretrain.objective import GOLD, Objective
from pretrain.run import CHECKPOINT, Pretraining, Probe, pretrain
from pretrain.saved_model import RUN
from pretrain.start import check_start, has_head, weights_digest

PROCESS = 400 * 2**20
"""Bytes that Python, torch and transformers take before there is a model; on a GPU they are not in its memory."""


DRAWN = 3 * 8
"""Bytes per id of a step's rows, which are drawn at once: the id, its label and its language."""
TOO_MUCH = 2
"""A step is refused if its estimated memory is more than this multiple of the machine's."""


class Start(Protocol):
    """A model that a run begins with."""

    @property
    def checkpoint(self) -> Path:
        """The folder that transformers loads."""

    @property
    def fingerprint(self) -> str:
        """Changes with whatever decides the model's weights."""

    @property
    def made_by(self) -> tuple[Step, ...]:
        """The steps of the study that make it."""

    @property
    def all_steps(self) -> int:
        """The steps that it was pretrained for, as far as the study did it."""


@dataclass(frozen=True)
class GivenModel:
    """A start that no step of the study makes: a checkpoint of any origin.

    `name` is its folder, or the hub's name of a model with its revision (`pretrain.hub`).
    """

    name: Path

    made_by: ClassVar[tuple[Step, ...]] = ()
    all_steps: ClassVar[int] = 0

    @cached_property
    def checkpoint(self) -> Path:
        """The folder that transformers loads, fetched from the hub where it is not at hand.

        Raises:
            BadInput: a name that the hub does not answer to.
        """
        return model_folder(str(self.name))

    @cached_property
    def fingerprint(self) -> str:
        """That of its weights, and of the files that say how they and its tokenizer are read."""
        said = {path.name: sha256(path) for path in sorted(self.checkpoint.glob("*.json"))}
        return fingerprint(self._weights, said)

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        """What records say of it: the digest of its weights; nothing if the folder is missing."""
        return ({"kind": "GivenModel", "weights": self._weights},) if self.checkpoint.is_dir() else ()

    @cached_property
    def _weights(self) -> str:
        return weights_digest(self.checkpoint)

    @cached_property
    def has_head(self) -> bool:
        """Whether it has a prediction head; while there is no such folder, it has none.

        Raises:
            BadInput: a folder without a model, or weights that cannot be read.
        """
        return self.checkpoint.is_dir() and has_head(self.checkpoint)

    def mistakes(self, config: ModelConfig) -> list[str]:
        """Why no run of such a model can begin with it, in words."""
        try:
            check_start(self.checkpoint, config)
        except BadInput as error:
            return [f"start: {error}"]
        return []


@dataclass(frozen=True)
class Pretrain(Step):
    """One model: an objective on the source of `data` and its languages `languages`, of which there may be none.

    `above` is the folder that the runs of all seeds share. `start` is the model that this one begins with, such as
    another such step's; without one, weights are drawn. `mixture` says how much of each language is read. A model of
    two languages is probed for alignment@1 while it learns. The steps `after` have to end well before it begins,
    though it reads nothing of them.
    """

    above: Path
    data: LanguagesStep
    languages: tuple[str, ...]
    objective: Objective
    model: ModelConfig
    train: TrainConfig
    seed: int
    threads: int = 1
    start: Start | None = None
    mixture: Mixture = ALL_TOGETHER
    after: tuple[Step, ...] = ()

    stage: ClassVar[Stage] = "pretrain"
    kind: ClassVar[str] = RUN
    format: ClassVar[int] = 2
    shared: ClassVar[bool] = True

    @property
    def language(self) -> str:
        """The language beside the source in a model of two."""
        (language,) = self.languages
        return language

    @property
    def rows(self) -> int:
        """Rows of its embedding table."""
        return self.data.rows_of(self.languages)

    @property
    def name(self) -> str:
        """For people: `trans.inv/MLM/seed-0`."""
        return "/".join(self.place.parts[-3:])

    @property
    def place(self) -> Path:
        return self.above / f"seed-{self.seed}"

    @property
    def title(self) -> str:
        return f"pretrain {self.name}"

    @property
    def needs(self) -> tuple[Step, ...]:
        return (self.data, *self.after, *self.links, *(self.start.made_by if self.start else ()))

    @cached_property
    def links(self) -> tuple[EstimatedLinks, ...]:
        """The links of its bitexts, where the objective learns from estimated ones: of the pairs that it reads."""
        asked = self.objective.asked_links
        if asked in ("", GOLD):
            return ()
        read = PairSample.of(self.objective.parallel_share, self.seed)
        pairs = self.mixture.bitexts
        return tuple(
            EstimatedLinks(self.data, *pair, asked, read)
            for pair in (self.data.pairs_of(self.languages) if pairs is None else pairs)
        )

    @cached_property
    def decided_by(self) -> dict[str, Any]:
        several = {name: self.data.language(name) for name in self.languages or (SOURCE,)}
        facts = {
            **({"languages": several} if len(self.languages) != 1 else {"language": several[self.language]}),
            "objective": self.objective,
            "seed": self.seed,
            "model": self.model,
        }
        start = {"start": self.start.fingerprint} if self.start else {}
        changed = {"objective's format": self.objective.format} if self.objective.format > 1 else {}
        mixed = {"mixture": self.mixture} if self.mixture != ALL_TOGETHER else {}
        linked = {"links": [step.fingerprint for step in self.links]} if self.links else {}
        ordered = self.data.order_of(self.languages)
        return facts | {"train": self.train.recipe} | start | changed | mixed | linked | ordered

    @property
    def checkpoint(self) -> Path:
        """The folder that transformers loads."""
        return self.folder / CHECKPOINT

    @property
    def made_by(self) -> tuple[Step, ...]:
        """Itself, where another run begins with its model."""
        return (self,)

    @property
    def all_steps(self) -> int:
        """The steps that its model is pretrained for, including those of the model that it begins with."""
        return self.steps_before + self.train.steps

    @property
    def steps_before(self) -> int:
        """Steps of pretraining behind the model that this one begins with."""
        return self.start.all_steps if self.start else 0

    def __call__(self, machine: Machine) -> None:
        pretrain(
            self.folder,
            Pretraining(
                self.data.folder,
                self.languages,
                self.objective,
                self.model,
                self.train,
                self.seed,
                self.start.checkpoint if self.start else None,
                tuple(step.folder for step in self.links),
                self.mixture,
            ),
            machine.world,
            probe=self._probe() if len(self.languages) == 1 else None,
            progress=lambda step, steps: machine.report(self.title, step, steps),
            allow_change=machine.allow_change,
            tell=lambda said: machine.report(f"{self.title}: {said}", 1, 1),
        )

    def _probe(self) -> Probe | None:
        from analysis.measures.alignment import Types, alignment_of_model

        types = Types.open(self.data.folder, self.language)

        def probe(model: Any) -> dict[str, float]:
            return {metric: fraction for metric, (fraction, _) in alignment_of_model(model, types).shares.items()}

        return probe if types.asks else None

    def check_memory(self, there: float, processes: int = 1) -> None:
        if (needed := self._peak(processes)) <= TOO_MUCH * there:
            return
        model, train = self.model, self.train
        smaller = {
            f"model.{name} ({getattr(model, name):,})": replace(self, model=replace(model, **{name: 1}))
            for name in ("layers", "hidden", "ffn", "length")
        } | {f"train.batch ({train.batch:,})": replace(self, train=replace(train, batch=1))}
        most = min(smaller, key=lambda name: smaller[name]._peak(processes))
        raise BadInput(
            f"{self.title}: training takes about {needed / 2**30:,.0f} GiB, and there are {there / 2**30:,.0f}; "
            f"the main reason is {most}"
        )

    def _peak(self, processes: int) -> float:
        """Bytes that each process takes at the peak, of a card's memory if there is a card."""
        return self.on_card_with(self._rows(processes)) if torch.cuda.is_available() else self._memory(processes)

    def _rows(self, processes: int = 1) -> int:
        """The most rows that a process learns from at a time."""
        return math.ceil(self.train.batch / (self.train.grad_accumulation * processes))

    def _memory(self, processes: int = 1) -> int:
        """Bytes of this machine's memory that each process takes at the peak."""
        process, drawn = 0 if torch.cuda.is_available() else PROCESS, DRAWN * self.train.batch * self.model.length
        needed = training_bytes(self.model, self.rows, self._rows(processes), self.objective.mask_rate)
        return process + needed + 16 * self._languages + drawn

    @property
    def _languages(self) -> int:
        """Parameters of language embeddings."""
        return (1 + len(self.languages)) * self.model.hidden if self.objective.language_embeddings else 0

    def on_card(self) -> float:
        return self.on_card_with(self._rows())

    def on_card_with(self, rows: int) -> float:
        """Bytes of a card that its model is expected to take while it learns from so many rows at a time."""
        return CONTEXT + self.cost().card.of(rows)

    def cost(self) -> Cost:
        ids = self.train.steps * self.train.batch * self.model.length
        languages = self._languages
        model, types, at_head = self.model, self.rows, self.objective.mask_rate
        card, pairs = card_bytes(model, types, at_head), self.mixture.pairs or 0.0
        of_text, of_pairs = (of(model, types) for of in (self.objective.flops_per_id, self.objective.pair_flops_per_id))
        return Cost(
            steps=self.train.steps,
            parameters=parameters(model, types) + languages,
            flops=ids * ((1 - pairs) * of_text + pairs * of_pairs),
            memory=self._memory(),
            batch=self.train.batch,
            card=replace(card, fixed=card.fixed + 16 * languages),
        )
