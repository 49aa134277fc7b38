"""Word-aligned BERT: pulls linked words together and keeps source words close to their initial vectors (Cao
et al. 2020). Shapes: B pairs, L ids per side, hidden size H, K links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from calque.derive.corpus import ends_of
from calque.derive.fingerprint import ADDED
from calque.derive.forms import word
from calque.pretrain.batch import LinkedPairs, PlaceLinks
from calque.pretrain.bitext import GOLD_LINKS, PARALLEL, USUAL, PairObjective, PairStream, sizes_of_words
from calque.pretrain.lazy import Tensor, nn, torch
from calque.pretrain.model import encode
from calque.pretrain.objective import Learner, Linked, Traits

START = "start"
LINKED, KEPT = "linked words", "source words"


@dataclass(frozen=True)
class WordPairs(LinkedPairs):
    """Unmasked pairs with links between words, at their last sub-words' positions in `PairRows.side_rows`.
    `words` links each first side's words to themselves."""

    words: PlaceLinks


class Words(PairStream):
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
    """Word-aligned BERT continues from an existing model: it pulls the hidden states of linked words
    together and keeps those of source words close to their initial values.

    The loss is the mean squared distance between linked words, plus `weight` times that between source words
    and their vectors in the starting model. A word's vector is the last layer's state of its last sub-word.
    Training from scratch would make all word vectors equal.

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
