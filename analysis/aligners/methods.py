"""Ways to read links from an encoder's hidden states: a similarity, a plan made of it, and a rule, all by name.

Shapes: B pairs, n and m sub-words of their longest sides, H hidden. Hidden states are (B, n, H) and (B, m, H); masks,
(B, n) and (B, m), are true where there is a sub-word. Similarities and scores are (B, n, m): a similarity may be
negative, a score may not. Padding holds anything. Links are rows of (pair, source place, target place), (L, 3) int64.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor
from torch.nn import functional as F

from calque.pretrain.transport import EPSILON, ITERATIONS, argmax, itermax, log_kernel, sinkhorn, untied

SAFE = 40.0  # the range of log K in which K stays far inside float32 with every scaling of its rows and columns
Similarity = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
"""The similarity of all sub-words of two sides, from hidden states and masks."""


def products(source: Tensor, target: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """h.h' (XLM-Align, section 3.1)."""
    return torch.bmm(source, target.transpose(1, 2))


def cosines(source: Tensor, target: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Products of states of length 1 (SimAlign, section 2.1)."""
    a, b = (F.normalize(side, dim=2, eps=1e-12) for side in (source, target))
    return torch.bmm(a, b.transpose(1, 2))


def centred(source: Tensor, target: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Cosines of the states less the mean of the pair's sub-words, which is common to all."""
    masks = row_mask, col_mask
    sums = [side.masked_fill(~mask[:, :, None], 0).sum(1) for side, mask in zip((source, target), masks, strict=True)]
    mean = (sums[0] + sums[1]) / (row_mask.sum(1) + col_mask.sum(1))[:, None]
    return cosines(source - mean[:, None], target - mean[:, None], *masks)


@dataclass(frozen=True)
class Direct:
    """The similarity itself, moved to the range from 0 to 1: (1 + s) / 2 (SimAlign, section 2.1). One that is not
    `bounded` by -1 and 1 is divided by the largest that the pair has, of either sign."""

    similarity: Similarity
    bounded: bool = True

    def __call__(self, source: Tensor, target: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
        table = self.similarity(source, target, row_mask, col_mask)
        if not self.bounded:
            real = table.masked_fill(~(row_mask[:, :, None] & col_mask[:, None]), 0)
            table = table / real.abs().amax((1, 2), keepdim=True).clamp(min=EPSILON)
        return table.add_(1).div_(2).clamp_(min=0)  # rounding may leave less


@dataclass(frozen=True)
class Transport:
    """Optimal transport between hidden states by Sinkhorn's iterations (XLM-Align, section 3.1). K = max(eps,
    similarity). An iteration makes columns and then rows sum to 1; half of one is its first step alone."""

    iterations: float = ITERATIONS
    similarity: Similarity = products

    def __call__(self, source: Tensor, target: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
        """What part of each sub-word of one side goes to each of the other's, (B, n, m). Where a side has one sub-word
        there is no choice of parts, and they are K over its sum."""
        table = self.similarity(source, target, row_mask, col_mask)
        plan = self.plan(table, row_mask, col_mask)
        single = ((row_mask.sum(1) == 1) | (col_mask.sum(1) == 1)).nonzero()[:, 0]
        if len(single):
            plan[single] = untied(plan[single], log_kernel(table[single]), row_mask[single], col_mask[single])
        return plan

    def plan(self, table: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
        """The same of a table of similarities (B, n, m); to and from padding nothing goes. Where K fits float32 it is
        scaled as it is, row by row and column by column: an iteration takes a tenth of the time that log space takes. A
        scaling's reach in logarithms never exceeds that of K, so none over- or underflows."""
        padding = None if row_mask.all() and col_mask.all() else ~(row_mask[:, :, None] & col_mask[:, None])
        if padding is not None:
            table = table.masked_fill(padding, 0.0)  # whatever stands there, even no number
        if float((table.amax().clamp(min=EPSILON) / EPSILON).log()) > SAFE:
            return sinkhorn(log_kernel(table), row_mask, col_mask, self.iterations)
        kernel = table.clamp(min=EPSILON)
        if padding is not None:
            kernel.masked_fill_(padding, 0.0)
        no_row, no_column = (~row_mask)[:, None].to(kernel.dtype), (~col_mask)[:, None].to(kernel.dtype)
        turned = kernel.transpose(1, 2)  # a view: copied, it would take longer than all else of two iterations
        row, column = torch.ones_like(no_row), torch.ones_like(no_column)
        for turn in range(round(2 * self.iterations)):
            if turn % 2 == 0:
                column = torch.bmm(row, kernel).add_(no_column).reciprocal_()
            else:
                row = torch.bmm(column, turned).add_(no_row).reciprocal_()
        return kernel.mul_(row.transpose(1, 2)).mul_(column)


def match(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """The assignment with the largest sum, as many links as the shorter side has sub-words (SimAlign's Match)."""
    assignments = []
    sizes = zip(row_mask.sum(1).tolist(), col_mask.sum(1).tolist(), strict=True)
    for pair, (table, (n, m)) in enumerate(zip(scores.cpu().numpy(), sizes, strict=True)):
        rows, columns = map(torch.from_numpy, linear_sum_assignment(table[:n, :m], maximize=True))
        assignments.append(torch.stack([torch.full_like(rows, pair), rows, columns], dim=1))
    return torch.cat(assignments)


@dataclass(frozen=True)
class Method:
    """How hidden states become links: scores of two sides' sub-words, and the links that are read from them."""

    name: str
    score: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
    extract: Callable[[Tensor, Tensor, Tensor], Tensor]


DIRECT, TRANSPORT = "direct", "transport"  # the plan made of a similarity: itself, or optimal transport
SIMILARITIES: dict[str, Similarity] = {"products": products, "cosine": cosines, "centred": centred}
RULES = {"argmax": argmax, "itermax": itermax, "match": match}
_USUAL = {DIRECT: "cosine", TRANSPORT: "products"}  # the similarity that names leave out: SimAlign's, and XLM-Align's


def method(similarity: str = "centred", plan: str = DIRECT, rule: str = "argmax") -> Method:
    """The method of three choices, named by the unusual ones: `argmax`, `argmax-centred`, `ot-match`."""
    how, extract = SIMILARITIES[similarity], RULES[rule]
    suffix = "" if similarity == _USUAL[plan] else f"-{similarity}"
    if plan == DIRECT:
        return Method(f"{rule}{suffix}", Direct(how, bounded=how is not products), extract)
    name = f"ot-{rule}{suffix}" if suffix or rule != "itermax" else "ot"
    return Method(name, Transport(similarity=how), extract)


RELEASED = Method("xlm-align", Transport(iterations=1.5), argmax)
"""How the released aligner of XLM-Align reads links: each sub-word's best share of pi that is its partner's best of xi.
xi is the table after the last scaling of its columns, pi after the scaling of its rows that follows. A row of pi is one
of xi times a number, so their best cells are the same: links are the mutual argmax of xi. There is no Itermax."""
OT = method("products", TRANSPORT, "itermax")
"""Optimal transport filtered by Itermax, as XLM-Align labels itself during pretraining (sections 3.1 and 3.2)."""
DEFAULT = method()  # mutual argmax of centred cosines: of all choices it has the lowest AER on one gold set, en-fr
METHODS = (OT, RELEASED, *(method("cosine", rule=rule) for rule in RULES), DEFAULT)
"""The methods that studies compare (XLM-Align, section 4.3; SimAlign)."""
BY_NAME = {one.name: one for one in METHODS}
CHOICES = (
    *(method(similarity, plan, rule) for plan in (DIRECT, TRANSPORT) for rule in RULES for similarity in SIMILARITIES),
    RELEASED,
)
"""Every method that the three choices make, and the one that they do not."""
