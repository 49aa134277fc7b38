"""Extract links from hidden states. A method combines a similarity, a plan computed from it, and a rule that
selects links. Shapes: B pairs, n and m sub-words in the longest source and target side, H hidden. States are
(B, n, H) and (B, m, H), masks (B, n) and (B, m), similarities and scores (B, n, m), with arbitrary values at
padding. Links are rows (pair, source position, target position), (L, 3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from calque.pretrain.lazy import F, Tensor, torch
from calque.pretrain.objectives.linked_words import centred_words, probabilities
from calque.pretrain.transport import EPSILON, ITERATIONS, argmax, itermax, sinkhorn, untied

SAFE = 40.0  # largest range of log K for which all scalings of K can be represented in float32
LEAST = 0.4  # minimum link probability; the best threshold is half the highest F1 (Lipton et al. 2014)
Score = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
"""Scores pairs of sub-words, given both sides' states and masks."""


def cosines(source: Tensor, target: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Dot products of states normalised to unit length (SimAlign, section 2.1)."""
    source_units, target_units = (F.normalize(side, dim=2, eps=1e-12) for side in (source, target))
    return torch.bmm(source_units, target_units.mT)


def centred(source: Tensor, target: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Cosines after subtracting the mean state over both sentences' sub-words."""
    sides = (source, row_mask), (target, col_mask)
    source_sum, target_sum = (side.masked_fill(~mask[:, :, None], 0).sum(1) for side, mask in sides)
    mean = (source_sum + target_sum)[:, None] / (row_mask.sum(1) + col_mask.sum(1))[:, None, None]
    return cosines(source - mean, target - mean, row_mask, col_mask)


def direct(similarity: Score) -> Score:
    """Map similarities s to the range from 0 to 1 by (1 + s) / 2 (SimAlign, section 2.1)."""

    def score(source: Tensor, target: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
        table = similarity(source, target, row_mask, col_mask)
        return table.add_(1).div_(2).clamp_(min=0)  # rounding may give small negative values

    return score


@dataclass(frozen=True)
class Transport:
    """Optimal transport with K = max(eps, dot product) by Sinkhorn's algorithm (XLM-Align, section 3.1)."""

    iterations: float = ITERATIONS

    def __call__(self, source: Tensor, target: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
        table = torch.bmm(source, target.mT)
        return untied(self.plan(table, row_mask, col_mask), table, row_mask, col_mask)

    def plan(self, table: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
        padding = ~(row_mask[:, :, None] & col_mask[:, None])
        kernel = table.clamp(min=EPSILON).masked_fill_(padding, 0.0)
        if float((kernel.amax() / EPSILON).log()) > SAFE:
            return sinkhorn(table, row_mask, col_mask, self.iterations)
        no_row, no_column = (~row_mask)[:, None].to(kernel.dtype), (~col_mask)[:, None].to(kernel.dtype)
        row, column = torch.ones_like(no_row), torch.ones_like(no_column)
        for turn in range(round(2 * self.iterations)):
            if turn % 2 == 0:
                column = torch.bmm(row, kernel).add_(no_column).reciprocal_()
            else:
                row = torch.bmm(column, kernel.mT).add_(no_row).reciprocal_()
        return kernel.mul_(row.mT).mul_(column)


def link_probabilities(source: Tensor, target: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """A trained aligner's link probabilities."""
    cosines = torch.bmm(centred_words(source, row_mask), centred_words(target, col_mask).mT)
    return probabilities(cosines, row_mask, col_mask)


def likely(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Return the links whose score is at least LEAST, (n, 3): pair, row, column."""
    return ((scores >= LEAST) & row_mask[:, :, None] & col_mask[:, None]).nonzero()


@dataclass(frozen=True)
class Method:
    """Scores pairs of sub-words (or, with `words`, pairs of words by their mean states), extracts links, and
    adds the links found by `also`."""

    name: str
    score: Score
    extract: Callable[[Tensor, Tensor, Tensor], Tensor]
    words: bool = False
    also: Method | None = None


OT = Method("ot", Transport(), itermax)
"""Optimal transport filtered by Itermax, as in XLM-Align's self-labelling (sections 3.1 and 3.2)."""
RELEASED = Method("xlm-align", Transport(iterations=1.5), argmax)
"""The aligner in XLM-Align's released code: the mutual argmax before the last row scaling, which does not
change a row's argmax."""
DEFAULT = Method("argmax-centred", direct(centred), argmax)
"""The method with the lowest AER on en-fr among 19 that we tried with version 0.6."""
METHODS = (
    OT,
    RELEASED,
    Method("argmax", direct(cosines), argmax),
    Method("itermax", direct(cosines), itermax),
    DEFAULT,
)
"""The methods that studies compare (XLM-Align, section 4.3; SimAlign)."""
SOFTMAX = Method("softmax", link_probabilities, likely, words=True)
"""Selects the links that a trained aligner considers likely. In text unlike its training text, such links are
few."""
TRAINED = replace(SOFTMAX, name="softmax-argmax", also=DEFAULT)
"""The default for trained aligners. DEFAULT finds links even if all similarities are low, and adding
SOFTMAX's links raises F1 if more than F1/2 of them are correct (Lipton et al. 2014)."""
BY_NAME = {choice.name: choice for choice in (*METHODS, SOFTMAX, TRAINED)}
