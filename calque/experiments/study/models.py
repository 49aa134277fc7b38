"""A study's models: the groups of languages that they read, steps that train them, and existing models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from calque.analysis.measures.alignment import Types, alignment_of_model, metrics_row
from calque.analysis.records.record import Described, MeasuredModel, Run
from calque.derive import word_links
from calque.derive.errors import BadInput
from calque.derive.fingerprint import fingerprint, plain, sha256
from calque.derive.languages import SOURCE, Languages, NamePair
from calque.derive.word_links import SYMMETRISATIONS, PairSample, estimate_links, with_links
from calque.experiments.run.step import Machine, Step
from calque.experiments.study.tasks import CrossLingualTask
from calque.pretrain.config import ALL_TOGETHER, Mixture, ModelConfig, TrainConfig
from calque.pretrain.model import flops_per_id, parameters
from calque.pretrain.objective import GOLD, Linked, Objective
from calque.pretrain.run import CHECKPOINT, METRICS, Pretraining, Probe, ShippedRun, pretrain
from calque.pretrain.saved_model import RUN, check_start, has_head, weights_file

FORMAT = 2


def mistakes_in(check: Callable[..., Any], *arguments: Any, what: str = "") -> list[str]:
    """Return the message of a check that raises BadInput, preceded by `what` it is about."""
    try:
        check(*arguments)
    except BadInput as error:
        return [f"{what}{error}"]
    return []


class Cost(NamedTuple):
    """The cost of pretraining, in steps, parameters and operations."""

    steps: int
    parameters: int
    flops: float


@dataclass(frozen=True)
class Group:
    """Languages in `data` that a model reads together, with the source if there is one; `name` is a
    folder's."""

    name: str
    data: Step
    languages: tuple[str, ...]
    described: tuple[Described, ...]


@dataclass(frozen=True)
class GivenModel:
    """An existing model, in a folder that transformers can load."""

    checkpoint: Path

    @cached_property
    def fingerprint(self) -> str:
        settings = {path.name: sha256(path) for path in sorted(self.checkpoint.glob("*.json"))}
        return fingerprint(self._weights, settings)

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        return ({"kind": "GivenModel", "weights": self._weights},) if self.checkpoint.is_dir() else ()

    @cached_property
    def _weights(self) -> str:
        return sha256(weights_file(self.checkpoint))

    @cached_property
    def has_head(self) -> bool:
        return self.checkpoint.is_dir() and has_head(self.checkpoint)

    def mistakes(self, config: ModelConfig) -> list[str]:
        return mistakes_in(check_start, self.checkpoint, config, what="start: ")


Weights = Step | GivenModel  # the source of a model's weights: a pretraining step or an existing model


def checkpoint_of(weights: Weights) -> Path:
    """Return the folder of a model's checkpoint."""
    return weights.checkpoint if isinstance(weights, GivenModel) else weights.folder / CHECKPOINT


@dataclass(frozen=True)
class Model:
    """A model to measure. `about` describes it in records, except for its id: the path, relative to `home`,
    of its training step's folder, or else `place`. Measures may use the study's `tasks` and `examples`."""

    weights: Weights
    about: Run
    home: Path
    place: str = ""
    tasks: Mapping[str, CrossLingualTask] = field(default_factory=dict)
    examples: Mapping[str, Step] = field(default_factory=dict)

    @cached_property
    def run(self) -> Run:
        return replace(self.about, id=self.folder.relative_to(self.home).as_posix())

    @property
    def folder(self) -> Path:
        return self.step.folder if self.trained else self.home / self.place

    def identity(self) -> tuple[str, int]:
        return self.weights.fingerprint, self.about.seed

    @property
    def checkpoint(self) -> Path:
        return checkpoint_of(self.weights)

    @property
    def trained(self) -> bool:
        return isinstance(self.weights, Step)

    @property
    def step(self) -> Step:
        assert isinstance(self.weights, Step)
        return self.weights

    @property
    def training(self) -> Training:
        training: Training = self.step.config
        return training

    @property
    def metrics(self) -> Path:
        return self.step.open().path(METRICS)

    def measured(self, machine: Machine) -> MeasuredModel:
        """Return the description of the model that measures and records use."""
        has_language = self.trained and self.of_pair and not self.run.main_layer
        return MeasuredModel(
            checkpoint=self.checkpoint,
            run=self.run.id,
            language=self.language if has_language else "",
            seed=self.run.seed,
            step=self.training.all_steps if self.trained else 0,
            device=str(machine.world.device),
        )

    @property
    def language(self) -> str:
        return self.training.languages[0]

    @property
    def of_pair(self) -> bool:
        """Whether the model is measured on a source and exactly one other language."""
        return len(self.training.languages) == 1

    @property
    def name(self) -> str:
        return self.step.place.relative_to(self.home).as_posix() if self.trained else self.place

    @property
    def data(self) -> Path:
        return self.training.data.folder

    def languages(self) -> Languages:
        return Languages.open(self.data, self.training.languages)


