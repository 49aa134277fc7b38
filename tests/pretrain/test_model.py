import pytest
import torch

from calque.derive.vocabulary import OURS
from calque.pretrain.batch import UNLABELLED, Pairs, Rows
from calque.pretrain.model import build, prediction_loss
from tests.pretrain.made import SIZE, STILL

FIRST = len(OURS.ids)


def rows(padded, share=0.15, seed=0):
    random = torch.Generator().manual_seed(seed)
    shape = (6, STILL.length)
    ids = torch.randint(FIRST, 2 * SIZE, shape, generator=random)
    labels = torch.where(torch.rand(shape, generator=random) < share, ids, UNLABELLED)
    if padded:
        blank = torch.zeros(shape, dtype=torch.bool)
        blank[:, 12:16] = blank[::2, 27:] = True
        ids, labels = ids.masked_fill(blank, OURS.pad), labels.masked_fill(blank, UNLABELLED)
    return Rows(ids, labels, torch.randint(0, 3, shape, generator=random), padded)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_loss_of_no_or_every_position(share, padded):
    model, batch = build(STILL, 2 * SIZE), rows(True, share)
    loss = prediction_loss(model, batch)
    if share:
        theirs = model(
            input_ids=batch.ids, attention_mask=(batch.ids != OURS.pad).long(), labels=batch.labels
        ).loss
        assert float(loss.detach()) == pytest.approx(float(theirs.detach()) * batch.labelled, rel=1e-5)
    else:
        loss.backward()
        assert float(loss.detach()) == 0
        assert all(p.grad is None or not p.grad.any() for p in model.parameters())


@pytest.mark.parametrize(("rows", "pieces"), [(8, 1), (8, 4), (7, 3), (2, 5)])
def test_pieces_make_the_whole(rows, pieces):
    ids = torch.arange(rows * 3).view(rows, 3)
    whole, pairs = Rows(ids, ids + 100, ids % 2, padded=True, places=ids + 200), Pairs(ids[:, :2])
    parts = [whole.part(i, pieces) for i in range(pieces)]
    for name in ("ids", "labels", "languages", "places"):
        assert torch.cat([getattr(part, name) for part in parts]).equal(getattr(whole, name))
    assert torch.cat([pairs.part(i, pieces).ids for i in range(pieces)]).equal(pairs.ids)
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1 and all(part.padded for part in parts)
