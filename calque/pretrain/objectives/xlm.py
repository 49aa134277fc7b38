"""XLM: MLM and the prediction of masked words in sentence pairs (TLM). PPA: TLM and a contrast of sentences.
XLM-Align: MLM, TLM and denoising word alignment (DWA) with self-made labels (Chi et al. 2021).

Shapes: B pairs, L ids per row, at most W ids per side, hidden size H, D dimensions, K keys in the queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from calque.derive.fingerprint import ADDED
from calque.derive.forms import Form, Named, number, percent, word
from calque.pretrain.batch import MASK_RATE, UNLABELLED, PairRows, Rows
from calque.pretrain.lazy import F, Tensor, nn, torch
from calque.pretrain.model import encode, encode_first, evaluating, prediction_loss
from calque.pretrain.objective import (
    LINKS,
    PARALLEL,
    USUAL,
    Composite,
    Counts,
    Learner,
    Losses,
    Objective,
    PairObjective,
    PairStream,
    Random,
    Traits,
    Update,
)
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.transport import First, itermax_table, largest, sinkhorn, union, untied

MOCO = "moco"
Beside = Literal["TLM", "MLM", ""]  # the loss added to the contrastive loss


class Parallel(PairStream):
    """Rows of parallel sentences from one bitext, with the translations in the second half. Halves consist of
    `<s>`, lines that end in `</s>`, and padding (ALIGN-MLM, appendix G.3)."""

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
    """Return the summed InfoNCE loss, in float32, of queries and their keys (B, D) and negatives (K, D)."""
    with torch.autocast(queries.device.type, enabled=False):
        queries, keys, negatives = queries.float(), keys.float(), negatives.float()
        own = (queries * keys).sum(1, keepdim=True)
        logits = torch.cat([own, queries @ negatives.T], dim=1) / temperature
        first = torch.zeros(len(queries), dtype=torch.long, device=logits.device)
        return F.cross_entropy(logits, first, reduction="sum")


PairsWithKeys = tuple[PairRows, Tensor, Tensor]  # with second sides' keys, and the queue before the step


class Contrasted(PairStream):
    """Pairs as one row for TLM, and a query and a key for the contrastive loss. Before a step, the slow
    encoder is updated and computes all keys, so that queries do not depend on how batches are divided."""

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
        return [(*pair, negatives) for pair in zip(parts, keys, strict=True)], {}

    def losses(self, learner: Learner, batch: PairsWithKeys) -> Losses:
        moco: Any = learner.own[MOCO]
        pairs, keys, negatives = batch
        queries = moco.projection(encode_first(learner.model, pairs.side_rows(0, self.pad)))
        losses = {MOCO: contrast(queries, keys, negatives, self.objective.temperature)}
        if "tlm" in self.weights:
            losses["tlm"] = prediction_loss(learner.model, pairs.rows)
        if "mlm" in self.weights:
            losses["mlm"] = prediction_loss(learner.model, pairs.sides_as_rows(self.pad))
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


POINTER = "pointer"
Positions = Literal["masked", "unmasked", "all-aligned", "none"]
DEPTH = 10 / 12  # the relative depth of the layer that labels pairs in the paper's model


LabelledPairs = tuple[PairRows, tuple[Tensor, Tensor], Losses]
"""Pairs with each side's target ids, (B, W, W), and sums to report with the losses."""


class SentencePairs(PairStream):
    """Pairs for TLM and DWA in one pass."""

    def draw(self, instances: Sequence[int], random: Random) -> tuple[PairRows, Counts]:
        batch = self.draw_pairs(instances, random)
        return batch, {"tlm": batch.rows.labelled} if self.objective.tlm else {}

    def pieces(self, part: PairRows) -> Sequence[PairRows]:
        return (part,) if self.objective.pieces == 1 else part.by_length(self.objective.pieces)

    def before_step(
        self, update: Update, parts: Sequence[PairRows]
    ) -> tuple[Sequence[PairRows | LabelledPairs], Losses]:
        if "dwa" not in self.weights:
            return parts, {}
        with evaluating(update.learner, update.world.device):
            labelled = [self.label(update.learner.model, part) for part in parts]
        quality = ("label precision", "label recall") if self.has_gold else ()
        none = torch.zeros((), dtype=torch.long, device=update.world.device)
        names = "dwa", *quality, "labelled"
        totals = {name: sum((counts[name] for _, counts in labelled), none) for name in names}
        return [pairs for pairs, _ in labelled], totals

    def label(self, model: Any, batch: PairRows) -> tuple[LabelledPairs, Losses]:
        """Label pairs; also return the divisors that depend on the labels."""
        gold = batch.gold[:, :, None] == torch.arange(batch.gold.shape[1], device=batch.gold.device)
        links, plan = gold, gold.float()
        if self.objective.labels == "self":
            links, plan = self._self_label(model, batch)
        targets = self._targets(batch, links, plan)
        counts = {"dwa": targets[0].sum() + targets[1].sum(), "labelled": batch.sides.sum()}
        reported = {"labelled": links.any(2).sum() + links.any(1).sum()}
        if self.has_gold:
            counts |= {"label precision": links.sum(), "label recall": gold.sum()}
            reported |= dict.fromkeys(("label precision", "label recall"), (links & gold).sum())
        return (batch, targets, reported), counts

    def _self_label(self, model: Any, batch: PairRows) -> tuple[Tensor, Tensor]:
        """Return links between unmasked sides, and the transport plan, both (B, W, W) (section 3.1)."""
        layer = self.objective.labelling_layer(model.config.num_hidden_layers)
        hidden = encode(model, replace(batch.rows, ids=batch.clean), layer).float()
        (a, in_first), (b, in_second) = states_of(batch, 0, hidden), states_of(batch, 1, hidden)
        masks = in_first, in_second
        with torch.autocast(hidden.device.type, enabled=False):
            products = a @ b.mT
        plan = untied(sinkhorn(products, *masks, first=self.objective.first), products, *masks)
        return (itermax_table if self.objective.filtering else union)(plan, *masks), plan

    def _targets(self, batch: PairRows, links: Tensor, plan: Tensor) -> tuple[Tensor, Tensor]:
        """Return each side's targets, (B, W, W); of an id's links, the one with the largest mass counts."""
        objective, (first, _), (second, _) = self.objective, batch.places(0), batch.places(1)
        if objective.queries == "all-aligned":
            toss = batch.dice.gather(1, first)[:, :, None] < batch.dice.gather(1, second)[:, None]
            return links & toss, (links & ~toss).mT
        queries = batch.rows.labels != UNLABELLED
        if objective.queries == "unmasked":
            queries = ~queries & (batch.dice < objective.mask_rate)
        masses = plan.masked_fill(~links, -1.0)
        forward = links & largest(masses, 2) & queries.gather(1, first)[:, :, None]
        return forward, (links & largest(masses, 1) & queries.gather(1, second)[:, None]).mT

    def losses(self, learner: Learner, batch: PairRows | LabelledPairs) -> Losses:
        model = learner.model
        if isinstance(batch, PairRows):
            return {"tlm": prediction_loss(model, batch.rows)}
        pairs, targets, reported = batch
        rows, layer = pairs.rows, self.objective.layer or model.config.num_hidden_layers
        hidden = encode(model, rows, layer)
        losses = {"tlm": prediction_loss(model, rows, hidden, layer)} if self.objective.tlm else {}
        sides, real = zip(*(states_of(pairs, side, hidden) for side in (0, 1)), strict=True)
        return losses | {"dwa": learner.own[POINTER](sides, real, targets), **reported}


