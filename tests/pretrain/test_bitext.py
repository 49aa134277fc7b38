from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch

from calque.derive.errors import BadInput
from calque.derive.vocabulary import OURS
from calque.pretrain.batch import MARKS
from tests.pretrain.made import DERIVED, PADDING, SENTENCES, SIZE, SOURCE, STILL, corpora, pairs_of


@pytest.fixture(scope="module")
def parallel(languages):
    return pairs_of(languages)


def drawn(parallel, seed):
    return parallel.draw_pairs(range(parallel.instances), np.random.default_rng(seed))


def sides(batch, row):
    found = []
    for side in (0, 1):
        places, real = batch.places(side)
        found.append(batch.clean[row, places[row][real[row]]].tolist())
    return found


def test_every_pair_is_a_row_in_either_order(parallel, languages):
    source, derived = corpora(languages)
    shown = np.concatenate([parallel.groups[instance] for instance in range(parallel.instances)])
    pairs = Counter((tuple(source[i].tolist()), tuple(derived[i].tolist())) for i in shown)
    turned = Counter()
    for seed in range(4):
        batch, found = drawn(parallel, seed), Counter()
        for row, ids in enumerate(batch.clean.tolist()):
            first, second = sides(batch, row)
            whole = [OURS.start, *first, OURS.end, *second, OURS.end]
            assert ids == whole + [OURS.pad] * (len(ids) - len(whole))
            languages = batch.rows.languages[row].tolist()
            before, after = (SOURCE, DERIVED) if max(first) < SIZE else (DERIVED, SOURCE)
            padding = [PADDING] * (len(ids) - len(whole))
            assert languages == [before] * (len(first) + 2) + [after] * (len(second) + 1) + padding
            turned[before == DERIVED] += 1
            found[(tuple(second), tuple(first)) if before == DERIVED else (tuple(first), tuple(second))] += 1
        assert found == pairs
        assert batch.rows.ids.equal(batch.clean)
    assert abs(turned[True] - turned.total() / 2) < 4 * np.sqrt(turned.total() / 4)


@pytest.mark.parametrize("length", [16, STILL.length])
def test_instances_fit_in_a_row(languages, length):
    parallel = pairs_of(languages, length)

    def ids(line):
        return 2 * len(corpora(languages)[1][line]) + MARKS

    shown = []
    for instance in range(parallel.instances):
        lines = parallel.groups[instance].tolist()
        assert sum(map(ids, lines)) <= length
        batch = parallel.draw_pairs([instance], np.random.default_rng(0))
        assert len(batch) == len(lines)
        assert (batch.clean != OURS.pad).sum() == sum(map(ids, lines))
        shown += lines
    too_long = [line for line in range(SENTENCES) if ids(line) > length]
    assert sorted(shown + too_long) == list(range(SENTENCES))
    assert parallel.left_out == {"parallel sentences longer than a row": len(too_long)}
    assert too_long or length > 16
    with pytest.raises(BadInput, match="none of the 500"):
        pairs_of(languages, 4)


def test_gold_links_follow_the_derivation(parallel, languages):
    batch = drawn(parallel, 1)
    table = languages.languages[1].table.tolist()
    image = dict(enumerate(table)) | {b: a for a, b in enumerate(table) if b >= SIZE}
    split = 0
    for row in range(len(batch)):
        first, second = sides(batch, row)
        gold = batch.gold[row].tolist()
        assert sorted(gold[: len(first)]) == list(range(len(second)))
        assert gold[len(first) :] == [-1] * (len(gold) - len(first))
        assert [image[i] for i in first] == [second[at] for at in gold[: len(first)]]
        split += any(b == a + 1 for a, b in pairwise(gold))
    assert split  # the words are reversed, but not the pieces of a word


@pytest.mark.parametrize("pieces", [1, 2, 4, 1000])
def test_pieces_contain_every_pair_once(parallel, pieces):
    batch = drawn(parallel, 3)
    made = batch.by_length(pieces)
    assert 1 <= len(made) <= pieces
    widths = [piece.clean.shape[1] for piece in made]
    assert widths == sorted(widths) and widths[-1] == batch.clean.shape[1]
    for piece, width in zip(made, widths, strict=True):
        assert len(piece) and width == int(piece.sides.sum(1).max()) + MARKS
    rooms = [(0, batch.clean.shape[1] - width) for width in widths]
    pairs = zip(made, rooms, strict=True)
    padded = [torch.nn.functional.pad(piece.clean, room, value=OURS.pad) for piece, room in pairs]
    order = batch.sides.sum(1).argsort(stable=True)
    assert torch.cat(padded).equal(batch.clean[order])
    assert torch.cat([piece.sides for piece in made]).equal(batch.sides[order])
    ids = [int(piece.sides.sum()) for piece in made]
    assert max(ids) <= batch.sides.sum() / pieces + 2 * int(batch.sides.sum(1).max())
