"""Objectives that learn from word links in sentence pairs: WEAM, word-aligned BERT and aligner training.

Shapes: B pairs, at most n and m words on their sides, hidden size H, K links, Q masked ids with a link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from calque.derive.corpus import ends_of
from calque.derive.fingerprint import ADDED
from calque.derive.forms import number, percent, word
from calque.pretrain.batch import UNLABELLED, Batch, PairRows, padded
from calque.pretrain.lazy import F, Tensor, nn, torch
from calque.pretrain.model import cross_entropy, encode, layers_of, main_layer, prediction_loss
from calque.pretrain.objective import (
    GOLD,
    GOLD_LINKS,
    GROWN,
    LINKS,
    PARALLEL,
    USUAL,
    Counts,
    Learner,
    Linked,
    Losses,
    Pair,
    PairObjective,
    PairStream,
    Random,
    Traits,
    sizes_of_words,
)
from calque.pretrain.transport import itermax_table, sinkhorn, untied

EXCHANGE = "exchange"
MASKS = 0.3  # WEAM's mask rate
START = "start"
LINKED, KEPT = "linked words", "source words"
CONTRAST, LABELLED = "contrast", "labelled"
TEMPERATURE = 0.1
GROUP = 8  # maximum number of sentence pairs that share negatives


class Exchanged(PairStream):
    """Pairs whose masked ids are predicted by TLM and, if linked, also from the other side's vectors."""

    def draw(self, instances: Sequence[int], random: Random) -> tuple[PairRows, Counts]:
        pairs, links = self.sentence_pairs(instances), []
        swaps = random.random(len(pairs)) < 0.5
        batch = self.masked(pairs, random, swaps)
        for (bitext, pair), swap, size in zip(pairs, swaps, batch.sides[:, 0].tolist(), strict=True):
            pair_links = bitext.piece_links(pair)
            # Positions on the second side come after `<s>`, the first side and its `</s>`.
            links.append((pair_links[:, ::-1] if swap else pair_links) + [1, size + 2])
        batch = replace(batch, links=(padded(links),))
        return batch, {"tlm": batch.rows.labelled, EXCHANGE: len(masked_links(batch)[0])}

    def losses(self, learner: Learner, batch: PairRows) -> Losses:
        model, rows = learner.model, batch.rows
        layers, (positions, counterparts, groups) = model.config.num_hidden_layers, masked_links(batch)
        hidden = encode(model, rows, layers)
        vectors = mean_of(hidden.flatten(0, 1).index_select(0, counterparts), groups, len(positions))
        labels = rows.labels.flatten().index_select(0, positions)
        exchanged = cross_entropy(learner.own[EXCHANGE], vectors, labels)
        return {"tlm": prediction_loss(model, rows, hidden, layers), EXCHANGE: exchanged}


def masked_links(batch: PairRows) -> tuple[Tensor, Tensor, Tensor]:
    """Return the flat positions of linked masked ids on both sides, (Q,), and their K links:
    `targets[groups[k]]` is linked to `counterparts[k]`."""
    labels, ((row, *sides),) = batch.rows.labels, batch.linked
    first, second = (row * labels.shape[1] + side for side in sides)
    positions, counterparts = torch.cat([first, second]), torch.cat([second, first])
    masked = labels.flatten().index_select(0, positions) != UNLABELLED
    targets, groups = positions[masked].unique(return_inverse=True)
    return targets, counterparts[masked], groups


def mean_of(vectors: Tensor, groups: Tensor, size: int) -> Tensor:
    """Average vectors (K, H) in `size` groups: A^T H, with normalised rows."""
    ones = torch.ones_like(groups, dtype=torch.float32)
    counts = vectors.new_zeros(size, dtype=torch.float32).index_add(0, groups, ones)
    sums = vectors.new_zeros(size, vectors.shape[1]).index_add(0, groups, vectors)
    return sums / counts.clamp(min=1)[:, None].to(sums.dtype)


