"""Objectives that learn from sentence pairs: XLM, with MLM, TLM and language embeddings (Conneau and Lample
2019); WEAM, which also predicts masked words from the vectors of their translations (Yang et al. 2021);
word-aligned BERT, which pulls linked words together and keeps source words close to their initial vectors
(Cao et al. 2020); and PPA, with TLM and momentum contrast (He et al. 2020) between sentences and their
translations (Pan et al. 2021).

Shapes: B pairs, L ids per row or side, hidden size H, Q masked ids with a link, K links. PPA: B sentences, D
dimensions, K keys in the queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from calque.derive.corpus import ends_of
from calque.derive.fingerprint import ADDED
from calque.derive.forms import number, percent, word
from calque.pretrain.batch import MASK_RATE, UNLABELLED, LinkedPairs, PairRows, PlaceLinks, Rows
from calque.pretrain.bitext import GOLD_LINKS, PARALLEL, USUAL, PairObjective, PairStream, sizes_of_words
from calque.pretrain.lazy import F, Tensor, nn, torch
from calque.pretrain.model import cross_entropy, encode, encode_first, evaluating, prediction_loss
from calque.pretrain.objective import GROWN, Composite, Learner, Linked, Objective, Traits, Update
from calque.pretrain.objectives.mlm import MLM

EXCHANGE = "exchange"
MASKS = 0.3  # the paper's mask rate
START = "start"
LINKED, KEPT = "linked words", "source words"
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

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Rows, dict[str, int]]:
        ids, languages = self.read(instances)
        rows = self.masking(ids, languages, random, padded=True)
        # Positions restart in the second half, as in Conneau and Lample (2019).
        words = (ids != self.languages.specials.pad).reshape(len(ids), 2, -1)
        places = (np.cumsum(words, axis=2) * words - 1).reshape(ids.shape)
        return replace(rows, places=torch.from_numpy(places)), {"tlm": rows.labelled}

    def losses(self, learner: Learner, batch: Rows) -> dict[str, Tensor]:
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
    """L_XLM = L_MLM(C1) + L_MLM(C2) + L_TLM(C1-2) (ALIGN-MLM, section 3)."""

    parallel_fraction: float = USUAL
    mask_rate: float = MASK_RATE

    short_name = "XLM"
    forms = (PARALLEL,)
    summary = "XLM combines MLM with the prediction of masked words in translated sentence pairs (TLM)."
    paper = "Conneau and Lample 2019"

    @property
    def parts(self) -> tuple[Objective, ...]:
        return MLM(self.mask_rate), TLM(self.parallel_fraction, self.mask_rate)


class Exchanged(PairStream):
    """Pairs whose masked ids are predicted by TLM and, if linked, also from the other side's vectors."""

    def draw(
        self, instances: Sequence[int], random: np.random.Generator
    ) -> tuple[LinkedPairs, dict[str, int]]:
        pairs, links = self.sentence_pairs(instances), []
        swaps = random.random(len(pairs)) < 0.5
        rows = self.masked(pairs, random, swaps)
        for (bitext, pair), swap, size in zip(pairs, swaps, rows.sides[:, 0].tolist(), strict=True):
            pair_links = bitext.piece_links(pair)
            # Positions on the second side come after `<s>`, the first side and its `</s>`.
            links.append((pair_links[:, ::-1] if swap else pair_links) + [1, size + 2])
        batch = LinkedPairs(rows, PlaceLinks.of(links))
        return batch, {"tlm": batch.pairs.rows.labelled, EXCHANGE: len(masked_links(batch)[0])}

    def losses(self, learner: Learner, batch: LinkedPairs) -> dict[str, Tensor]:
        model, rows = learner.model, batch.pairs.rows
        layers, (positions, counterparts, groups) = model.config.num_hidden_layers, masked_links(batch)
        hidden = encode(model, rows, layers)
        vectors = mean_of(hidden.flatten(0, 1).index_select(0, counterparts), groups, len(positions))
        labels = rows.labels.flatten().index_select(0, positions)
        exchanged = cross_entropy(learner.own[EXCHANGE], vectors, labels, model.config.vocab_size)
        return {"tlm": prediction_loss(model, rows, hidden, layers), EXCHANGE: exchanged}


