"""Objectives that learn word alignment.

XLM-Align combines MLM, TLM and denoising word alignment (DWA) with self-made labels (Chi et al. 2021).
Aligner training is a contrastive loss on linked words in sentence pairs; a word's vector is the mean of its
sub-words' states at one layer, centred on the sentence mean and normalised.

Shapes: B pairs, one per row, L ids per row, at most W ids, or n and m words, on their sides, hidden size H.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from calque.derive.fingerprint import ADDED
from calque.derive.forms import Form, Named, number, percent, word
from calque.pretrain.batch import MASK_RATE, UNLABELLED, Batch, LinkedPairs, PairRows, PlaceLinks
from calque.pretrain.bitext import LINKS, PARALLEL, USUAL, Pair, PairObjective, PairStream, sizes_of_words
from calque.pretrain.lazy import F, Tensor, nn, torch
from calque.pretrain.model import encode, evaluating, layers_of, main_layer, prediction_loss
from calque.pretrain.objective import GOLD, Composite, Learner, Objective, Traits, Update
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.transport import First, itermax_table, largest, log_kernel, sinkhorn, union, untied

POINTER = "pointer"
CONTRAST, LABELLED = "contrast", "labelled"
TEMPERATURE = 0.1
GROUP = 8  # maximum number of sentence pairs that share negatives
Positions = Literal["masked", "unmasked", "all-aligned", "none"]
DEPTH = 10 / 12  # the relative depth of the layer that labels pairs in the paper's model


@dataclass(frozen=True)
class LabelledPairs:
    """Pairs with each side's target ids, (B, W, W), and sums to report along with the losses."""

    pairs: PairRows
    targets: tuple[Tensor, Tensor]
    reported: dict[str, Tensor]


class SentencePairs(PairStream):
    """Pairs for TLM and DWA, in one forward pass."""

    @property
    def uncounted(self) -> tuple[str, ...]:  # type: ignore[override]
        quality = ("label precision", "label recall") if self.has_gold else ()
        return ("dwa", *quality, "labelled") if "dwa" in self.weights else ()

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[PairRows, dict[str, int]]:
        batch = self.draw_pairs(instances, random)
        return batch, {"tlm": batch.rows.labelled} if self.objective.tlm else {}

    def pieces(self, part: PairRows) -> Sequence[PairRows]:
        return (part,) if self.objective.pieces == 1 else part.by_length(self.objective.pieces)

    def before_step(
        self, update: Update, parts: Sequence[PairRows]
    ) -> tuple[Sequence[PairRows | LabelledPairs], dict[str, Tensor]]:
        if not self.uncounted:
            return parts, {}
        with evaluating(update.learner, update.world.device):
            labelled = [self.label(update.learner.model, part) for part in parts]
        totals = {}
        for name in self.uncounted if labelled else ():
            totals[name] = torch.stack([counts[name] for _, counts in labelled]).sum()
        return [pairs for pairs, _ in labelled], totals

    def label(self, model: Any, batch: PairRows) -> tuple[LabelledPairs, dict[str, Tensor]]:
        """Label pairs; also return the counts of `uncounted` terms."""
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
        return LabelledPairs(batch, targets, reported), counts

    def _self_label(self, model: Any, batch: PairRows) -> tuple[Tensor, Tensor]:
        """Return links between unmasked sides, and the transport plan, both (B, W, W) (section 3.1), in
        float32."""
        layer = self.objective.labelling_layer(model.config.num_hidden_layers)
        hidden = encode(model, replace(batch.rows, ids=batch.clean), layer).float()
        (a, in_first), (b, in_second) = states_of(batch, 0, hidden), states_of(batch, 1, hidden)
        masks = in_first, in_second
        with torch.autocast(hidden.device.type, enabled=False):
            kernel = log_kernel(a @ b.mT)
        plan = untied(sinkhorn(kernel, *masks, first=self.objective.first), kernel, *masks)
        return (itermax_table if self.objective.filtering else union)(plan, *masks), plan

    def _targets(self, batch: PairRows, links: Tensor, plan: Tensor) -> tuple[Tensor, Tensor]:
        """Return each side's targets, (B, W, W); an id with several links points to the one with the largest
        mass."""
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

    def losses(self, learner: Learner, batch: PairRows | LabelledPairs) -> dict[str, Tensor]:
        model = learner.model
        if isinstance(batch, PairRows):
            return {"tlm": prediction_loss(model, batch.rows)}
        rows, layer = batch.pairs.rows, self.objective.layer or model.config.num_hidden_layers
        hidden = encode(model, rows, layer)
        losses = {"tlm": prediction_loss(model, rows, hidden, layer)} if self.objective.tlm else {}
        sides, real = zip(*(states_of(batch.pairs, side, hidden) for side in (0, 1)), strict=True)
        return losses | {"dwa": learner.own[POINTER](sides, real, batch.targets), **batch.reported}


