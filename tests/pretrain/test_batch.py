import pytest
import torch

from calque.pretrain.batch import UNLABELLED, Pairs, Rows


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


def test_slots_put_each_label_in_its_row_in_order():
    labels = torch.full((3, 4), UNLABELLED)
    labels[0, 1], labels[2, 0], labels[2, 3] = 7, 8, 9
    ids = torch.zeros(3, 4, dtype=torch.long)
    rows = Rows(ids, labels, ids, padded=False)
    positions = rows.positions
    assert (rows.labelled, positions.most) == (3, 2)
    assert positions.at.tolist() == [1, 8, 11]
    assert positions.slot.tolist() == [0, 4, 5]
    none = Rows(ids, torch.full((3, 4), UNLABELLED), ids, padded=False).positions
    assert (none.most, none.at.tolist()) == (1, [])
