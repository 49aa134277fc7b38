"""The laws of symmetrisation."""

from hypothesis import given
from hypothesis import strategies as st

from calque.derive.links.aligner import Links
from calque.derive.links.symmetrise import (
    SYMMETRISATIONS,
    grow_diag,
    grow_diag_final,
    grow_diag_final_and,
    intersect,
    union,
)
from tests.derive.links import twin

METHODS = tuple(SYMMETRISATIONS.values())
WORDS = 7


def links(sides: st.SearchStrategy[dict[int, int]], turned: bool) -> st.SearchStrategy[Links]:
    return sides.map(lambda side: sorted((i, j) if turned else (j, i) for i, j in side.items()))


PLACES = st.dictionaries(st.integers(0, WORDS - 1), st.integers(0, WORDS - 1))
FORWARD, REVERSE = links(PLACES, turned=False), links(PLACES, turned=True)
ANY = st.sets(st.tuples(st.integers(0, WORDS - 1), st.integers(0, WORDS - 1))).map(sorted)


@given(FORWARD | ANY, REVERSE | ANY)
def test_each_holds_the_one_before(forward: Links, reverse: Links) -> None:
    least, grown, both, either, most = (
        set(method(forward, reverse)) for method in (intersect, grow_diag, grow_diag_final_and, grow_diag_final, union)
    )
    assert least == set(forward) & set(reverse)
    assert most == set(forward) | set(reverse)
    assert least <= grown <= both <= most
    assert grown <= either <= most


@given(FORWARD | ANY, REVERSE | ANY)
def test_links_are_sorted_and_distinct(forward: Links, reverse: Links) -> None:
    for method in METHODS:
        found = method(forward, reverse)
        assert found == sorted(set(found))


@given(ANY)
def test_what_both_say_stays(same: Links) -> None:
    assert all(method(same, same) == same for method in METHODS)


@given(FORWARD | ANY, REVERSE | ANY)
def test_growing_does_not_ask_which_direction_said_it(forward: Links, reverse: Links) -> None:
    for method in (union, intersect, grow_diag):
        assert method(forward, reverse) == method(reverse, forward)


@given(FORWARD | ANY, REVERSE | ANY)
def test_union_and_intersection_do_not_ask_which_side_is_the_source(forward: Links, reverse: Links) -> None:
    def turned(links: Links) -> Links:
        return sorted((j, i) for i, j in links)

    for method in (union, intersect):
        assert method(turned(forward), turned(reverse)) == turned(method(forward, reverse))


@given(FORWARD | ANY, REVERSE | ANY)
def test_growing_by_the_letter(forward: Links, reverse: Links) -> None:
    assert grow_diag(forward, reverse) == sorted(twin.grow_diag(forward, reverse))


@given(FORWARD, REVERSE)
def test_final_leaves_no_word_alone_that_a_direction_linked(forward: Links, reverse: Links) -> None:
    found = grow_diag_final(forward, reverse)
    assert {i for i, _ in found} == {i for i, _ in union(forward, reverse)}
    assert {j for _, j in found} == {j for _, j in union(forward, reverse)}


def test_worked_cases() -> None:
    # 1-1 is certain; 2-1 and 2-2 are next to it and link new words; 4-0, 4-4 and 6-4 touch nothing.
    forward, reverse = [(1, 1), (2, 2), (4, 0)], [(1, 1), (2, 1), (4, 4), (6, 4)]
    assert grow_diag(forward, reverse) == [(1, 1), (2, 1), (2, 2)]
    assert grow_diag_final_and(forward, reverse) == [(1, 1), (2, 1), (2, 2), (4, 0), (6, 4)]
    assert grow_diag_final(forward, reverse) == [(1, 1), (2, 1), (2, 2), (4, 0), (4, 4), (6, 4)]
    assert union([], []) == grow_diag_final_and([], []) == []