def states_of(pairs: PairRows, side: int, hidden: Tensor) -> tuple[Tensor, Tensor]:
    """Return the states of one side's ids, (B, W, H), and a mask of real ids, (B, W)."""
    places, real = pairs.places(side)
    return hidden.gather(1, places[:, :, None].expand(-1, -1, hidden.shape[2])), real


@dataclass(frozen=True)
class Settings(Named):
    """Settings for DWA, and for TLM in the same pass (section 3.2). Layers are numbered from 1.

    queries: which ids point to their links: masked ids, the same number of unmasked ids, or one id per link
        (table 7).
    labels: whether links come from the current model, the derivation (`gold`, an upper bound) or an aligner
        (`estimated`).
    label_layer: the layer that labels pairs; by default, at the same relative depth as 10 of 12 in the paper.
    layer: the layer that DWA applies to; by default, the last one.
    pieces: the number of parts into which a micro-batch is divided by length, each with its own padding. With
        one part, two thirds of a batch of natural text would be padding.
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
    """L_MLM + L_TLM + L_DWA (section 3.3); settings can switch TLM or DWA off."""

    short_name, full_name = "XLM-ALIGN", "XLM-Align"
    summary = (
        "XLM-Align combines MLM and TLM with denoising word alignment: the model links the words of sentence "
        "pairs and learns to point from a masked word to its translation."
    )
    paper = "Chi et al. 2021"

    @property
    def parts(self) -> tuple[Objective, ...]:
        return MLM(self.mask_rate), DWA(**vars(self))


@dataclass(frozen=True)
class NumberedWords(LinkedPairs):
    """Unmasked pairs with links between numbered words. `first` and `second`, (B, W) int64, contain the
    number of each id's word, or -1 for padding."""

    first: Tensor
    second: Tensor


@dataclass(frozen=True)
class PairGroups(Batch):
    """Groups of sentence pairs that are never split between micro-batches or processes."""

    groups: tuple[NumberedWords, ...]

    def cut(self, rows: slice) -> PairGroups:
        return PairGroups(self.groups[rows])

    def _each(self, of_tensor: Callable[[Tensor], Tensor], of_batch: Callable[[Any], Any]) -> PairGroups:
        return PairGroups(tuple(map(of_batch, self.groups)))


