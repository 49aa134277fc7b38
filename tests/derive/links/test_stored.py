from pathlib import Path

import numpy as np
import pytest

from calque.derive.links.aligner import Links
from calque.derive.links.stored import StoredLinks, of_pieces, store

PAIRS: list[Links] = [[(0, 1), (2, 0)], [], [(0, 0)], []]


@pytest.fixture
def stored(tmp_path: Path) -> StoredLinks:
    facts = {"languages": {"xx": "abc"}, "fingerprint": "123"}
    return StoredLinks.open(store(PAIRS, tmp_path / "links", facts))


def test_stored_links_are_read_back(stored: StoredLinks) -> None:
    assert [stored[pair].tolist() for pair in range(len(stored))] == [
        list(map(list, links)) for links in PAIRS
    ]
    assert (stored.facts["pairs"], stored.facts["links"]) == (4, 3)


def test_words_of_as_many_pieces_are_linked_piece_by_piece_others_all_with_all() -> None:
    links, first, second = np.array([(0, 1), (1, 0), (2, 2)]), np.array([1, 2, 2]), np.array([2, 1, 3])
    assert of_pieces(links, first, second).tolist() == [
        [0, 2],
        *([1, 0], [2, 1]),
        *([i, j] for i in (3, 4) for j in (3, 4, 5)),
    ]
    assert of_pieces(np.empty((0, 2), np.int64), first, second).shape == (0, 2)
