from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import get_args

import numpy as np
import pytest
import torch
from torch._dynamo.testing import CompileCounter
from torch.utils._python_dispatch import TorchDispatchMode
from transformers.trainer_pt_utils import get_parameter_names

from calque.derive.errors import BadInput
from calque.pretrain.distributed import World, add_gradients, join
from calque.pretrain.model import compile_layers, prediction_loss, state_of
from calque.pretrain.objective import Sum
from calque.pretrain.objectives.dictionary import Align, AlignMLM
from calque.pretrain.objectives.linked_words import WEAM, AlignerTraining, WordAligned
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.xlm import TLM, Positions, XLMAlign
from calque.pretrain.train import Draws, NonFinite, _backward, _before_step, _cut, make_optimizer
from tests.pretrain.golden import PATH, losses
from tests.pretrain.made import (
    MODEL,
    OBJECTIVES,
    STILL,
    TRAIN,
    Gradients,
    first_update,
    fit,
    new_learner,
    one_process,
)

ALL = Sum("all", (MLM(), TLM(), Align()))


def one_step(objective, languages, batch, parts):
    learner = new_learner(objective)
    optimizer = Gradients(learner)
    config = replace(TRAIN, steps=1, warmup=0, batch=batch, grad_accumulation=parts, clip=1e9)
    streams = objective.streams(languages, STILL.length, 0)
    ((_, means, _),) = fit(learner, streams, config, optimizer)
    return optimizer.last, means


@pytest.mark.parametrize(("batch", "count"), [(8, 3), (3, 5)])
@pytest.mark.parametrize("objective", [*OBJECTIVES.values(), ALL], ids=lambda x: x.name)
def test_cutting_a_batch_changes_no_gradient(objective, batch, count, languages):
    whole, means = one_step(objective, languages, batch, 1)
    parts, same = one_step(objective, languages, batch, count)
    assert same == pytest.approx(means, rel=1e-5, abs=1e-6)
    for name, gradient in whole.items():
        torch.testing.assert_close(parts[name], gradient, rtol=1e-4, atol=1e-6)


