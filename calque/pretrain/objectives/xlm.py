"""XLM: MLM and the prediction of masked words in sentence pairs (TLM). PPA: TLM and a contrast of sentences.

Shapes: B sentences, L ids per row, hidden size H, D dimensions, K keys in the queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from calque.derive.fingerprint import ADDED
from calque.derive.forms import number, percent, word
from calque.pretrain.batch import MASK_RATE, PairRows, Rows
from calque.pretrain.bitext import PARALLEL, USUAL, PairObjective, PairStream
from calque.pretrain.lazy import F, Tensor, nn, torch
from calque.pretrain.model import encode_first, evaluating, prediction_loss
from calque.pretrain.objective import Composite, Counts, Learner, Losses, Objective, Random, Traits, Update
from calque.pretrain.objectives.mlm import MLM

MOCO = "moco"
Beside = Literal["TLM", "MLM", ""]  # the loss added to the contrastive loss


class Parallel(PairStream):
    """Rows of parallel sentences from one bitext, with the translations in the second half. Each half
    consists of `<s>`, lines that end in `</s>`, and padding (ALIGN-MLM, appendix G.3)."""

    sides = 2

    def read(self, instances: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return rows' ids and languages, both (B, L)."""
        specials, width = self.languages.specials, self.room + 1
        ids = np.full((len(instances), 2 * width), specials.pad)
        languages = np.full_like(ids, self.languages.padding)
        for row_ids, row_languages, instance in zip(ids, languages, instances, strict=True):
            bitext = self.bitext_of(instance)
            for side, language in enumerate((bitext.first, bitext.second)):
                lines = language.corpus.tokens.take(bitext.lines[self.groups[instance], side])
                marks = [specials.start] + [specials.end] * len(lines)
                half = np.insert(language.ids(lines.values), lines.ends, marks)
                columns = slice(side * width, side * width + len(half))
                row_ids[columns], row_languages[columns] = half, language.number
        return ids, languages

    def draw(self, instances: Sequence[int], random: Random) -> tuple[Rows, Counts]:
        ids, languages = self.read(instances)
        rows = self.masking(ids, languages, random, padded=True)
        # Positions restart in the second half, as in Conneau and Lample (2019).
        words = (ids != self.languages.specials.pad).reshape(len(ids), 2, -1)
        places = (np.cumsum(words, axis=2) * words - 1).reshape(ids.shape)
        return replace(rows, places=torch.from_numpy(places)), {"tlm": rows.labelled}

    def losses(self, learner: Learner, batch: Rows) -> Losses:
        return {"tlm": prediction_loss(learner.model, batch)}


@dataclass(frozen=True)
class TLM(PairObjective):
    """L_TLM(C1-2): masked prediction in rows of sentences and their translations."""

    parallel_fraction: float = USUAL
    mask_rate: float = MASK_RATE

    short_name = "TLM"
    stream_types = (Parallel,)

    @property
    def traits(self) -> Traits:
        return replace(super().traits, language_embeddings=True)


@dataclass(frozen=True)
class XLM(Composite):
    """XLM combines MLM with the prediction of masked words in translated sentence pairs (TLM).

    L_XLM = L_MLM(C1) + L_MLM(C2) + L_TLM(C1-2) (ALIGN-MLM, section 3)."""

    parallel_fraction: float = USUAL
    mask_rate: float = MASK_RATE

    short_name = "XLM"
    forms = (PARALLEL,)
    paper = "Conneau and Lample 2019"

    @property
    def parts(self) -> tuple[Objective, ...]:
        return MLM(self.mask_rate), TLM(self.parallel_fraction, self.mask_rate)


def contrast(queries: Tensor, keys: Tensor, negatives: Tensor, temperature: float) -> Tensor:
    """Return the summed InfoNCE loss, in float32: queries (B, D) should match their own keys (B, D), not the
    `negatives` (K, D)."""
    with torch.autocast(queries.device.type, enabled=False):
        queries, keys, negatives = queries.float(), keys.float(), negatives.float()
        own = (queries * keys).sum(1, keepdim=True)
        logits = torch.cat([own, queries @ negatives.T], dim=1) / temperature
        first = torch.zeros(len(queries), dtype=torch.long, device=logits.device)
        return F.cross_entropy(logits, first, reduction="sum")