def states_of(pairs: PairRows, side: int, hidden: Tensor) -> tuple[Tensor, Tensor]:
    """Return the states of one side's ids, (B, W, H), and a mask of real ids, (B, W)."""
    places, real = pairs.places(side)
    return hidden.gather(1, places[:, :, None].expand(-1, -1, hidden.shape[2])), real


@dataclass(frozen=True)
class Settings(Named):
    """Settings for DWA, and for TLM in the same pass (section 3.2). Layers are numbered from 1.

    queries: the ids that point to their links: masked ones, as many unmasked ones, or one per link (table 7).
    labels: the origin of links: the model, the derivation (`gold`) or an aligner (`estimated`).
    label_layer: the layer that labels pairs; default: at the paper's relative depth, 10 of 12.
    layer: the layer of DWA; default: the last one.
    pieces: parts of a micro-batch by length, each with its own padding, which would otherwise be two thirds
        of natural text.
    """

    parallel_fraction: float = USUAL
    mask_rate: float = MASK_RATE
    tlm: bool = True
    queries: Positions = "masked"
    labels: Literal["self", "gold", "estimated"] = "self"
    label_layer: int | None = None
    first: First = "columns"
    filtering: bool = True
    layer: int | None = None
    pieces: int = field(default=1, metadata=ADDED)

    forms: ClassVar[tuple[Form, ...]] = (
        PARALLEL,
        word("tlm", False, "-no-tlm", "no TLM"),
        word("queries", "none", "-no-dwa", "no DWA"),
        word("queries", "unmasked", "-unmasked", "unmasked queries"),
        word("queries", "all-aligned", "-all-aligned", "all aligned query"),
        number("label_layer", "-label", "labels of layer {value}", "8"),
        word("first", "rows", "-rows", "rows first"),
        word("filtering", False, "-unfiltered", "no filtering"),
        number("layer", "-dwa", "DWA at layer {value}", "8"),
        word("labels", "gold", "-gold", "gold labels"),
        word("labels", "estimated", "-estimated", "estimated labels"),
    )


@dataclass(frozen=True)
class DWA(Settings, PairObjective):
    """Denoising word alignment (section 3.2), with or without TLM."""

    short_name = "DWA"
    stream_types = (SentencePairs,)
    limits: ClassVar = PairObjective.limits | {"pieces": 1}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.tlm and self.queries == "none":
            raise ValueError("without both TLM and DWA, the loss is empty; use at least one of them")

    @property
    def traits(self) -> Traits:
        labels = self.labels == "self" and self.queries != "none"  # the model labels pairs without gradients
        # In format 1, rounding errors determined the link if a side was a single sub-word.
        passes = 1 + DEPTH / 3 if labels else 1.0
        return replace(super().traits, passes=passes, links=LINKS[self.labels], format=2)

    def modules(self, model: Any) -> dict[str, nn.Module]:
        if self.queries == "none":
            return {}
        from calque.pretrain.modules import Pointer

        return {POINTER: Pointer(model.config.hidden_size)}

    def labelling_layer(self, layers: int) -> int:
        return round(layers * DEPTH) if self.label_layer is None else self.label_layer

    @property
    def weights(self) -> dict[str, float]:
        return ({"tlm": 1.0} if self.tlm else {}) | ({"dwa": 1.0} if self.queries != "none" else {})


@dataclass(frozen=True)
class XLMAlign(Settings, Composite):
    """XLM-Align combines MLM and TLM with denoising word alignment: the model links the words of sentence
    pairs and learns to point from a masked word to its translation.

    L_MLM + L_TLM + L_DWA (section 3.3); settings can switch TLM or DWA off."""

    short_name, full_name = "XLM-ALIGN", "XLM-Align"
    paper = "Chi et al. 2021"

    @property
    def parts(self) -> tuple[Objective, ...]:
        return MLM(self.mask_rate), DWA(**vars(self))
