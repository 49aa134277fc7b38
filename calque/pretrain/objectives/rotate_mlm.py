"""ROTATE-MLM: MLM with a single rotation of the derived language's embeddings onto their translations.

Shapes: d pairs of rows, hidden size H.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.forms import percent
from calque.derive.languages import Language, Languages
from calque.pretrain.batch import Rows
from calque.pretrain.distributed import World
from calque.pretrain.lazy import Optimizer, Tensor, no_grad, torch
from calque.pretrain.masking import MASK_RATE
from calque.pretrain.objective import Objective, Traits, Update
from calque.pretrain.objectives.align_mlm import moved_entries
from calque.pretrain.objectives.mlm import Monolingual


def procrustes(rows: Tensor, targets: Tensor) -> Tensor:
    """Return the orthogonal matrix, (H, H), that brings `rows` closest to `targets`, both (d, H): UV' from
    the SVD of rows.T @ targets (Schönemann 1966)."""
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
    """Rows masked as for MLM. After a fraction `at` of the steps, the embeddings that only a derived language
    uses are rotated onto their translations."""

    objective: RotateMLM

    def prepare(self) -> None:
        super().prepare()
        entries, sides = moved_entries(self.languages)
        order = np.argsort(sides, axis=1)
        entries, later = np.take_along_axis(entries, order, axis=1), sides.max(axis=1)
        self.pairs, self.rows = dict[int, Tensor](), dict[int, Tensor]()
        for language in np.unique(later).tolist():
            self.pairs[language] = torch.from_numpy(entries[later == language])
            self.rows[language] = torch.from_numpy(own_rows(self.languages, language))

    def before_step(self, update: Update, parts: Sequence[Rows]) -> tuple[Sequence[Rows], dict[str, Tensor]]:
        model = update.learner.model
        tables = dict.fromkeys([model.get_input_embeddings().weight, model.get_output_embeddings().weight])
        if update.step == round(self.objective.at * update.steps):
            for table in tables:  # only one, if the tables are tied
                for number, pairs in self.pairs.items():
                    rows = self.rows[number].to(table.device), pairs.to(table.device)
                    rotate(table, *rows, update.optimizer, update.world)
        return parts, {}


def own_rows(languages: Languages, number: int) -> np.ndarray:
    """Return the embedding rows that a language does not share with earlier ones, (n,) int64."""
    *before, language = map(_rows, languages.languages[: number + 1])
    rows = np.setdiff1d(language, np.concatenate(before))
    if not len(rows):
        name = languages.languages[number].name
        raise BadInput(f"{name} has no embedding rows of its own; give it a new script", languages.folder)
    return rows


def _rows(language: Language) -> np.ndarray:
    return np.append(language.table, [] if language.places is None else language.places).astype(np.int64)


@no_grad
def rotate(table: Tensor, rows: Tensor, pairs: Tensor, optimizer: Optimizer, world: World) -> None:
    """Rotate a table's `rows` (n,), and AdamW's moments, by the map that brings the second rows of `pairs`
    (d, 2) closest to the first. For second moments, this assumes gradients that are uncorrelated across
    dimensions."""
    rotation = Rotation.fit(table[pairs[:, 1]], table[pairs[:, 0]])
    updates = [(table, rotation(table[rows]))]
    if moments := optimizer.state.get(table):
        for name, matrix in (("exp_avg", rotation.matrix), ("exp_avg_sq", rotation.matrix.square())):
            updates.append((moments[name], moments[name][rows] @ matrix))
    for tensor, values in updates:
        # All processes use the first process's result, because results may differ in the last digits.
        tensor[rows] = world.add(values if world.first else torch.zeros_like(values))


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