@dataclass(frozen=True)
class PairsWithKeys:
    """Sentence pairs, their second sides' keys, and the queue before the step."""

    pairs: PairRows
    keys: Tensor
    negatives: Tensor


class Contrasted(PairStream):
    """Pairs as one row for TLM and two for the contrastive loss: query and key. Before a step, the slow
    encoder is updated and computes the keys, so queries are compared with the same keys however batches are
    divided."""

    def draw(self, instances: Sequence[int], random: Random) -> tuple[PairRows, Counts]:
        batch = self.draw_pairs(instances, random)
        counts = dict.fromkeys(self.weights, batch.rows.labelled)
        return batch, counts | {MOCO: len(batch)}

    def before_step(
        self, update: Update, parts: Sequence[PairRows]
    ) -> tuple[Sequence[PairsWithKeys], Losses]:
        learner, world = update.learner, update.world
        moco: Any = learner.own[MOCO]
        moco.follow(learner.model, self.objective.momentum)
        with evaluating(learner, world.device):
            keys = [moco.keys(part.side_rows(1, self.pad)).float() for part in parts]
        negatives = moco.queue.clone()
        moco.enqueue(world.gather(torch.cat([*keys, moco.queue[:0]])))
        return [PairsWithKeys(*pair, negatives) for pair in zip(parts, keys, strict=True)], {}

    def losses(self, learner: Learner, batch: PairsWithKeys) -> Losses:
        moco: Any = learner.own[MOCO]
        queries = moco.projection(encode_first(learner.model, batch.pairs.side_rows(0, self.pad)))
        losses = {MOCO: contrast(queries, batch.keys, batch.negatives, self.objective.temperature)}
        if "tlm" in self.weights:
            losses["tlm"] = prediction_loss(learner.model, batch.pairs.rows)
        if "mlm" in self.weights:
            losses["mlm"] = prediction_loss(learner.model, batch.pairs.sides_as_rows(self.pad))
        return losses


@dataclass(frozen=True)
class PPA(PairObjective):
    """PPA predicts masked words in translated sentence pairs, and learns to identify a sentence’s
    translation among a queue of other sentences (MoCo).

    The loss is L_MoCo + L_TLM (section 2). A sentence's vector is the last layer's state at the first
    position, normalised and projected to `dimensions` dimensions.

    queue: the number of earlier keys used as negatives.
    momentum: the weight of the slow encoder's previous values in each update.
    beside: the loss added to L_MoCo (Table 5); MLM masks the same ids as TLM, with each side in its own row.
    """

    parallel_fraction: float = USUAL
    mask_rate: float = MASK_RATE
    queue: int = 32_000
    momentum: float = 0.999
    temperature: float = 0.05
    dimensions: int = 300
    beside: Beside = field(default="TLM", metadata=ADDED)

    short_name = full_name = "PPA"
    stream_types = (Contrasted,)
    limits: ClassVar = PairObjective.limits | {
        "positive": ["queue", "dimensions", "temperature"],
        "shares": ["momentum"],
    }
    forms = (
        PARALLEL,
        number("queue", "-queue", "queue of {value:,}", "512"),
        percent("momentum", "-momentum", "momentum {value}", "99"),
        word("beside", "MLM", "-mlm", "MLM for TLM"),
        word("beside", "", "-alone", "without TLM"),
    )
    paper = "Pan et al. 2021"

    @property
    def traits(self) -> Traits:
        # Queries, which are half of the ids, are encoded with gradients, and keys without.
        passes = bool(self.beside) + (1 + 1 / 3) / 2
        return replace(super().traits, passes=passes, predicts=bool(self.beside))

    def modules(self, model: Any) -> dict[str, nn.Module]:
        from calque.pretrain.modules import MoCo

        return {MOCO: MoCo(model, self.queue, self.dimensions)}

    @property
    def weights(self) -> dict[str, float]:
        return dict.fromkeys([self.beside.lower(), MOCO] if self.beside else [MOCO], 1.0)
