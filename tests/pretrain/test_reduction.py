"""Sums of gradients: what is sent, when, and that nothing is left out. The other process is a twin of this one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from derive.languages import Languages
from pretrain.batch import Batch, Pairs
from pretrain.distributed import ALONE, World
from pretrain.model import Learner
from pretrain.objective import Objective, Stream, Sum
from pretrain.objectives.align_mlm import Align, AlignMLM
from pretrain.objectives.mlm import MLM
from pretrain.objectives.xlm import XLM
from pretrain.objectives.xlm_align import XLMAlign
from pretrain.reduction import LARGE, MESSAGE, Reduction
from pretrain.train import Draws
from tests.pretrain.made import STILL, new_learner
from tests.pretrain.momentum import Momentum

TABLE = "model.roberta.embeddings.word_embeddings.weight"


@dataclass(frozen=True)
class Twin(World):
    """This process and another that has the same gradients.

    Notes of each message how many numbers it has, and whether `table` had a gradient by then.
    """

    table: nn.Parameter = field(default_factory=lambda: nn.Parameter(torch.zeros(1)))
    messages: list[int] = field(default_factory=list)
    after_table: list[bool] = field(default_factory=list)

    def begin_adding(self, numbers: Tensor) -> Callable[[], None]:
        self.messages.append(numbers.numel())
        self.after_table.append(self.table.grad is not None)

        def done() -> None:
            numbers.mul_(2)

        return done


def parts_of(objective: Objective, languages: Languages, pieces: int) -> list[tuple[Stream, Any]]:
    """The first step's micro-batches, as a process alone would have them before any gradient."""
    learner, streams = new_learner(objective), objective.streams(languages, STILL.length, 0)
    batches, _ = Draws(streams, 8, 0).at(0)
    made = []
    for stream, batch in zip(streams, batches, strict=True):
        cut = [part for i in range(pieces) if len(part := batch.part(i, pieces))]
        parts, _ = stream.before_step(learner, cut, ALONE)
        made.append([(stream, part) for part in parts])
    return [part for same in zip_longest(*made) for part in same if part]


def summed(
    learner: Learner, world: World, parts: Sequence[tuple[Stream, Batch]], one_by_one: bool = False
) -> tuple[list[Tensor], list[int]]:
    """Each parameter's gradient after a step, and how many messages were sent after each backward pass."""
    reduction, sent = Reduction(learner, world), []
    if one_by_one:
        reduction.messages = [[parameter] for message in reduction.messages for parameter in message]
    for stream, part in reduction.through(parts):
        losses = stream.losses(learner, part)
        torch.stack([losses[name] for name in stream.weights]).sum().backward()
        sent.append(len(world.messages) if isinstance(world, Twin) else 0)
    gradients = [p.grad for p in learner.trained.values() if p.grad is not None]
    assert len(gradients) == len(learner.trained)
    assert all(gradient.layout is torch.strided for gradient in gradients)
    return gradients, sent


def twin(learner: Learner) -> Twin:
    return Twin(0, 2, torch.device("cpu"), table=learner.trained[TABLE])


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize(
    "objective",
    [MLM(), XLM(), AlignMLM(), XLMAlign(), XLMAlign(tlm=False), Momentum()],
    ids=lambda objective: objective.name,
)
def test_every_gradient_is_the_sum_over_processes(objective: Objective, languages: Languages, one_by_one: bool) -> None:
    """Of micro-batches, streams, modules of an objective's own and sparse gradients: twice that of one process."""
    alone, together = new_learner(objective), new_learner(objective)
    for pieces in (1, 3):
        parts = parts_of(objective, languages, pieces)
        for one, two in zip(
            summed(alone, ALONE, parts)[0], summed(together, twin(together), parts, one_by_one)[0], strict=True
        ):
            assert torch.equal(2 * one, two)
        alone.zero_grad()
        together.zero_grad()


def test_messages_are_sent_while_the_backward_pass_goes_on(languages: Languages) -> None:
    """Most of them when the table, which it reaches last, has no gradient yet; all by the end of the pass."""
    learner = new_learner(MLM())
    world = twin(learner)
    _, sent = summed(learner, world, parts_of(MLM(), languages, 1), one_by_one=True)
    assert sent == [len(learner.trained)]
    assert world.after_table.count(True) == 1


def test_a_stream_that_reaches_the_table_alone_holds_up_nothing_else(languages: Languages) -> None:
    """Before the last MLM nothing is complete; the dictionary's pass comes after it, and all but the table is sent."""
    learner = new_learner(AlignMLM())
    _, sent = summed(learner, twin(learner), parts_of(AlignMLM(), languages, 2), one_by_one=True)
    of = len(learner.trained)
    assert sent == [0, 0, of - 1, of]


def test_messages_are_the_same_whatever_rows_a_process_has(languages: Languages) -> None:
    objective = Sum("both", (MLM(), Align()))
    parts = parts_of(objective, languages, 3)
    seen = []
    for mine in (parts, parts[:1], parts[1:2], parts[2:], []):
        learner = new_learner(objective)
        world = twin(learner)
        summed(learner, world, mine)
        seen.append(world.messages)
    assert all(messages == seen[0] for messages in seen)
    assert sum(seen[0]) == sum(p.numel() for p in learner.trained.values())


class Silent(Stream):
    """Says that it reaches nothing, and reaches the table."""

    def __init__(self) -> None:
        self.weights, self.instances, self.left_out = {"silent": 1.0}, 1, {}

    def draw(self, instances: Sequence[int], random: np.random.Generator) -> tuple[Pairs, dict[str, int]]:
        return Pairs(torch.zeros(1, 2, dtype=torch.long)), {"silent": 1}

    def losses(self, learner: Learner, batch: Pairs) -> dict[str, Tensor]:
        return {"silent": learner.trained[TABLE].sum()}

    def reaches(self, learner: Learner) -> list[nn.Parameter]:
        return []


def test_a_gradient_that_its_stream_does_not_tell_of_is_an_error_and_leaves_nothing_behind() -> None:
    learner, stream = new_learner(MLM()), Silent()
    parts: list[tuple[Stream, Batch]] = [(stream, stream.draw([0], np.random.default_rng(0))[0])]
    with pytest.raises(RuntimeError, match=r"shape \(600, 32\) that its stream does not say it reaches"):
        summed(learner, twin(learner), parts)
    learner.zero_grad()
    (gradients, _) = summed(learner, ALONE, parts)  # alone, nobody asks
    assert [bool(gradient.any()) for gradient in gradients] == [name == TABLE for name in learner.trained]


def test_large_gradients_go_alone_and_small_ones_together_in_the_reverse_of_their_order() -> None:
    """Sizes are of numbers, of four bytes each."""
    large, fit = LARGE // 4, 8
    many = MESSAGE // 4 // fit
    model = nn.ParameterList([nn.Parameter(torch.zeros(size)) for size in (3, large, *[many] * 9, large - 1, 5, 7)])
    learner = Learner(model, {})
    messages = Reduction(learner, ALONE).messages
    assert [[p.numel() for p in message] for message in messages] == [
        [7, 5, large - 1, *[many] * (fit - 3)],
        [many] * 4,
        [large],
        [3],
    ]
    assert [id(p) for message in messages for p in message] == [id(p) for p in list(model)[::-1]]
