"""PPA: logits against a twin written out by hand, the queue's order, the slow encoder, and what depends on no cut."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from torch.nn import functional as F

from calque.derive.languages import Languages
from calque.derive.types import OURS
from calque.pretrain.distributed import one_process
from calque.pretrain.model import build, prediction_loss, state_of
from calque.pretrain.modules import Frozen, Learner, MoCo
from calque.pretrain.objective import Sum
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.ppa import MOCO, PPA, Contrasted
from calque.pretrain.run import Pretraining
from calque.pretrain.train import make_optimizer, train
from tests.pretrain.made import LANGUAGE, MODEL, SIZE, STILL, TRAIN, check_resumes, only

DEEP = replace(STILL, layers=2, initializer_range=0.2)
SMALL = PPA(1.0, queue=20, momentum=0.8, dimensions=9, temperature=0.2)


def made(languages: Languages, objective: PPA = SMALL) -> tuple[Contrasted, Learner]:
    return only(objective, languages), objective.learner(build(DEEP, 2 * SIZE), 0)


def sentences(batch: Any, side: int) -> list[list[int]]:
    """The ids of a side of each pair, between its marks."""
    found = []
    for row, (n, m) in zip(batch.clean.tolist(), batch.sides.tolist(), strict=True):
        ids = row[1 : n + 1] if side == 0 else row[n + 2 : n + m + 2]
        found.append([OURS.start, *ids, OURS.end])
    return found


def vector(model: Any, projection: Any, ids: list[int]) -> torch.Tensor:
    """z = W2 ReLU(W1 h), h the first position's vector of length 1; of length 1 itself. In double precision."""
    h = model.roberta(torch.tensor([ids])).last_hidden_state[0, 0].double()
    w1, w2 = projection.inner.weight.double(), projection.outer.weight.double()
    z = w2 @ torch.relu(w1 @ (h / h.norm()))
    return z / z.norm()


