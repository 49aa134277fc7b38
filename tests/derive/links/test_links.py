import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.corpus import Ragged
from calque.derive.files import Artefact
from calque.derive.languages import of_pieces
from calque.derive.word_links import ENDS, KIND, LINKS, grow_diag_final_and, intersect, store
from tests.derive.links import twin

WORDS = 7


def links(sides, turned):
    return sides.map(lambda side: sorted((i, j) if turned else (j, i) for i, j in side.items()))


PLACES = st.dictionaries(st.integers(0, WORDS - 1), st.integers(0, WORDS - 1))
FORWARD, REVERSE = links(PLACES, turned=False), links(PLACES, turned=True)
ANY = st.sets(st.tuples(st.integers(0, WORDS - 1), st.integers(0, WORDS - 1))).map(sorted)


@given(FORWARD | ANY, REVERSE | ANY)
def test_growing_equals_its_definition(forward, reverse):
    grown = grow_diag_final_and(forward, reverse)
    assert set(intersect(forward, reverse)) <= set(grown) <= {*forward, *reverse}
    links = twin.grow_diag(forward, reverse)
    for link in (*sorted(forward), *sorted(reverse)):
        if all(link[side] not in {one[side] for one in links} for side in (0, 1)):
            links.add(link)
    assert grown == sorted(links)


def test_worked_cases():
    # 1-1 is certain; 2-1 and 2-2 are next to it and link new words; 4-0, 4-4 and 6-4 touch nothing.
    forward, reverse = [(1, 1), (2, 2), (4, 0)], [(1, 1), (2, 1), (4, 4), (6, 4)]
    assert grow_diag_final_and(forward, reverse) == [(1, 1), (2, 1), (2, 2), (4, 0), (6, 4)]
    assert intersect([], []) == grow_diag_final_and([], []) == []


PAIRS = [[(0, 1), (2, 0)], [], [(0, 0)], []]


def test_stored_links_are_read_back(tmp_path):
    artefact = Artefact.open(store(PAIRS, tmp_path / "links", {"fingerprint": "123"}), KIND)
    links = Ragged(*(np.load(artefact.path(name)) for name in (LINKS, ENDS)))
    assert [pair.tolist() for pair in links] == [list(map(list, pair)) for pair in PAIRS]
    assert (artefact.facts["pairs"], artefact.facts["links"]) == (4, 3)


def test_equally_long_words_are_linked_piece_by_piece():
    links, first, second = np.array([(0, 1), (1, 0), (2, 2)]), np.array([1, 2, 2]), np.array([2, 1, 3])
    pieces = [[0, 2], [1, 0], [2, 1], *([i, j] for i in (3, 4) for j in (3, 4, 5))]
    assert of_pieces(links, first, second).tolist() == pieces
    assert of_pieces(np.empty((0, 2), np.int64), first, second).shape == (0, 2)
