from hypothesis import given
from hypothesis import strategies as st

from calque.derive.links.aligner import Links
from calque.derive.links.symmetrise import grow_diag, grow_diag_final, grow_diag_final_and, intersect, union
from tests.derive.links import twin

WORDS = 7


def links(sides: st.SearchStrategy[dict[int, int]], turned: bool) -> st.SearchStrategy[Links]:
    return sides.map(lambda side: sorted((i, j) if turned else (j, i) for i, j in side.items()))


PLACES = st.dictionaries(st.integers(0, WORDS - 1), st.integers(0, WORDS - 1))
FORWARD, REVERSE = links(PLACES, turned=False), links(PLACES, turned=True)
ANY = st.sets(st.tuples(st.integers(0, WORDS - 1), st.integers(0, WORDS - 1))).map(sorted)


@given(FORWARD | ANY, REVERSE | ANY)
def test_each_holds_the_one_before(forward: Links, reverse: Links) -> None:
    least, grown, both, either, most = (
        set(method(forward, reverse))
        for method in (intersect, grow_diag, grow_diag_final_and, grow_diag_final, union)
    )
    assert least == set(forward) & set(reverse)
    assert most == set(forward) | set(reverse)
    assert least <= grown <= both <= most
    assert grown <= either <= most


@given(FORWARD | ANY, REVERSE | ANY)
def test_growing_by_the_letter(forward: Links, reverse: Links) -> None:
    assert grow_diag(forward, reverse) == sorted(twin.grow_diag(forward, reverse))


def test_worked_cases() -> None:
    # 1-1 is certain; 2-1 and 2-2 are next to it and link new words; 4-0, 4-4 and 6-4 touch nothing.
    forward, reverse = [(1, 1), (2, 2), (4, 0)], [(1, 1), (2, 1), (4, 4), (6, 4)]
    assert grow_diag(forward, reverse) == [(1, 1), (2, 1), (2, 2)]
    assert grow_diag_final_and(forward, reverse) == [(1, 1), (2, 1), (2, 2), (4, 0), (6, 4)]
    assert grow_diag_final(forward, reverse) == [(1, 1), (2, 1), (2, 2), (4, 0), (4, 4), (6, 4)]
    assert union([], []) == grow_diag_final_and([], []) == []