@torch.no_grad()
def test_the_loss_is_that_of_a_twin_by_hand(languages: Languages) -> None:
    stream, learner = made(languages)
    own: Any = learner.own[MOCO]
    for parameter in learner.model.parameters():  # an update, which the slow encoder has yet to follow
        parameter.add_(0.05 * torch.randn_like(parameter))
    slow = {name: p.clone() for name, p in own.slow.model.named_parameters()}
    live = dict(learner.model.named_parameters())
    queue = own.queue.clone()
    batch, counts = stream.draw(range(6), np.random.default_rng(0))
    ((keyed,), more) = stream.before_step(learner, [batch], one_process())
    for name, p in own.slow.model.named_parameters():  # equation 1, before the keys
        torch.testing.assert_close(p, 0.8 * slow[name] + 0.2 * live[name])
    learner.eval()
    losses = stream.losses(learner, keyed)
    keys = [vector(own.slow.model, own.slow_projection.model, ids) for ids in sentences(batch, 1)]
    total = 0.0
    for ids, key in zip(sentences(batch, 0), keys, strict=True):
        query = vector(learner.model, own.projection, ids)
        logits = torch.stack([query @ other for other in (key, *queue.double())]) / 0.2
        assert len(logits) == 1 + 20
        total -= float(F.log_softmax(logits, 0)[0])
    assert counts == {"tlm": batch.rows.labelled, MOCO: len(batch)} and more == {} and len(batch) > 5
    assert float(losses[MOCO]) == pytest.approx(total, rel=1e-5)
    assert float(losses["tlm"]) == pytest.approx(float(prediction_loss(learner.model, batch.rows)))
    assert int(own.taken) == len(batch)
    torch.testing.assert_close(own.queue[: len(batch)].double(), torch.stack(keys), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(own.queue[len(batch) :], queue[len(batch) :])
    assert SMALL.traits.memory == queue.nbytes + own.queue.nbytes


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_the_queue_has_the_last_keys_in_their_places(sizes: list[int]) -> None:
    """However many come at a time, also more than there are places: key number t stands at t modulo K."""
    own = MoCo(build(DEEP, 50), queue=5, dimensions=2)
    first = own.queue.clone()
    keys = torch.arange(2.0 * sum(sizes)).view(-1, 2)
    for some in keys.split(sizes):
        own.enqueue(some)
    expected = first
    for number, key in enumerate(keys):
        expected[number % 5] = key
    torch.testing.assert_close(own.queue, expected)
    assert int(own.taken) == sum(sizes)


@torch.no_grad()
def test_without_tlm_the_contrast_is_the_same_and_mlm_masks_the_same_ids_of_sides_alone(languages: Languages) -> None:
    """Table 5. Sides are cut out of the masked rows by hand, each run alone."""
    expected: dict[str, float] = {}
    for beside in ("TLM", "", "MLM"):
        stream, learner = made(languages, replace(SMALL, beside=beside))
        learner.eval()
        batch, counts = stream.draw(range(6), np.random.default_rng(0))
        ((keyed,), _) = stream.before_step(learner, [batch], one_process())
        losses = {name: float(loss) for name, loss in stream.losses(learner, keyed).items()}
        assert losses.keys() == counts.keys() == stream.weights.keys() == {MOCO, *([beside.lower()] * bool(beside))}
        assert losses[MOCO] == pytest.approx(expected.setdefault(MOCO, losses[MOCO]))
    total, asked = 0.0, 0
    for row, labels, (n, m) in zip(batch.rows.ids, batch.rows.labels, batch.sides.tolist(), strict=True):
        for a, size in ((1, n), (n + 2, m)):
            ids = torch.tensor([[OURS.start, *row[a : a + size].tolist(), OURS.end]])
            wanted = labels[a : a + size]
            logits = learner.model(input_ids=ids).logits[0, 1:-1].double()
            total += float(F.cross_entropy(logits, wanted, ignore_index=-100, reduction="sum"))
            asked += int((wanted != -100).sum())
    assert losses["mlm"] == pytest.approx(total, rel=1e-5) and counts["mlm"] == asked > 10


def test_gradients_reach_the_model_and_the_projection_and_nothing_slow(languages: Languages) -> None:
    stream, learner = made(languages)
    batch, _ = stream.draw(range(2), np.random.default_rng(0))
    ((keyed,), _) = stream.before_step(learner, [batch], one_process())
    stream.losses(learner, keyed)[MOCO].backward()
    assert all(p.grad is not None and p.grad.any() for p in learner.own[MOCO].projection.parameters())
    assert learner.model.roberta.embeddings.word_embeddings.weight.grad.any()
    assert all(p.grad is None for name, p in learner.named_parameters() if "slow" in name)
    assert not any("slow" in name for name in learner.trained)
    assert {"own.moco.queue", "own.moco.taken"} <= state_of(learner).keys()  # what a resumed run restores


def test_sentences_are_found_by_their_translations_after_some_steps(languages: Languages) -> None:
    """Once the queue has real keys the contrast is as hard as chance, ln(1 + K), and then it falls."""
    stream, learner = made(languages, PPA(1.0, queue=64, momentum=0.9, dimensions=16, temperature=0.1))
    config = replace(TRAIN, steps=120, warmup=10, batch=12, learning_rate=1e-3)
    seen: list[float] = []

    def look(step: int, losses: dict[str, float], norm: float) -> None:
        seen.append(losses[MOCO])

    train(learner, make_optimizer(learner, config), [stream], config, 0, one_process(), after=look)
    assert np.mean(seen[-10:]) < 0.7 * np.log(65) < 0.85 * np.log(65) < np.mean(seen[5:12])


@pytest.mark.parametrize("at", [3, 7, 11])
def test_a_stopped_run_resumes_with_its_queue(at: int, study: Path, tmp_path: Path) -> None:
    """Next to another objective, with weight decay; the checkpoint has the model alone."""
    config = Pretraining(
        Languages.open(study, (LANGUAGE,)), Sum("both", (MLM(), SMALL)), MODEL, replace(TRAIN, weight_decay=0.1), 0
    )
    names = load_file(check_resumes(tmp_path, config, at) / "model.safetensors").keys()
    assert names and not [name for name in names if MOCO in name]


def test_two_modules_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="a module 'moco'"):
        Sum("twice", (SMALL, SMALL)).learner(build(DEEP, 2 * SIZE), 0)


def test_a_frozen_model_neither_trains_nor_drops(languages: Languages) -> None:
    frozen = Frozen(build(replace(DEEP, dropout=0.5), 50))
    frozen.train()
    assert not any(module.training for module in frozen.modules())
    assert not any(parameter.requires_grad for parameter in frozen.parameters())


@pytest.mark.parametrize(
    "wrong", [{"queue": 0}, {"momentum": 1.0}, {"temperature": 0.0}, {"beside": "x"}, {"parallel_fraction": 0.0}]
)
def test_values_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        PPA(**wrong)
