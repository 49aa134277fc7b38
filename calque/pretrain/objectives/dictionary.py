"""Objectives that learn from dictionary entries: ALIGN-MLM, REPEL-MLM, ROTATE-MLM and PreAlign.

Shapes: d pairs of rows, hidden size H; for PreAlign, P pairs, W = 2P words (all first sides, then all second
    sides), A anchors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.fingerprint import plain
from calque.derive.forms import number, percent
from calque.derive.languages import Languages
from calque.derive.vocabulary import Specials
from calque.pretrain.batch import MASK_RATE, UNLABELLED, Batch, Pairs, Rows
from calque.pretrain.lazy import F, Tensor, torch
from calque.pretrain.model import encode_each
from calque.pretrain.objective import (
    After,
    Composite,
    Counts,
    Learner,
    Losses,
    Objective,
    Random,
    Stream,
    Sum,
    Traits,
    Update,
)
from calque.pretrain.objectives.mlm import MLM, Link, Monolingual

ALPHA = 10.0
TEMPERATURE, PAIRS = 0.1, 128
WORD = 1  # the word's position in its row, `<s> word </s>`
FIRST_SIDES = MappingProxyType({"anchors": "first"})


def moved_entries(languages: Languages) -> tuple[np.ndarray, np.ndarray]:
    """Return the entries with two different ids, and their languages, both (n, 2) int64."""
    if not languages.dictionaries:
        raise BadInput("there is no dictionary, so there is nothing to align", languages.folder)
    dictionaries = [languages.dictionary(*pair) for pair in languages.dictionaries]
    numbers = [[languages[name].number for name in pair] for pair in languages.dictionaries]
    entries, sides = np.concatenate(dictionaries), np.repeat(numbers, list(map(len, dictionaries)), axis=0)
    moved = entries[:, 0] != entries[:, 1]
    if not moved.any():
        raise BadInput("the languages share all types in the dictionary, so there is nothing to align")
    return np.ascontiguousarray(entries[moved]), sides[moved]


class DictionaryCosine(Stream):
    """All dictionary entries in every step."""

    def prepare(self) -> None:
        self.weights = {self.objective.term: self.objective.alpha}
        self.pairs = Pairs(torch.from_numpy(moved_entries(self.languages)[0]))

    def draw(self, instances: Sequence[int], random: Random) -> tuple[Pairs, Counts]:
        return self.pairs, {self.objective.term: len(self.pairs)}

    def losses(self, learner: Learner, batch: Pairs) -> Losses:
        # A sparse gradient contains only the dictionary's rows; a dense one would be as large as the table.
        rows = F.embedding(batch.ids, learner.model.get_input_embeddings().weight, sparse=True)
        cosines = F.cosine_similarity(rows[:, 0], rows[:, 1])
        return {self.objective.term: self.objective.loss(cosines).sum()}


@dataclass(frozen=True)
class Align(Objective):
    """alpha * L_ALIGN, the negative mean cosine between dictionary pairs' embeddings."""

    alpha: float = ALPHA

    short_name, term = "ALIGN", "align"
    stream_types = (DictionaryCosine,)
    limits: ClassVar = {"positive": ["alpha"]}
    traits = Traits(dictionary=True)

    def loss(self, cosines: Tensor) -> Tensor:
        return -cosines


@dataclass(frozen=True)
class Repel(Align):
    """alpha * L_REPEL, the mean of max(0, cosine). Opposite embeddings would be aligned up to a rotation."""

    short_name, term = "REPEL", "repel"

    def loss(self, cosines: Tensor) -> Tensor:
        return cosines.relu()


@dataclass(frozen=True)
class AlignMLM(Composite):
    """ALIGN-MLM adds to MLM a loss that pulls the embeddings of dictionary pairs together.

    L_ALIGN-MLM = L_MLM + alpha * L_ALIGN. The paper chose alpha from 1, 10 and 100 (appendix G.5)."""

    alpha: float = ALPHA
    mask_rate: float = MASK_RATE

    short_name = "ALIGN-MLM"
    forms = (number("alpha", "-", "with weight {value}", "100", float),)
    paper = "Tang et al. 2022"
    added: ClassVar[type[Align]] = Align

    @property
    def parts(self) -> tuple[Objective, ...]:
        return MLM(self.mask_rate), self.added(self.alpha)


