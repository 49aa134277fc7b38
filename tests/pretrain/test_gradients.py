from dataclasses import dataclass, field

import pytest
import torch

from calque.pretrain.distributed import World, add_gradients, one_process
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.word_aligned import WordAligned
from calque.pretrain.objectives.xlm_align import XLMAlign
from calque.pretrain.train import Draws
from tests.pretrain.made import STILL, new_learner


@dataclass(frozen=True)
class Twin(World):
    """A process whose twin has the same gradients; `sizes` records the number of values in each message."""

    sizes: list[int] = field(default_factory=list)

    def add(self, numbers):
        self.sizes.append(numbers.numel())
        return numbers.mul_(2)


def gradients(objective, languages, world):
    learner, streams = new_learner(objective), objective.streams(languages, STILL.length, 0)
    for stream, batch in zip(streams, Draws(streams, 8, 0).at(0)[0], strict=True):
        (part,), _ = stream.before_step(learner, [batch], one_process())
        losses = stream.losses(learner, part)
        torch.stack([losses[name] for name in stream.weights]).sum().backward()
    add_gradients(list(learner.trained.values()), world)
    return [parameter.grad for parameter in learner.trained.values() if parameter.grad is not None]


@pytest.mark.parametrize(
    "objective", [AlignMLM(), XLMAlign(), WordAligned(links="gold")], ids=lambda one: one.name
)
def test_gradients_are_dense_sums_over_processes(objective, languages):
    twin = Twin(0, 2, torch.device("cpu"))
    alone, together = gradients(objective, languages, one_process()), gradients(objective, languages, twin)
    assert len(alone) == len(together) == len(new_learner(objective).trained)
    for one, two in zip(alone, together, strict=True):
        assert one.layout is two.layout is torch.strided and torch.equal(2 * one, two)
    assert sum(twin.sizes) == sum(gradient.numel() for gradient in alone)