@dataclass(frozen=True)
class WEAM(PairObjective):
    """WEAM predicts each masked word in a translated sentence pair twice: from the pair, and from the
    hidden states of its linked words.

    The loss is L_mp + weight * L_cp (section 2.2). If two linked words have the same number of sub-words,
    these are linked in order; otherwise, all their sub-words are linked, and vectors are averaged."""

    parallel_fraction: float = USUAL
    mask_rate: float = MASKS
    weight: float = 1.0
    links: Linked = GROWN

    short_name = full_name = "WEAM"
    stream_types = (Exchanged,)
    forms = (PARALLEL, GOLD_LINKS)
    paper = "Yang et al. 2021"

    def modules(self, model: Any) -> dict[str, nn.Module]:
        from calque.pretrain.modules import Exchange

        return {EXCHANGE: Exchange(model)}

    @property
    def weights(self) -> dict[str, float]:
        return {"tlm": 1.0, EXCHANGE: self.weight}


class Words(PairStream):
    """Unmasked pairs with last sub-words' positions in `side_rows`: of linked and of first-side words."""

    def draw(self, instances: Sequence[int], random: Random) -> tuple[PairRows, Counts]:
        pairs, links, words = self.sentence_pairs(instances), [], []
        for bitext, pair in pairs:
            pair_links = bitext.links(pair)
            first, second = map(self._positions, sizes_of_words((bitext, pair)))
            if self.objective.frozen:
                pair_links = np.concatenate([[[0, 0]], pair_links + 1, [[len(first) - 1, len(second) - 1]]])
            links.append(np.stack([first[pair_links[:, 0]], second[pair_links[:, 1]]], axis=1))
            words.append(first[:, None])
        batch = replace(self.masked(pairs, random), links=(padded(links), padded(words)))
        return batch, {LINKED: sum(map(len, links)), KEPT: sum(map(len, words))}

    def _positions(self, sizes: np.ndarray) -> np.ndarray:
        """Return words' last positions; if `frozen`, `<s>` and `</s>` are words."""
        ends = ends_of(sizes)
        return np.append(ends, ends[-1] + 1) if self.objective.frozen else ends[1:]

    def losses(self, learner: Learner, batch: PairRows) -> Losses:
        layers, ((row, first, second), words) = learner.model.config.num_hidden_layers, batch.linked
        sides = [batch.side_rows(side, self.pad) for side in (0, 1)]
        source, target = (encode(learner.model, side, layers) for side in sides)
        with torch.no_grad():
            initial = encode(learner.own[START].model, sides[0], layers)
        references, scale = (initial, 1 / initial.shape[-1]) if self.objective.frozen else (source, 1.0)
        losses = {
            LINKED: references[row, first].float() - target[row, second].float(),
            KEPT: source[words].float() - initial[words].float(),
        }
        return {name: scale * difference.square().sum() for name, difference in losses.items()}


@dataclass(frozen=True)
class WordAligned(PairObjective):
    """Word-aligned BERT continues from an existing model: it pulls the hidden states of linked words
    together and keeps those of source words close to their initial values.

    The loss is the mean squared distance between linked words, plus `weight` times that between source words
    and their vectors in the starting model. A word's vector is the last layer's state of its last sub-word.

    frozen: as in the authors' code, target words are pulled towards source words' vectors in the starting
        model, `<s>` and `</s>` count as words, and squares are averaged over dimensions.
    """

    parallel_fraction: float = USUAL
    weight: float = 1.0
    links: Linked = "intersect"
    frozen: bool = field(default=False, metadata=ADDED)

    short_name, full_name = "WORD-ALIGNED", "Word-aligned"
    stream_types = (Words,)
    forms = (PARALLEL, GOLD_LINKS, word("frozen", True, "-frozen", "frozen targets"))
    paper = "Cao et al. 2020"

    @property
    def traits(self) -> Traits:
        # The starting model also encodes one side, without gradients.
        return replace(super().traits, passes=1 + 1 / 6, predicts=False, needs_start=True)

    def modules(self, model: Any) -> dict[str, nn.Module]:
        from calque.pretrain.modules import Frozen

        return {START: Frozen(model)}

    @property
    def weights(self) -> dict[str, float]:
        return {LINKED: 1.0, KEPT: self.weight}


@dataclass(frozen=True)
class PairGroups(Batch):
    """Groups of sentence pairs that are never split between micro-batches or processes."""

    groups: tuple[PairRows, ...]

    def cut(self, rows: slice) -> PairGroups:
        return PairGroups(self.groups[rows])