class ContrastedWords(PairStream):
    """Unmasked pairs in groups of similar length, each side in its own row. `LABELLED` is the fraction of
    linked words (or, if the model labels them itself, of all words) that receive a label."""

    shuffled = True  # consecutive pairs in a file may be translations of the same sentence

    def draw(
        self, instances: Sequence[int], random: np.random.Generator
    ) -> tuple[PairGroups, dict[str, int]]:
        pairs = self.sentence_pairs(instances)
        ids = [sum(map(len, bitext.ids(pair))) for bitext, pair in pairs]
        order = np.array_split(np.argsort(ids, kind="stable"), -(-len(pairs) // GROUP))
        groups = tuple(self._numbered([pairs[i] for i in group], random) for group in order)
        words = sum(map(self._labelled_words, pairs))
        return PairGroups(groups), {CONTRAST: words, LABELLED: words}

    def _numbered(self, pairs: Sequence[Pair], random: np.random.Generator) -> NumberedWords:
        rows = self.masked(pairs, random)
        numbers = [torch.full((len(pairs), width), -1) for width in rows.sides.amax(0).tolist()]
        for row, sizes in enumerate(map(sizes_of_words, pairs)):
            for column, size in zip(numbers, sizes, strict=True):
                words = np.repeat(np.arange(len(size)), size)
                column[row, : len(words)] = torch.from_numpy(words)
        return NumberedWords(rows, PlaceLinks.of([bitext.links(pair) for bitext, pair in pairs]), *numbers)

    def _labelled_words(self, pair: Pair) -> int:
        """Count the words on both sides of a pair that may receive a label."""
        if self.objective.labels == "self":
            return sum(map(len, sizes_of_words(pair)))
        bitext, number = pair
        return sum(len(np.unique(side)) for side in bitext.links(number).T)

    def pieces(self, part: PairGroups) -> Sequence[NumberedWords]:
        return part.groups

    def losses(self, learner: Learner, batch: NumberedWords) -> dict[str, Tensor]:
        layer = self.objective.layer_of(learner.model.config.num_hidden_layers)
        (first, rows), (second, columns) = (
            means_of_words(encode(learner.model, batch.pairs.side_rows(side, self.pad), layer), numbers)
            for side, numbers in enumerate((batch.first, batch.second))
        )
        a, b = centred_words(first, rows), centred_words(second, columns)
        with torch.no_grad():
            cosines = torch.bmm(a, b.mT)
            if self.objective.labels == "self":
                kernel = log_kernel(torch.bmm(first, second.mT))
                plan = untied(sinkhorn(kernel, rows, columns), kernel, rows, columns)
                labels = itermax_table(plan, rows, columns)
            else:
                labels = torch.zeros_like(cosines, dtype=torch.bool)
                labels[batch.links.row, batch.links.first, batch.links.second] = True
            if self.objective.labels == "agreement":
                labels &= probabilities(cosines, rows, columns) >= self.objective.least
        real = rows.flatten()[:, None] & columns.flatten()
        loss = both_ways(a.flatten(0, 1) @ b.flatten(0, 1).T, torch.block_diag(*labels).bool(), real)
        return {CONTRAST: loss, LABELLED: (labels.any(1).sum() + labels.any(2).sum()).float()}


def means_of_words(hidden: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Average the states of rows `<s>` ids `</s>` over each word's sub-words, (B, n, H), given each id's word
    number (-1 for padding). Also return a mask of real words, (B, n)."""
    width = hidden.shape[1] - 2
    words = torch.arange(width, device=numbers.device)[:, None]
    of_word = (numbers[:, None, :width] == words).float()
    counts = of_word.sum(2)
    return of_word @ hidden[:, 1:-1].float() / counts.clamp(min=1)[:, :, None], counts > 0


def centred_words(vectors: Tensor, real: Tensor) -> Tensor:
    """Subtract the sentence mean from word vectors, (B, n, H), and normalise them; others become 0."""
    padding = ~real[:, :, None]
    sums = vectors.masked_fill(padding, 0).sum(1, keepdim=True)
    mean = sums / real.sum(1).clamp(min=1)[:, None, None]
    return F.normalize(vectors - mean, dim=2).masked_fill(padding, 0)


def probabilities(cosines: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Return the geometric mean of p(target | source) and p(source | target), (B, n, m): softmaxes over
    cosines / TEMPERATURE, as in awesome-align (Dou and Neubig 2021, section 2.2). `rows` (B, n) and `columns`
    (B, m) mark real words; values at padding are arbitrary."""
    padding = ~(rows[:, :, None] & columns[:, None])
    logits = (cosines / TEMPERATURE).masked_fill_(padding, torch.finfo(cosines.dtype).min)
    return (logits.softmax(1) * logits.softmax(2)).sqrt_()


def both_ways(similarity: Tensor, labels: Tensor, real: Tensor) -> Tensor:
    """Return the cross-entropy of predicting each word's links, with equal weights, summed over words and
    both directions. All arguments are (n, m)."""
    logits = (similarity / TEMPERATURE).masked_fill(~real, torch.finfo(similarity.dtype).min)
    losses = [labels / labels.sum(dim, keepdim=True).clamp(min=1) * logits.log_softmax(dim) for dim in (0, 1)]
    return -torch.stack(losses).masked_fill(~labels, 0.0).sum()


@dataclass(frozen=True)
class AlignerTraining(PairObjective):
    """Trains a model to identify each linked word's translation among the words in up to eight sentence
    pairs.

    layer: the layer that the loss applies to, and the last one trained; by default, at two thirds of the
        depth.
    labels: the links to learn from: fast_align's with a probability of at least `least` under the current
        model ("agreement"), all of fast_align's, the model's own as in XLM-Align, or gold links.
    """

    parallel_fraction: float = 1.0
    layer: int | None = None
    labels: Literal["agreement", "estimated", "self", "gold"] = "agreement"
    least: float = field(default=0.1, metadata=ADDED)

    short_name, full_name = "ALIGNER", "Aligner training"
    stream_types = (ContrastedWords,)
    limits: ClassVar = PairObjective.limits | {"shares": ["least"]}
    forms = (
        PARALLEL,
        number("layer", "-at", "at layer {value}", "7"),
        word("labels", "estimated", "-estimated", "estimated links"),
        word("labels", "self", "-self", "self-made links"),
        word("labels", GOLD, "-gold", "gold links"),
        percent("least", "-least", "labels of at least {percent} %", "5"),
    )
    summary = (
        "Aligner training continues from an existing model: at one layer, it makes linked words similar and "
        "other words dissimilar."
    )

    @property
    def traits(self) -> Traits:
        version = 2 if self.labels == "agreement" else 1  # in format 1, agreement meant mutual argmax
        traits = replace(super().traits, links=LINKS[self.labels], format=version)
        return replace(traits, passes=2 / 3, predicts=False, needs_start=True)  # upper layers are unused

    def layer_of(self, layers: int) -> int:
        """Return the layer that the loss applies to, in a model of `layers` layers."""
        return self.layer or main_layer(layers)

    def main_layer(self, layers: int) -> int:
        """Return the layer below the loss's; on en-fr, it aligns words better."""
        return max(1, self.layer_of(layers) - 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.least != type(self).least and self.labels != "agreement":
            raise ValueError(f"`least` requires labels by agreement, but the labels are {self.labels}")

    def learner(self, model: Any, seed: int) -> Learner:
        learner = super().learner(model, seed)
        learner.requires_grad_(False)
        layers = layers_of(model)
        for layer in layers[: self.layer_of(len(layers))]:
            layer.requires_grad_(True)
        return learner

    @property
    def weights(self) -> dict[str, float]:
        return {CONTRAST: 1.0}