def masked_links(batch: LinkedPairs) -> tuple[Tensor, Tensor, Tensor]:
    """Return the flat positions of linked masked ids on both sides, (Q,), and their K links:
    `targets[groups[k]]` is linked to `counterparts[k]`."""
    labels, links = batch.pairs.rows.labels, batch.links
    first, second = (links.row * labels.shape[1] + side for side in (links.first, links.second))
    positions, counterparts = torch.cat([first, second]), torch.cat([second, first])
    masked = labels.flatten().index_select(0, positions) != UNLABELLED
    targets, groups = positions[masked].unique(return_inverse=True)
    return targets, counterparts[masked], groups


def mean_of(vectors: Tensor, groups: Tensor, size: int) -> Tensor:
    """Average vectors (K, H) in `size` groups: the paper's A^T H, with normalised rows."""
    ones = torch.ones_like(groups, dtype=torch.float32)
    counts = vectors.new_zeros(size, dtype=torch.float32).index_add(0, groups, ones)
    sums = vectors.new_zeros(size, vectors.shape[1]).index_add(0, groups, vectors)
    return sums / counts.clamp(min=1)[:, None].to(sums.dtype)


@dataclass(frozen=True)
class WEAM(PairObjective):
    """L_mp + weight * L_cp: TLM, plus predicting masked ids from the vectors of their translations (section
    2.2). Links are gold links, or fast_align's, symmetrised by grow-diag-final-and. Two linked words with the
    same number of sub-words are linked one-to-one, in order; otherwise, all their sub-words are linked, and
    vectors are averaged."""

    parallel_fraction: float = USUAL
    mask_rate: float = MASKS
    weight: float = 1.0
    links: Linked = GROWN

    short_name = full_name = "WEAM"
    stream_types = (Exchanged,)
    forms = (PARALLEL, GOLD_LINKS)
    summary = (
        "WEAM predicts each masked word in a translated sentence pair twice: from the pair, and from the "
        "hidden states of its linked words."
    )
    paper = "Yang et al. 2021"

    def modules(self, model: Any) -> dict[str, nn.Module]:
        from calque.pretrain.modules import Exchange

        return {EXCHANGE: Exchange(model)}

    @property
    def weights(self) -> dict[str, float]:
        return {"tlm": 1.0, EXCHANGE: self.weight}


@dataclass(frozen=True)
class WordPairs(LinkedPairs):
    """Unmasked pairs with links between words, at their last sub-words' positions in `PairRows.side_rows`.
    `words` links each first side's words to themselves."""

    words: PlaceLinks


class Words(PairStream):
    """Unmasked pairs, each side in its own row."""

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[WordPairs, dict[str, int]]:
        pairs, links, words = self.sentence_pairs(instances), [], []
        for bitext, pair in pairs:
            pair_links = bitext.links(pair)
            first, second = map(self._positions, sizes_of_words((bitext, pair)))
            if self.objective.frozen:
                pair_links = np.concatenate([[[0, 0]], pair_links + 1, [[len(first) - 1, len(second) - 1]]])
            links.append(np.stack([first[pair_links[:, 0]], second[pair_links[:, 1]]], axis=1))
            words.append(np.stack([first, first], axis=1))
        batch = WordPairs(self.masked(pairs, random), PlaceLinks.of(links), PlaceLinks.of(words))
        return batch, {LINKED: len(batch.links), KEPT: len(batch.words)}

    def _positions(self, sizes: np.ndarray) -> np.ndarray:
        """Return words' last positions; if `frozen`, `<s>` and `</s>` are words."""
        ends = ends_of(sizes)
        return np.append(ends, ends[-1] + 1) if self.objective.frozen else ends[1:]

    def losses(self, learner: Learner, batch: WordPairs) -> dict[str, Tensor]:
        layers, links, words = learner.model.config.num_hidden_layers, batch.links, batch.words
        first, second = (batch.pairs.side_rows(side, self.pad) for side in (0, 1))
        source, target = encode(learner.model, first, layers), encode(learner.model, second, layers)
        with torch.no_grad():
            initial = encode(learner.own[START].model, first, layers)
        references, scale = (initial, 1 / initial.shape[-1]) if self.objective.frozen else (source, 1.0)
        losses = {
            LINKED: references[links.row, links.first].float() - target[links.row, links.second].float(),
            KEPT: source[words.row, words.first].float() - initial[words.row, words.first].float(),
        }
        return {name: scale * difference.square().sum() for name, difference in losses.items()}