@dataclass(frozen=True)
class EstimatedLinks:
    """fast_align's links, symmetrised by `method`, for the sentence pairs `drawn` from a bitext."""

    data: Step
    pair: NamePair
    method: Linked
    drawn: PairSample

    @property
    def names(self) -> list[str]:
        return [name for name in self.pair if name != SOURCE]

    def identity(self) -> dict[str, Any]:
        text = self.data.config
        languages = {name: text.language(name, dictionary=False) for name in self.names}
        return {"languages": languages, "method": self.method, "drawn": self.drawn}

    def step(self) -> Step:
        name = "-".join(self.pair)
        place, kind = self.data.folder / "estimated" / name, (word_links.KIND, word_links.FORMAT)
        return Step(self, place, f"estimated links {name}", "derive", *kind)

    def compute(self, step: Step, machine: Machine) -> None:
        languages = Languages.open(self.data.folder, self.names)
        estimate_links(languages, *self.pair, step.folder, SYMMETRISATIONS[self.method], self.drawn)


@dataclass(frozen=True)
class Training:
    """A pretraining run with an objective, on the `languages` in `data`, from `start` or from random weights.
    If `shipped` is given, the trained model is unpacked instead. `claims`, the digest of the study's primary
    claims, does not affect the weights."""

    data: Step
    languages: tuple[str, ...]
    objective: Objective
    model: ModelConfig
    train: TrainConfig
    seed: int
    start: Weights | None = None
    mixture: Mixture = ALL_TOGETHER
    shipped: ShippedRun | None = None
    claims: str = ""

    def step(self, home: Path, group: str = "", threads: int = 1) -> Step:
        place = home / group / self.objective.name / f"seed-{self.seed}"
        title = f"{'unpack' if self.shipped else 'pretrain'} {place.relative_to(home)}"
        settings = RUN, FORMAT, threads
        return Step(self, place, title, "pretrain", *settings, shared=True, after=self.links)

    def compute(self, step: Step, machine: Machine) -> None:
        languages = Languages.open(self.data.folder, self.languages)
        for links in self.links:
            languages = with_links(languages, links.folder)
        config = Pretraining(
            languages=languages,
            objective=self.objective,
            model=self.model,
            train=self.train,
            seed=self.seed,
            start=checkpoint_of(self.start) if self.start else None,
            mixture=self.mixture,
            claims=self.claims,
            inputs=self.inputs,
        )
        if self.shipped:
            self.shipped.unpack(step.folder, config)
            return
        pretrain(
            step.folder,
            config,
            machine.world,
            probe=self.probe(),
            progress=lambda done, steps: machine.report(step.title, done, steps),
            allow_change=machine.allow_change,
        )

    @cached_property
    def inputs(self) -> dict[str, str]:
        """A fingerprint of each language's inputs to the objective; MLM, for example, reads no dictionary."""
        return self._inputs(self.objective.reads_dictionary, self.objective.reads_bitexts)

    def _inputs(self, *reads: bool) -> dict[str, str]:
        return {name: self.data.config.language(name, *reads) for name in self.languages or (SOURCE,)}

    def identity(self) -> dict[str, Any]:
        return self._identity(self.inputs) | ({"shipped": self.shipped} if self.shipped else {})

    def _identity(self, inputs: dict[str, str]) -> dict[str, Any]:
        return {
            "languages": inputs,
            "objective": self.objective,
            "format": self.objective.traits.format,
            "seed": self.seed,
            "model": self.model,
            "train": self.train.recipe,
            "start": self.start.fingerprint if self.start else None,
            "mixture": self.mixture,
            "links": self.links,
            # Shares and token types are assigned to languages in this order.
            "order": None if list(self.languages) == sorted(self.languages) else list(self.languages),
        }

    @property
    def name_in_file(self) -> str:
        """The name of this run in a file of shipped runs."""
        return fingerprint(RUN, FORMAT, plain(self._identity(self._inputs())))

    @cached_property
    def links(self) -> tuple[Step, ...]:
        method = self.objective.traits.links
        if method in ("", GOLD):
            return ()
        sample = PairSample.of(self.objective.traits.parallel_share, self.seed)
        pairs = self.data.config.pairs_of(self.languages)
        return tuple(EstimatedLinks(self.data, pair, method, sample).step() for pair in pairs)

    @property
    def starts(self) -> list[Step]:
        """The steps that train what this run starts from, the earliest first."""
        return [*self.start.config.starts, self.start] if isinstance(self.start, Step) else []

    @property
    def steps_before(self) -> int:
        return sum(start.config.train.steps for start in self.starts)

    @property
    def all_steps(self) -> int:
        return self.steps_before + self.train.steps

    def probe(self) -> Probe | None:
        """Return a function that measures alignment@1, if there are two languages in different scripts."""
        if len(self.languages) != 1:
            return None
        types = Types.open(self.data.folder, *self.languages)

        def measure(model: Any) -> dict[str, Any]:
            return metrics_row(alignment_of_model(model, types), not self.objective.reads_dictionary)

        return measure if types.measurable else None

    def cost(self) -> Cost:
        traits, model = self.objective.traits, self.model
        rows = int(self.data.config.rows_of(self.data, self.languages))
        ids = self.train.steps * self.train.batch * model.length
        languages = (1 + len(self.languages)) * traits.language_embeddings
        return Cost(
            steps=self.train.steps,
            parameters=parameters(model, rows) + languages * model.hidden,
            flops=ids * traits.passes * flops_per_id(model, rows, traits.mask_rate),
        )