@dataclass(frozen=True)
class RepelMLM(AlignMLM):
    """REPEL-MLM adds to MLM a loss that keeps the embeddings of dictionary pairs dissimilar.

    L_REPEL-MLM = L_MLM + alpha * L_REPEL."""

    short_name = "REPEL-MLM"
    paper = ""
    added = Repel


def procrustes(rows: Tensor, targets: Tensor) -> Tensor:
    """Return the orthogonal matrix that brings `rows` closest to `targets`, (d, H) (Schönemann 1966)."""
    left, _, right = torch.linalg.svd(rows.double().T @ targets.double())
    return (left @ right).to(rows.dtype)


@dataclass(frozen=True)
class Rotation:
    """Maps a row x to (x - start) @ matrix + end."""

    start: Tensor
    matrix: Tensor
    end: Tensor

    @classmethod
    def fit(cls, rows: Tensor, targets: Tensor) -> Rotation:
        """Fit the rotation that brings centred `rows` closest to centred `targets`, both (d, H)."""
        start, end = rows.mean(0), targets.mean(0)
        return cls(start, procrustes(rows - start, targets - end), end)

    def __call__(self, rows: Tensor) -> Tensor:
        return (rows - self.start) @ self.matrix + self.end


class RotatedOnce(Monolingual):
    """MLM's rows. After a fraction `at` of the steps, derived embeddings are rotated onto the source's."""

    def prepare(self) -> None:
        super().prepare()
        entries, sides = moved_entries(self.languages)
        self.rows = [
            (own_rows(self.languages, language), torch.from_numpy(entries[sides[:, 1] == language]))
            for language in np.unique(sides[:, 1]).tolist()
        ]

    def before_step(self, update: Update, parts: Sequence[Rows]) -> tuple[Sequence[Rows], Losses]:
        model = update.learner.model
        tables = dict.fromkeys([model.get_input_embeddings().weight, model.get_output_embeddings().weight])
        if update.step == round(self.objective.at * update.steps):
            with torch.no_grad():
                for table in tables:  # only one, if the tables are tied
                    for rows, pairs in self.rows:
                        rotate(table, rows.to(table.device), pairs.to(table.device), update)
        return parts, {}


def own_rows(languages: Languages, number: int) -> Tensor:
    """Return the embedding rows that a language does not share with earlier ones, (n,) int64."""
    *before, language = [language.table for language in languages.languages[: number + 1]]
    rows = np.setdiff1d(language, np.concatenate(before))
    if not len(rows):
        name = languages.languages[number].name
        raise BadInput(f"{name} has no embedding rows of its own; give it a new script", languages.folder)
    return torch.from_numpy(rows.astype(np.int64))


def rotate(table: Tensor, rows: Tensor, pairs: Tensor, update: Update) -> None:
    """Rotate a table's `rows` (n,), and AdamW's moments, by the map that brings the second rows of `pairs`
    (d, 2) closest to the first. Second moments assume gradients that are uncorrelated across dimensions."""
    rotation = Rotation.fit(table[pairs[:, 1]], table[pairs[:, 0]])
    changes = [(table, rotation(table[rows]))]
    if moments := update.optimizer.state.get(table):
        for name, matrix in (("exp_avg", rotation.matrix), ("exp_avg_sq", rotation.matrix.square())):
            changes.append((moments[name], moments[name][rows] @ matrix))
    for tensor, values in changes:
        # All processes use the first process's result, because results may differ in the last digits.
        tensor[rows] = update.world.add(values if update.world.first else torch.zeros_like(values))


@dataclass(frozen=True)
class RotateMLM(Objective):
    """ROTATE-MLM is MLM with one rotation of the derived language’s embeddings onto the source
    embeddings."""

    at: float = 0.5
    mask_rate: float = MASK_RATE

    short_name = "ROTATE-MLM"
    stream_types = (RotatedOnce,)
    limits: ClassVar = {"shares": ["at"]}
    forms = (percent("at", "-at-", "after {percent} % of the steps", "25"),)

    @property
    def traits(self) -> Traits:
        return replace(super().traits, dictionary=True)


