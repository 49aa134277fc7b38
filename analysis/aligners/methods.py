"""Ways to read links from an encoder's hidden states: a similarity, a plan made of it, and a rule, all by name.

Shapes: B pairs, n and m sub-words of their longest sides, H hidden, L links. Hidden states are (B, n, H) and (B, m, H);
masks, (B, n) and (B, m), are true where there is a sub-word. Similarities and scores are (B, n, m): a similarity may be
negative, a score (a similarity, or a fraction of transport) may not. Padding holds anything. Links are rows of (pair,
source place, target place), (L, 3) int64: a dense table of them costs more than to find them. Ties go to the first, as
in NumPy.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor
from torch.nn import functional as F

from pretrain.transport import ALPHA, EPSILON, ITERATIONS, MU, ROUNDS, First, log_kernel, sinkhorn, untied

_PLACE = 14
"""Bits for a place."""


def argmax(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """Cells that are the largest of their row and of their column (SimAlign's Argmax)."""
    return itermax(scores, row_mask, col_mask, rounds=1)


def itermax(scores: Tensor, row_mask: Tensor, col_mask: Tensor, rounds: int = ROUNDS, alpha: float = ALPHA) -> Tensor:
    """SimAlign's Itermax (section 2.2): rounds of Argmax.

    After the first, a cell whose row or column is linked counts `alpha` of its score, and nothing if both are. As in
    the published code, there is one round where a side has two sub-words or fewer, and no more when a side is linked
    throughout. `pretrain.transport.itermax` has the same links as a table, which a loss wants and which takes longer.

    Raises:
        ValueError: alpha is below 0.5; two free sides would no longer add up to 1.
    """
    if alpha < 0.5:
        raise ValueError(f"alpha should be 0.5 or more, not {alpha}")
    if not (row_mask.all() and col_mask.all()):
        scores = scores.masked_fill(~(row_mask[:, :, None] & col_mask[:, None]), -1.0)
    room = torch.empty_like(scores, dtype=torch.float64)
    row_best, mutual = _best(scores, room)
    rounds_of_links = [_cells(mutual & row_mask, row_best)]
    large = torch.minimum(row_mask.sum(1), col_mask.sum(1)) > 2
    # Padding counts as free, so that it keeps a weight and stays below 0.
    row_weight, column_weight = (torch.full_like(mask, alpha, dtype=scores.dtype) for mask in (row_mask, col_mask))
    for _ in range(rounds - 1):
        pair, row, column = rounds_of_links[-1].unbind(1)
        row_weight[pair, row] = 0.0
        column_weight[pair, column] = 0.0
        large &= (row_mask & (row_weight > 0)).any(1) & (col_mask & (column_weight > 0)).any(1)
        weight = row_weight[:, :, None] + column_weight[:, None]
        row_best, mutual = _best(weight.clamp_(max=1.0).mul_(scores), room)
        new = mutual & row_mask & large[:, None] & (row_weight + column_weight.gather(1, row_best) > 0)
        rounds_of_links.append(_cells(new, row_best))
    return torch.cat(rounds_of_links)


def _cells(rows: Tensor, columns: Tensor) -> Tensor:
    """The cells in the given column, (B, n), of the rows that are asked for, (B, n), as (pair, row, column)."""
    pair, row = rows.nonzero().unbind(1)
    return torch.stack([pair, row, columns[pair, row]], dim=1)


def _best(scores: Tensor, room: Tensor) -> tuple[Tensor, Tensor]:
    """The first of the largest cells of each row, (B, n), and whether it is the first of its column's too.

    The bits of floats that are 0 or more are in the order of the floats, and float32 leaves the last 29 of float64
    free: they take the cell's place, so that a maximum says where it was. `room`, (B, n, m) float64, is written over:
    memory that is new to the process costs as much as the maxima. Torch finds maxima four times faster without
    indices than with them (`argmax` along columns, on a CPU, takes a hundred times as long again).
    """
    n, m = scores.shape[1:]
    if scores.dtype == torch.float32 and max(n, m) <= 1 << _PLACE:
        row, column = (torch.arange(size - 1, -1, -1, device=scores.device) for size in (n, m))
        cells = room.copy_(scores).view(torch.int64).bitwise_or_((row << _PLACE)[:, None] | column)
        row_most, column_most = cells.amax(2), cells.amax(1)
        best = m - 1 - (row_most & ((1 << _PLACE) - 1))
        return best, column_most.gather(1, best) == row_most
    best, column_best = scores.max(2).indices, scores.max(1).indices
    return best, column_best.gather(1, best) == torch.arange(n, device=scores.device)


def match(scores: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
    """The assignment with the largest sum, as many links as the shorter side has sub-words (SimAlign's Match)."""
    assignments = []
    sizes = zip(row_mask.sum(1).tolist(), col_mask.sum(1).tolist(), strict=True)
    for pair, (table, (n, m)) in enumerate(zip(scores.cpu().numpy(), sizes, strict=True)):
        rows, columns = map(torch.from_numpy, linear_sum_assignment(table[:n, :m], maximize=True))
        assignments.append(torch.stack([torch.full_like(rows, pair), rows, columns], dim=1))
    return torch.cat(assignments)


SAFE = 40.0
"""The range of log K in which K stays far inside float32 with every scaling of its rows and columns."""
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
    """The similarity itself, moved to the range from 0 to 1: (1 + s) / 2 (SimAlign, section 2.1).

    One that is not `bounded` by -1 and 1 is divided by the largest that the pair has, of either sign.
    """

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
    """Optimal transport between hidden states by Sinkhorn's iterations (XLM-Align, section 3.1).

    K = max(eps, similarity)^(1/mu). An iteration makes columns and then rows sum to 1; `first="rows"` is the paper's
    Eq. 6. Half an iteration is its first step alone.
    """

    iterations: float = ITERATIONS
    first: First = "columns"
    mu: float = MU
    similarity: Similarity = products

    def __call__(self, source: Tensor, target: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
        """What part of each sub-word of one side goes to each of the other's, (B, n, m).

        Where a side has one sub-word there is no choice of parts, and they are K over its sum.
        """
        table = self.similarity(source, target, row_mask, col_mask)
        plan = self.plan(table, row_mask, col_mask)
        single = ((row_mask.sum(1) == 1) | (col_mask.sum(1) == 1)).nonzero()[:, 0]
        if len(single):
            masks = row_mask[single], col_mask[single]
            plan[single] = untied(plan[single], log_kernel(table[single], mu=self.mu), *masks)
        return plan

    def plan(self, table: Tensor, row_mask: Tensor, col_mask: Tensor) -> Tensor:
        """The same of a table of similarities (B, n, m); to and from padding nothing goes.

        Where K fits float32 it is scaled as it is, row by row and column by column: an iteration takes a tenth of the
        time that log space takes. A scaling's reach in logarithms never exceeds that of K, so none over- or underflows.
        """
        padding = None if row_mask.all() and col_mask.all() else ~(row_mask[:, :, None] & col_mask[:, None])
        if padding is not None:
            table = table.masked_fill(padding, 0.0)  # whatever stands there, even no number
        peak = table.amax().clamp(min=EPSILON)
        if float((peak / EPSILON).log()) / self.mu > SAFE:
            return sinkhorn(log_kernel(table, mu=self.mu), row_mask, col_mask, self.iterations, self.first)
        kernel = table.clamp(min=EPSILON)
        if self.mu != 1:
            kernel = kernel.div_(peak).pow_(1 / self.mu)
        if padding is not None:
            kernel.masked_fill_(padding, 0.0)
        no_row, no_column = (~row_mask)[:, None].to(kernel.dtype), (~col_mask)[:, None].to(kernel.dtype)
        turned = kernel.transpose(1, 2)  # a view: copied, it would take longer than all else of two iterations
        row, column = torch.ones_like(no_row), torch.ones_like(no_column)
        for turn in range(round(2 * self.iterations)):
            if (turn % 2 == 0) == (self.first == "columns"):
                column = torch.bmm(row, kernel).add_(no_column).reciprocal_()
            else:
                row = torch.bmm(column, turned).add_(no_row).reciprocal_()
        return kernel.mul_(row.transpose(1, 2)).mul_(column)


@dataclass(frozen=True)
class Method:
    """How hidden states become links: scores of two sides' sub-words, and the links that are read from them."""

    name: str
    score: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
    extract: Callable[[Tensor, Tensor, Tensor], Tensor]


DIRECT, TRANSPORT = "direct", "transport"
PLANS = (DIRECT, TRANSPORT)
"""The plan made of a similarity: itself, or optimal transport."""
SIMILARITIES: dict[str, Similarity] = {"products": products, "cosine": cosines, "centred": centred}
RULES = {"argmax": argmax, "itermax": itermax, "match": match}
_USUAL = {DIRECT: "cosine", TRANSPORT: "products"}
"""The similarity that names leave out: SimAlign's, and XLM-Align's."""


def method(similarity: str = "centred", plan: str = DIRECT, rule: str = "argmax") -> Method:
    """The method of three choices, named by those that are unusual: `argmax`, `argmax-centred`, `ot-match`.

    Raises:
        KeyError: there is no such similarity, plan or rule.
    """
    how, extract = SIMILARITIES[similarity], RULES[rule]
    suffix = "" if similarity == _USUAL[plan] else f"-{similarity}"
    if plan == DIRECT:
        return Method(f"{rule}{suffix}", Direct(how, bounded=how is not products), extract)
    name = f"ot-{rule}{suffix}" if suffix or rule != "itermax" else "ot"
    return Method(name, Transport(similarity=how), extract)


RELEASED = Method("xlm-align", Transport(iterations=1.5), argmax)
"""How the released aligner of XLM-Align reads links: each sub-word's best share of pi that is its partner's best of xi.

xi is the table after the last scaling of its columns, pi after the scaling of its rows that follows. A row of pi is one
of xi times a number, so their best cells are the same: links are the mutual argmax of xi. There is no Itermax.
"""
PRESETS = {
    "ot": ("products", TRANSPORT, "itermax"),
    **{rule: ("cosine", DIRECT, rule) for rule in RULES},
    "argmax-centred": ("centred", DIRECT, "argmax"),
}
"""The choices that have a name of their own: XLM-Align's, SimAlign's three, and the default."""
OT = method(*PRESETS["ot"])
"""Optimal transport filtered by Itermax, as XLM-Align labels itself during pretraining (sections 3.1 and 3.2)."""
DEFAULT = method()
"""Mutual argmax of centred cosines: of all choices it has the lowest AER on one gold set, en-fr."""
METHODS = (OT, RELEASED, *(method(*choices) for name, choices in PRESETS.items() if name != OT.name))
"""The methods that studies compare (XLM-Align, section 4.3; SimAlign)."""
BY_NAME = {one.name: one for one in METHODS}
CHOICES = (
    *(method(similarity, plan, rule) for plan in PLANS for rule in RULES for similarity in SIMILARITIES),
    RELEASED,
)
"""Every method that the three choices make, and the one that they do not."""
