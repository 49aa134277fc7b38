"""The values of a study of natural languages."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from analysis.aligners.methods import DEFAULT, OT, RELEASED
from analysis.measures.gold import SETS
from derive.natural.bitext import BitextFiles
from derive.natural.build import Rows
from derive.natural.text import TextFiles
from experiments.across import Across
from experiments.steps.pretraining import GivenModel
from experiments.study import Study
from experiments.text_plan import TextSizes
from pretrain.config import ModelConfig, TrainConfig
from pretrain.mixture import Mixture
from pretrain.objective import Objective


@dataclass(frozen=True)
class NaturalValues(Study):
    """What is read, what it begins with, what is learnt, and what is measured before and after.

    `start` is the folder of an encoder with its tokenizer, or its name on the hub with a revision. `tasks` by name are
    learnt in the language `source` and tested in others, with each seed. `texts` are by language and `bitexts` by two
    of them, as `en-fr`, for `objectives`, without which the start alone is measured; sentences of `withheld` are left
    out of both. `head` is how the prediction head of a start that has none is trained before anything else is, by the
    first objective that predicts (None: with the rest).
    `gold` has the sets of word links, read by `aligners`, the first of which models are judged by; `same_sentences` are
    treebanks of one text in several languages.
    `dictionaries` are lexicons by bitext, as `calque lexicon` writes them, for objectives that are told some.
    A model has rows of the types that occur, or of all, as `table` says. What a plan cannot see before files are there,
    `sizes` and `types` say: bytes of text, and how many types the start's tokenizer has.
    """

    name: str
    start: Path
    source: str
    tasks: dict[str, Across]
    seeds: tuple[int, ...]
    objectives: tuple[Objective, ...] = ()
    texts: dict[str, TextFiles] = field(default_factory=dict)
    bitexts: dict[str, tuple[BitextFiles, ...]] = field(default_factory=dict)
    withheld: TextFiles | None = None
    gold: Path = Path()
    same_sentences: dict[str, Path] = field(default_factory=dict)
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    head: TrainConfig | None = None
    mixture: Mixture = field(default_factory=Mixture)
    sets: tuple[str, ...] = SETS
    aligners: tuple[str, ...] = (DEFAULT.name, RELEASED.name, OT.name)
    threads: int = 1
    table: Rows = "used"
    sizes: TextSizes | None = None
    types: int = 0
    dictionaries: dict[str, Path] = field(default_factory=dict)

    @cached_property
    def begun(self) -> GivenModel:
        """The encoder that everything begins with."""
        return GivenModel(self.start)