@dataclass(frozen=True)
class WordAligned(PairObjective):
    """The mean squared distance between linked words, plus `weight` times that between source words and their
    vectors in the starting model. A word's vector is the last layer's state of its last sub-word; sentences
    are encoded separately. Links are gold links, or the intersection of fast_align's two directions. Training
    from scratch would make all word vectors equal.

    frozen: whether to follow the authors' code, in which target words are pulled towards source words'
        vectors in the starting model, `<s>` and `</s>` count as words, and squares are averaged over
        dimensions.
    """

    parallel_fraction: float = USUAL
    weight: float = 1.0
    links: Linked = "intersect"
    frozen: bool = field(default=False, metadata=ADDED)

    short_name, full_name = "WORD-ALIGNED", "Word-aligned"
    stream_types = (Words,)
    forms = (PARALLEL, GOLD_LINKS, word("frozen", True, "-frozen", "frozen targets"))
    summary = (
        "Word-aligned BERT continues from an existing model: it pulls the hidden states of linked words "
        "together and keeps those of source words close to their initial values."
    )
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


def contrast(queries: Tensor, keys: Tensor, negatives: Tensor, temperature: float) -> Tensor:
    """Return the summed InfoNCE loss, in float32: queries (B, D) should match their own keys (B, D), not the
    `negatives` (K, D)."""
    with torch.autocast(queries.device.type, enabled=False):
        queries, keys, negatives = queries.float(), keys.float(), negatives.float()
        logits = (
            torch.cat([(queries * keys).sum(1, keepdim=True), queries @ negatives.T], dim=1) / temperature
        )
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
    encoder is updated and computes the keys. A query is compared with its own and earlier steps' keys,
    regardless of how batches are divided."""

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[PairRows, dict[str, int]]:
        batch = self.draw_pairs(instances, random)
        counts = dict.fromkeys(self.weights, batch.rows.labelled)
        return batch, counts | {MOCO: len(batch)}

    def before_step(
        self, update: Update, parts: Sequence[PairRows]
    ) -> tuple[Sequence[PairsWithKeys], dict[str, Tensor]]:
        learner, world = update.learner, update.world
        moco: Any = learner.own[MOCO]
        moco.follow(learner.model, self.objective.momentum)
        with evaluating(learner, world.device):
            keys = [moco.keys(part.side_rows(1, self.pad)).float() for part in parts]
        negatives = moco.queue.clone()
        moco.enqueue(world.gather(torch.cat([*keys, moco.queue[:0]])))
        parts_and_keys = zip(parts, keys, strict=True)
        return [PairsWithKeys(part, part_keys, negatives) for part, part_keys in parts_and_keys], {}

    def losses(self, learner: Learner, batch: PairsWithKeys) -> dict[str, Tensor]:
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
    """L_MoCo + L_TLM on the same pairs, in random order (section 2). A sentence's vector is the last layer's
    state at the first position, normalised and projected to `dimensions` dimensions.

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
    summary = (
        "PPA predicts masked words in translated sentence pairs, and learns to identify a sentence’s "
        "translation among a queue of other sentences (MoCo)."
    )
    paper = "Pan et al. 2021"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.beside not in get_args(Beside):
            raise ValueError(f"beside, the loss added to L_MoCo, must be TLM, MLM or '', not {self.beside!r}")

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