@dataclass(frozen=True)
class Anchors(Batch):
    """Dictionary entries, `ids` and `languages` (P, 2) int64, whose first words, the anchors, should match
    their translations. Parts contain all words, but only the anchors from `first` to before `last`."""

    ids: Tensor
    languages: Tensor
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first

    def cut(self, rows: slice) -> Anchors:
        return replace(self, first=self.first + rows.start, last=self.first + rows.stop)

    def rows(self, specials: Specials) -> Rows:
        """Return one row `<s> word </s>` per word, (W, 3)."""
        words, numbers = (column.T.reshape(-1, 1) for column in (self.ids, self.languages))
        ids = F.pad(F.pad(words, (1, 0), value=specials.start), (0, 1), value=specials.end)
        return Rows(ids, torch.full_like(ids, UNLABELLED), numbers.expand(-1, 3), padded=False)

    @property
    def excluded(self) -> Tensor:
        """A mask of words to leave out of anchors' sums, (A, W): other entries with a common word."""
        entries = self.ids[self.first : self.last]
        overlaps = (entries[:, None, :, None] == self.ids[None, :, None, :]).any(3).any(2)
        overlaps.diagonal(self.first).fill_(False)
        return overlaps.repeat(1, 2)

    def contrast(self, words: Tensor, temperature: float) -> Tensor:
        """Return the InfoNCE loss, summed over anchors w with translations t, in float32: -log(exp(cos(w, t)
        / T) / sum over words v of exp(cos(w, v) / T)); as in the published code, the `words` (W, H) include
        w."""
        with torch.autocast(words.device.type, enabled=False):
            unit = F.normalize(words.float(), dim=1)
            logits = unit[self.first : self.last] @ unit.T / temperature
            targets = torch.arange(self.first, self.last, device=words.device) + len(self.ids)
            return F.cross_entropy(logits.masked_fill(self.excluded, -torch.inf), targets, reduction="sum")


class WordContrast(Stream):
    def prepare(self) -> None:
        self.weights = {"words": 1.0}
        self.ids, self.sides = moved_entries(self.languages)
        if len(self.ids) < 2:
            raise BadInput("only one dictionary entry links two different types; at least two are needed")

    def draw(self, instances: Sequence[int], random: Random) -> tuple[Anchors, Counts]:
        sample = random.permutation(len(self.ids))[: self.objective.pairs]
        ids, languages = (torch.from_numpy(column[sample]) for column in (self.ids, self.sides))
        return Anchors(ids, languages, 0, len(sample)), {"words": len(sample)}

    def losses(self, learner: Learner, batch: Anchors) -> Losses:
        states = encode_each(learner.model, batch.rows(self.languages.specials))
        layers = [batch.contrast(hidden[:, WORD], self.objective.temperature) for hidden in states]
        return {"words": torch.stack(layers).mean()}


@dataclass(frozen=True)
class Contrast(Objective):
    """The InfoNCE loss on `pairs` entries per step, averaged over embeddings and layers (section 3.2)."""

    pairs: int = PAIRS
    temperature: float = TEMPERATURE

    former_fields = FIRST_SIDES
    short_name = "CONTRAST"
    stream_types = (WordContrast,)
    limits: ClassVar = {"positive": ["temperature"], "pairs": 2}
    traits = Traits(dictionary=True)


@dataclass(frozen=True)
class PreAlign(Composite):
    """PreAlign starts with MLM plus a loss that pulls dictionary pairs together at every layer, and then
    continues as LINK with fewer replaced words.

    `portion` is the first phase's fraction of all steps, and `share` the fraction of replaced words."""

    share: float = 0.05
    portion: float = 0.1
    pairs: int = PAIRS
    temperature: float = TEMPERATURE
    mask_rate: float = MASK_RATE

    former_fields = FIRST_SIDES
    short_name, full_name = "PREALIGN", "PreAlign"
    forms = (percent("portion", "-for-", "{percent} % of the steps", "25", " ({})"),)
    paper = "Li et al. 2024"

    @property
    def first(self) -> Objective:
        parts = MLM(self.mask_rate), Contrast(self.pairs, self.temperature)
        return Sum("PREALIGN-FIRST", parts, "PreAlign’s first phase")

    @property
    def phases(self) -> After:
        return After(Link(self.share, self.mask_rate), self.first, self.portion)

    @property
    def parts(self) -> tuple[Objective, ...]:
        return self.phases.parts

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        return (plain(self),)

    @property
    def traits(self) -> Traits:
        return self.phases.traits