class ContrastedWords(PairStream):
    """Unmasked pairs in groups of similar length. `LABELLED` is the fraction of linked words (or, if the
    model labels them itself, of all words) that receive a label."""

    shuffled = True  # consecutive pairs in a file may be translations of the same sentence

    def draw(self, instances: Sequence[int], random: Random) -> tuple[PairGroups, Counts]:
        pairs = self.sentence_pairs(instances)
        ids = [sum(map(len, bitext.ids(pair))) for bitext, pair in pairs]
        order = np.array_split(np.argsort(ids, kind="stable"), -(-len(pairs) // GROUP))
        groups = tuple(self._numbered([pairs[i] for i in group], random) for group in order)
        words = sum(map(self._labelled_words, pairs))
        return PairGroups(groups), {CONTRAST: words, LABELLED: words}

    def _numbered(self, pairs: Sequence[Pair], random: Random) -> PairRows:
        sides = zip(*map(sizes_of_words, pairs), strict=True)
        words = (padded([np.repeat(np.arange(len(size)), size) for size in sizes]) for sizes in sides)
        links = padded([bitext.links(pair) for bitext, pair in pairs])
        return replace(self.masked(pairs, random), links=(links,), words=tuple(words))

    def _labelled_words(self, pair: Pair) -> int:
        if self.objective.labels == "self":
            return sum(map(len, sizes_of_words(pair)))
        bitext, number = pair
        return sum(len(np.unique(side)) for side in bitext.links(number).T)

    def pieces(self, part: PairGroups) -> Sequence[PairRows]:
        return part.groups

    def losses(self, learner: Learner, batch: PairRows) -> Losses:
        layer = self.objective.layer_of(learner.model.config.num_hidden_layers)
        (first, rows), (second, columns) = (
            means_of_words(encode(learner.model, batch.side_rows(side, self.pad), layer), numbers)
            for side, numbers in enumerate(batch.words)
        )
        a, b = centred_words(first, rows), centred_words(second, columns)
        with torch.no_grad():
            cosines = torch.bmm(a, b.mT)
            if self.objective.labels == "self":
                products = torch.bmm(first, second.mT)
                plan = untied(sinkhorn(products, rows, columns), products, rows, columns)
                labels = itermax_table(plan, rows, columns)
            else:
                labels = torch.zeros_like(cosines, dtype=torch.bool)
                labels[batch.linked[0]] = True
            if self.objective.labels == "agreement":
                labels &= probabilities(cosines, rows, columns) >= self.objective.least
        real = rows.flatten()[:, None] & columns.flatten()
        loss = both_ways(a.flatten(0, 1) @ b.flatten(0, 1).T, torch.block_diag(*labels).bool(), real)
        return {CONTRAST: loss, LABELLED: (labels.any(1).sum() + labels.any(2).sum()).float()}


def means_of_words(hidden: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Average states of rows `<s>` ids `</s>` over words, (B, n, H), given each id's word, with a mask of
    real words, (B, n)."""
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
    (B, m) mark real words."""
    padding = ~(rows[:, :, None] & columns[:, None])
    logits = (cosines / TEMPERATURE).masked_fill_(padding, torch.finfo(cosines.dtype).min)
    return (logits.softmax(1) * logits.softmax(2)).sqrt_()


def both_ways(similarity: Tensor, labels: Tensor, real: Tensor) -> Tensor:
    """Return the cross-entropy of words' links, summed over words and directions; tensors (n, m)."""
    logits = (similarity / TEMPERATURE).masked_fill(~real, torch.finfo(similarity.dtype).min)
    losses = [labels / labels.sum(dim, keepdim=True).clamp(min=1) * logits.log_softmax(dim) for dim in (0, 1)]
    return -torch.stack(losses).masked_fill(~labels, 0.0).sum()


@dataclass(frozen=True)
class AlignerTraining(PairObjective):
    """Aligner training continues from an existing model: at one layer, it makes linked words similar and
    other words dissimilar.

    layer: the layer of the loss, and the last one trained; default: at two thirds of the depth.
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.labels != "agreement" and self.least != type(self).least:
            raise ValueError(f"`least` requires labels by agreement, but the labels are {self.labels}")

    @property
    def traits(self) -> Traits:
        version = 2 if self.labels == "agreement" else 1  # in format 1, agreement meant mutual argmax
        traits = replace(super().traits, links=LINKS[self.labels], format=version)
        return replace(traits, passes=2 / 3, predicts=False, needs_start=True)  # upper layers are unused

    def layer_of(self, layers: int) -> int:
        return self.layer or main_layer(layers)

    def main_layer(self, layers: int) -> int:
        """Return the layer below the loss's; on en-fr, it aligns words better."""
        return max(1, self.layer_of(layers) - 1)

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
