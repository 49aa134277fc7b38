"""PreAlign: aligns dictionary words at every layer, then trains MLM with code-switched input.

Shapes: P pairs, W = 2P words (all first sides, then all second sides), A anchors, hidden size H.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from calque.derive.errors import BadInput
from calque.derive.fingerprint import plain
from calque.derive.forms import percent
from calque.derive.vocabulary import Specials
from calque.pretrain.batch import UNLABELLED, Batch, Rows
from calque.pretrain.lazy import F, Tensor, torch
from calque.pretrain.masking import MASK_RATE
from calque.pretrain.model import encode_each
from calque.pretrain.objective import After, Composite, Learner, Objective, Stream, Sum, Traits
from calque.pretrain.objectives.align_mlm import moved_entries
from calque.pretrain.objectives.dict_mlm import Link
from calque.pretrain.objectives.mlm import MLM

TEMPERATURE, PAIRS = 0.1, 128
WORD = 1  # the word's position in its row, `<s> word </s>`
FIRST_SIDES = MappingProxyType({"anchors": "first"})


@dataclass(frozen=True)
class Anchors(Batch):
    """Dictionary entries whose first words, the anchors, should match their translations; `ids` and
    `languages` are (P, 2) int64. Parts contain all words, but only the anchors from `first` to before
    `last`."""

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
    def anchors(self) -> Tensor:
        """The anchors' indices among the words, (A,); translations follow P words later."""
        return torch.arange(self.first, self.last, device=self.ids.device)

    @property
    def excluded(self) -> Tensor:
        """A mask of the words excluded from each anchor's sum, (A, W): those of other entries that share a
        word with the anchor's, because they may also be translations."""
        entries = self.ids[self.first : self.last]
        overlaps = (entries[:, None, :, None] == self.ids[None, :, None, :]).any(3).any(2)
        overlaps[torch.arange(len(entries), device=entries.device), self.anchors] = False
        return overlaps.repeat(1, 2)


def contrast(words: Tensor, batch: Anchors, temperature: float) -> Tensor:
    """Return the InfoNCE loss, summed over anchors w with translations t, in float32: -log(exp(cos(w, t) / T)
    / sum over words v of exp(cos(w, v) / T)); as in the published code, the `words` (W, H) include w."""
    with torch.autocast(words.device.type, enabled=False):
        unit = F.normalize(words.float(), dim=1)
        logits = (unit[batch.anchors] @ unit.T / temperature).masked_fill(batch.excluded, -torch.inf)
        return F.cross_entropy(logits, batch.anchors + len(batch.ids), reduction="sum")


class WordContrast(Stream):
    objective: Contrast

    def prepare(self) -> None:
        self.weights = {"words": 1.0}
        self.ids, self.sides = moved_entries(self.languages)
        if len(self.ids) < 2:
            raise BadInput("only one dictionary entry links two different types; at least two are needed")

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Anchors, dict[str, int]]:
        sample = random.permutation(len(self.ids))[: self.objective.pairs]
        ids, languages = (torch.from_numpy(column[sample]) for column in (self.ids, self.sides))
        return Anchors(ids, languages, 0, len(sample)), {"words": len(sample)}

    def losses(self, learner: Learner, batch: Anchors) -> dict[str, Tensor]:
        layers = [
            contrast(hidden[:, WORD], batch, self.objective.temperature)
            for hidden in encode_each(learner.model, batch.rows(self.languages.specials))
        ]
        return {"words": torch.stack(layers).mean()}


@dataclass(frozen=True)
class Contrast(Objective):
    """The InfoNCE loss on `pairs` entries per step, averaged over the embeddings and all layers (section
    3.2). Anchors are first words, as in the published code."""

    pairs: int = PAIRS
    temperature: float = TEMPERATURE

    former_fields: ClassVar[Mapping[str, Any]] = FIRST_SIDES
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

    former_fields: ClassVar[Mapping[str, Any]] = FIRST_SIDES
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
