"""AER against cases worked out by hand, a brute-force twin, and its laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.measures.aer import score, score_all, score_each
from analysis.records.record import LinkCounts
from analysis.report.table import aer_table
from derive.readers.gold import GoldLinks, Link

law = settings(max_examples=100)
N, M = 4, 5
CELLS = [(i, j) for i in range(N) for j in range(M)]
link_sets = st.frozensets(st.sampled_from(CELLS), max_size=8)


@st.composite
def golds(draw: st.DrawFn) -> GoldLinks:
    sure = draw(link_sets)
    return GoldLinks(sure, sure | draw(link_sets))


def gold(sure: list[Link], possible: list[Link]) -> GoldLinks:
    return GoldLinks(frozenset(sure), frozenset(sure + possible))


@pytest.mark.parametrize(
    ("sure", "possible", "predicted", "aer", "precision", "recall", "f1"),
    [
        # |A| = 3, |S| = 2, one sure and two possible ones among the three: 1 - (1 + 2) / 5.
        ([(0, 0), (1, 1)], [(2, 1)], [(0, 0), (2, 1), (3, 3)], 0.4, 2 / 3, 1 / 2, 4 / 7),
        # Both sure links and nothing else: possible ones need not be found.
        ([(0, 0), (1, 1)], [(2, 1)], [(0, 0), (1, 1)], 0, 1, 1, 1),
        # A possible link beside them costs nothing either.
        ([(0, 0), (1, 1)], [(2, 1)], [(0, 0), (1, 1), (2, 1)], 0, 1, 1, 1),
        # Possible ones alone: 1 - (0 + 1) / (1 + 2).
        ([(0, 0), (1, 1)], [(2, 1)], [(2, 1)], 2 / 3, 1, 0, 0),
        # All wrong, and nothing at all.
        ([(0, 0)], [], [(0, 1), (1, 0)], 1, 0, 0, 0),
        ([(0, 0)], [], [], 1, None, 0, None),
        ([], [(0, 0)], [(0, 0)], 0, 1, None, None),
        ([], [], [], None, None, None, None),
    ],
)
def test_worked_by_hand(
    sure: list[Link],
    possible: list[Link],
    predicted: list[Link],
    aer: float | None,
    precision: float | None,
    recall: float | None,
    f1: float | None,
) -> None:
    found = score(gold(sure, possible), predicted)
    measures = (found.aer, found.precision, found.recall, found.f1)
    for measure, expected in zip(measures, (aer, precision, recall, f1), strict=True):
        assert measure == (None if expected is None else pytest.approx(expected))


def test_a_corpus_is_the_sum_of_its_pairs_not_the_mean() -> None:
    golds = [gold([(0, 0)], []), gold([(0, 0), (1, 1), (2, 2)], [(3, 3)])]
    links = [[(0, 1)], [(0, 0), (1, 1), (3, 3)]]
    total = score_all(golds, links)
    # A = 4, S = 4, A and S = 2, A and P = 3; the mean of the pairs' rates would be (1 + 1/6) / 2.
    assert total == LinkCounts(2, 4, 4, 2, 3)
    assert total.aer == pytest.approx(1 - 5 / 8)
    assert (total.precision, total.recall) == (3 / 4, 2 / 4)
    assert total == score(golds[0], links[0]) + score(golds[1], links[1])


def test_a_link_predicted_twice_counts_once() -> None:
    assert score(gold([(0, 0)], []), [(0, 0), (0, 0)]) == LinkCounts(1, 1, 1, 1, 1)


def test_unequal_numbers_of_sentence_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        score_all([gold([(0, 0)], [])] * 2, iter([[(0, 0)]]))


def test_the_table_has_a_row_a_set_and_their_micro_average() -> None:
    scores = {"a": LinkCounts(2, 4, 4, 2, 3), "b": LinkCounts(1, 0, 0, 0, 0)}
    table = aer_table(scores, "links")
    assert table.rows == (
        ("a", "2", "37.50", "75.00", "50.00", "60.00", "4", "4"),
        ("b", "1", "–", "–", "–", "–", "0", "0"),
        ("all (micro)", "3", "37.50", "75.00", "50.00", "60.00", "4", "4"),
    )
    assert len(aer_table({"a": scores["a"]}, "links").rows) == 1


@law
@given(st.lists(st.tuples(golds(), link_sets, link_sets), max_size=4))
def test_several_aligners_are_scored_as_each_alone(
    pairs: list[tuple[GoldLinks, frozenset[Link], frozenset[Link]]],
) -> None:
    known, one, other = ([row[i] for row in pairs] for i in range(3))
    both = score_each(known, zip(one, other, strict=True), 2)  # type: ignore[arg-type]
    assert both == [score_all(known, one), score_all(known, other)]  # type: ignore[arg-type]


def test_an_aligner_without_links_for_a_pair_is_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        score_each([gold([(0, 0)], [])], [[[(0, 0)]]], 2)
    with pytest.raises(ValueError, match="shorter"):
        score_each([gold([(0, 0)], [])] * 2, [[[(0, 0)]]], 1)


@law
@given(st.lists(st.tuples(golds(), link_sets), max_size=4))
def test_a_twin_on_matrices_says_the_same(pairs: list[tuple[GoldLinks, frozenset[Link]]]) -> None:
    def matrix(links: frozenset[Link]) -> np.ndarray:
        cells = np.zeros((N, M), bool)
        for i, j in links:
            cells[i, j] = True
        return cells

    a, s, p = (
        np.array([matrix(links) for links in column]).reshape(-1, N, M)
        for column in ([links for _, links in pairs], [g.sure for g, _ in pairs], [g.possible for g, _ in pairs])
    )
    found = score_all([g for g, _ in pairs], [sorted(links) for _, links in pairs])
    if a.sum() + s.sum():
        assert found.aer == pytest.approx(1 - ((a & s).sum() + (a & p).sum()) / (a.sum() + s.sum()))
    else:
        assert found.aer is None
    assert found.precision == (pytest.approx((a & p).sum() / a.sum()) if a.any() else None)
    assert found.recall == (pytest.approx((a & s).sum() / s.sum()) if s.any() else None)


@law
@given(link_sets.filter(bool))
def test_gold_links_themselves_are_without_error(links: frozenset[Link]) -> None:
    found = score(GoldLinks(links, links), links)
    assert (found.aer, found.precision, found.recall, found.f1) == (0, 1, 1, 1)


@law
@given(golds(), link_sets)
def test_all_measures_are_shares_and_aer_is_one_minus_f1_where_all_is_sure(
    links: GoldLinks, predicted: frozenset[Link]
) -> None:
    found = score(links, predicted)
    for measure in (found.aer, found.precision, found.recall, found.f1):
        assert measure is None or 0 <= measure <= 1
    exact = score(GoldLinks(links.possible, links.possible), predicted)
    if exact.f1 is not None and exact.aer is not None:
        assert exact.aer == pytest.approx(1 - exact.f1)


@law
@given(golds(), link_sets, st.sampled_from(CELLS))
def test_predicting_a_possible_link_more_never_raises_the_error(
    links: GoldLinks, predicted: frozenset[Link], link: Link
) -> None:
    before = score(links, predicted).aer
    allowed = GoldLinks(links.sure, links.possible | {link})
    after, granted = score(allowed, predicted | {link}).aer, score(allowed, predicted).aer
    assert before is None or (granted is not None and granted <= before + 1e-12)  # gold allows more
    assert granted is None or (after is not None and after <= granted + 1e-12)  # and it is predicted


@law
@given(golds(), link_sets, st.sampled_from(CELLS))
def test_predicting_a_wrong_link_more_never_lowers_the_error(
    links: GoldLinks, predicted: frozenset[Link], link: Link
) -> None:
    before, after = score(links, predicted).aer, score(links, predicted | {link}).aer
    assert link in links.possible or before is None or (after is not None and after >= before - 1e-12)


@law
@given(st.lists(st.tuples(golds(), link_sets), min_size=1, max_size=5))
def test_the_error_of_a_corpus_lies_between_those_of_its_pairs(pairs: list[tuple[GoldLinks, frozenset[Link]]]) -> None:
    rates = [rate for pair in pairs if (rate := score(*pair).aer) is not None]
    whole = score_all([g for g, _ in pairs], [links for _, links in pairs]).aer
    assert (whole is None) == (not rates)
    assert whole is None or min(rates) - 1e-12 <= whole <= max(rates) + 1e-12


@law
@given(golds(), link_sets)
def test_turning_everything_round_changes_nothing(links: GoldLinks, predicted: frozenset[Link]) -> None:
    def back(links: frozenset[Link]) -> frozenset[Link]:
        return frozenset((j, i) for i, j in links)

    assert score(links, predicted) == score(GoldLinks(back(links.sure), back(links.possible)), back(predicted))