def test_gradient_is_of_the_weighted_means(languages):
    gradient, means = one_step(ALL, languages, 8, 1)
    model = new_learner(ALL).model
    streams = ALL.streams(languages, STILL.length, 0)
    (mlm, tlm, align), counts = Draws(streams, 8, 0).at(0)
    a, b = model.get_input_embeddings().weight[align.ids].unbind(1)
    terms = {
        "mlm": prediction_loss(model, mlm) / mlm.labelled,
        "tlm": prediction_loss(model, tlm) / tlm.labelled,
        "align": -torch.nn.functional.cosine_similarity(a, b).mean(),
    }
    (terms["mlm"] + terms["tlm"] + 10 * terms["align"]).backward()
    assert counts == {"mlm": mlm.labelled, "tlm": tlm.labelled, "align": len(align)}
    assert means == pytest.approx(
        {name: float(term.detach()) for name, term in terms.items()}, rel=1e-5, abs=1e-6
    )
    for name, p in model.named_parameters(prefix="model"):
        torch.testing.assert_close(gradient[name], p.grad, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_golden_losses(name, languages):
    """100 steps as they always were. Another CPU rounds sums differently: two threads, or the oldest
    instructions, change a loss by at most a millionth. The tolerance of 1e-4 is larger, but smaller than any
    change of the recipe."""
    golden = json.loads(PATH.read_text())[name]
    found = losses(OBJECTIVES[name], languages)
    assert found.keys() == golden.keys()
    for term, values in golden.items():
        np.testing.assert_allclose(found[term], values, rtol=1e-4, atol=1e-5, err_msg=term)
    first, *_ = found.values()
    assert first[-1] < (first[0] - 0.3 if OBJECTIVES[name].traits.text else first[0])


@pytest.mark.parametrize(("decayed", "head_rate"), [("all", 1.0), ("matrices", 1.0), ("matrices", 7.0)])
def test_updates_equal_adamw(decayed, head_rate, languages):
    """The groups are those of transformers' Trainer; the pointer's projections are new matrices."""
    config = replace(TRAIN, steps=6, warmup=2, weight_decay=0.3, betas=(0.8, 0.95), epsilon=1e-3, clip=1e9)
    config = replace(config, decayed=decayed, head_rate=head_rate)
    learner, twin = (new_learner(OBJECTIVES["XLM-ALIGN"]) for _ in range(2))
    decaying = set(get_parameter_names(twin, [torch.nn.LayerNorm], ["bias"]))
    old = {name for name in twin.trained if "roberta" in name}
    assert {name.split(".")[1] for name in twin.trained.keys() - old} == {"lm_head", "pointer"}
    groups = []
    for decays, amount in ((True, 0.3), (False, 0.3 if decayed == "all" else 0.0)):
        for kept in (True, False):
            own = [p for name, p in twin.trained.items() if (name in decaying, name in old) == (decays, kept)]
            groups.append({"params": own, "weight_decay": amount, "times": 1.0 if kept else head_rate})
    theirs, ours = torch.optim.AdamW(groups, betas=(0.8, 0.95), eps=1e-3), make_optimizer(learner, config)

    def both(optimizer, *_):
        for name, parameter in twin.trained.items():
            parameter.grad = learner.trained[name].grad
        for group in theirs.param_groups:
            group["lr"] = group["times"] * min(one["lr"] for one in optimizer.param_groups)
        theirs.step()

    ours.register_step_pre_hook(both)
    fit(learner, OBJECTIVES["XLM-ALIGN"].streams(languages, STILL.length, 0), config, optimizer=ours)
    for name, parameter in learner.trained.items():
        torch.testing.assert_close(parameter, twin.trained[name], rtol=1e-5, atol=1e-6)


def test_deferred_reading_changes_no_step(languages):
    """Equal to the last bit, and reported once."""
    found = []
    for read in (lambda step: True, lambda step: step % 7 == 0):
        learner = new_learner(ALL, MODEL)
        rows = fit(learner, ALL.streams(languages, MODEL.length, 0), read=read)
        found.append((rows, state_of(learner)))
    (rows, weights), (later, same) = found
    assert rows == later
    assert [step for step, *_ in rows] == list(range(1, TRAIN.steps + 1))
    assert all(torch.equal(weights[name], same[name]) for name in weights)


class Waits(TorchDispatchMode):
    """Counts operations that make the program wait for a GPU, because it needs their result or its shape."""

    NAMES = "_local_scalar_dense nonzero masked_select _unique2 unique_dim bincount is_nonzero equal".split()

    def __init__(self):
        super().__init__()
        self.found = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        places = args[1] if name in ("index", "index_put", "index_put_") else ()
        # Boolean masks become lists of positions.
        masked = any(place is not None and place.dtype == torch.bool for place in places)
        if name in self.NAMES or masked:
            self.found.append(name)
        return func(*args, **(kwargs or {}))


NEVER_WAIT = [one for one in OBJECTIVES.values() if not isinstance(one, WEAM)]  # lists its links
NEVER_WAIT += [*(XLMAlign(queries=queries) for queries in get_args(Positions))]
NEVER_WAIT += [XLMAlign(filtering=False), AlignerTraining(labels="self")]


@pytest.mark.parametrize("objective", NEVER_WAIT, ids=lambda x: x.name)
def test_no_loss_or_gradient_waits_for_a_gpu(objective, languages, monkeypatch):
    learner, streams = new_learner(objective, MODEL), objective.streams(languages, MODEL.length, 0)
    (batches, counts), waits = Draws(streams, 8, 0).at(0), Waits()
    there = [
        (stream, part.each(lambda tensor: tensor, moving=True))
        for stream, part in _cut(streams, batches, 1, one_process())
    ]
    for name in ("tolist", "numpy", "cpu"):  # the dispatcher does not see these on a CPU
        monkeypatch.setattr(torch.Tensor, name, lambda *_, name=name: pytest.fail(f"{name} waits for a GPU"))
    with waits:
        parts, more = _before_step(first_update(learner), streams, there)
        for stream, part in parts:
            _backward(learner, stream, part, counts | more, one_process())
    assert waits.found == []
    with waits:
        int(torch.ones(2).sum())
    assert waits.found == ["_local_scalar_dense"]


@pytest.mark.filterwarnings("ignore:The .grad attribute")
def test_layers_compile_to_one_graph_without_breaks(languages):
    """One graph for all steps and layers, as on a GPU, with dropout; `fullgraph` makes a break an error."""
    deep = replace(MODEL, layers=4)
    learner, streams = new_learner(MLM(), deep), MLM().streams(languages, deep.length, 0)
    torch._dynamo.reset()
    graphs = CompileCounter()
    compile_layers(learner.model, backend=graphs, fullgraph=True)
    fit(learner, streams, replace(TRAIN, steps=5), optimizer=make_optimizer(learner, TRAIN))
    assert graphs.frame_count == 1
    assert not torch._dynamo.utils.counters["graph_break"]


def test_non_finite_gradient_stops(languages):
    class Steep(MLM):
        def streams(self, languages, length, seed):
            (stream,) = super().streams(languages, length, seed)
            plain = stream.losses
            stream.losses = lambda learner, batch: {
                name: loss + (learner.model.lm_head.bias[0] * 0).sqrt()
                for name, loss in plain(learner, batch).items()
            }
            return [stream]

    learner = new_learner(MLM())
    weights = {name: p.detach().clone() for name, p in learner.named_parameters()}
    with pytest.raises(NonFinite, match="step 1: losses"):
        fit(learner, Steep().streams(languages, STILL.length, 0))
    assert all(p.equal(weights[name]) for name, p in learner.named_parameters())


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
        (part,), _ = stream.before_step(first_update(learner), [batch])
        losses = stream.losses(learner, part)
        torch.stack([losses[name] for name in stream.weights]).sum().backward()
    add_gradients(list(learner.trained.values()), world)
    return [parameter.grad for parameter in learner.trained.values() if parameter.grad is not None]


@pytest.mark.parametrize(
    "objective", [AlignMLM(), XLMAlign(), WordAligned(links="gold")], ids=lambda x: x.name
)
def test_gradients_are_dense_sums_over_processes(objective, languages):
    twin = Twin(0, 2, torch.device("cpu"))
    alone, together = gradients(objective, languages, one_process()), gradients(objective, languages, twin)
    assert len(alone) == len(together) == len(new_learner(objective).trained)
    for one, two in zip(alone, together, strict=True):
        assert one.layout is two.layout is torch.strided and torch.equal(2 * one, two)
    assert sum(twin.sizes) == sum(gradient.numel() for gradient in alone)


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("RANK", "x", "RANK must be a whole number"),
        ("WORLD_SIZE", "-2", "WORLD_SIZE must be a whole number"),
        ("WORLD_SIZE", "2", "expected, but not set; start.*torchrun"),
    ],
)
def test_environment_without_torchrun_is_rejected(monkeypatch, name, value, fault):
    monkeypatch.setenv(name, value)
    with pytest.raises(BadInput, match=fault):
        join()
