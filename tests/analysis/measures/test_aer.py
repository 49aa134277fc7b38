"""AER against cases worked out by hand, a brute-force twin, and its laws; gold sets, by name and by derivation."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.analysis.measures.aer import SETS, gold_set, reliability, score, score_all, score_each
from calque.analysis.records.record import LinkCounts
from calque.derive.errors import BadInput
from calque.derive.readers.links import GoldPair, Link

law = settings(max_examples=100)
N, M = 4, 5
CELLS = [(i, j) for i in range(N) for j in range(M)]
link_sets = st.frozensets(st.sampled_from(CELLS), max_size=8)


@st.composite
def golds(draw: st.DrawFn) -> GoldPair:
    sure = draw(link_sets)
    return GoldPair(sure, sure | draw(link_sets))


def gold(sure: list[Link], possible: list[Link]) -> GoldPair:
    return GoldPair(frozenset(sure), frozenset(sure + possible))


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


@law
@given(st.lists(st.tuples(golds(), link_sets, link_sets), max_size=4))
def test_several_aligners_are_scored_as_each_alone(
    pairs: list[tuple[GoldPair, frozenset[Link], frozenset[Link]]],
) -> None:
    known, one, other = ([row[i] for row in pairs] for i in range(3))
    both = score_each(known, zip(one, other, strict=True), 2)  # type: ignore[arg-type]
    assert [sum(counts, LinkCounts()) for counts in both] == [score_all(known, one), score_all(known, other)]  # type: ignore[arg-type]


@law
@given(st.lists(st.tuples(golds(), link_sets), max_size=4))
def test_a_twin_on_matrices_says_the_same(pairs: list[tuple[GoldPair, frozenset[Link]]]) -> None:
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
@given(golds(), link_sets)
def test_all_measures_are_shares_and_aer_is_one_minus_f1_where_all_is_sure(
    links: GoldPair, predicted: frozenset[Link]
) -> None:
    found = score(links, predicted)
    for measure in (found.aer, found.precision, found.recall, found.f1):
        assert measure is None or 0 <= measure <= 1
    exact = score(GoldPair(links.possible, links.possible), predicted)
    if exact.f1 is not None and exact.aer is not None:
        assert exact.aer == pytest.approx(1 - exact.f1)


@law
@given(st.lists(st.tuples(golds(), link_sets), min_size=1, max_size=5))
def test_the_error_of_a_corpus_lies_between_those_of_its_pairs(pairs: list[tuple[GoldPair, frozenset[Link]]]) -> None:
    rates = [rate for pair in pairs if (rate := score(*pair).aer) is not None]
    whole = score_all([g for g, _ in pairs], [links for _, links in pairs]).aer
    assert (whole is None) == (not rates)
    assert whole is None or min(rates) - 1e-12 <= whole <= max(rates) + 1e-12


@law
@given(golds(), link_sets)
def test_turning_everything_round_changes_nothing(links: GoldPair, predicted: frozenset[Link]) -> None:
    def back(links: frozenset[Link]) -> frozenset[Link]:
        return frozenset((j, i) for i, j in links)

    assert score(links, predicted) == score(GoldPair(back(links.sure), back(links.possible)), back(predicted))


def write_set(folder: Path, **files: str) -> Path:
    texts = {"test.de": "ein Haus\nja\n", "test.en": "a house\nyes\n", "alignv2.txt": "0 1 1 S\n0 2 2 P\n1 1 1\n"}
    (folder / "de-en").mkdir()
    for name, text in (texts | files).items():
        (folder / "de-en" / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"test.en": "a house\n"}, r"test\.en: 1 lines for the 2 of .*test\.de"),
        ({"test.en": "a house\n \n"}, r"test\.en:2: a line without words"),
        ({"alignv2.txt": "0 1 1 S\n1 1\n"}, r"alignv2\.txt:2: '1 1' is not a link"),
    ],
)
def test_a_set_whose_files_do_not_fit_is_refused(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        gold_set(write_set(tmp_path, **files), "de-en")
    with pytest.raises(BadInput, match="no such file"):
        gold_set(tmp_path, "en-fr")


def test_the_four_real_sets(calque_data: Path) -> None:
    sets = {name: gold_set(calque_data / "align", name) for name in SETS}
    assert {name: len(one.pairs) for name, one in sets.items()} == {
        "de-en": 508,
        "en-fr": 447,
        "ro-en": 199,
        "en-hi": 90,
    }
    assert sum(len(one.pairs) for one in sets.values()) == 1_244  # as XLM-Align's section 4.3 says
    assert {name: (one.counts["sure links"], one.counts["other possible links"]) for name, one in sets.items()} == {
        "de-en": (9_612, 921),
        "en-fr": (4_038, 13_400),
        "ro-en": (5_033, 0),
        "en-hi": (1_408, 0),
    }
    assert {name: one.counts["links outside their sentences"] for name, one in sets.items()} == {
        "de-en": 1,
        "en-fr": 0,
        "ro-en": 0,
        "en-hi": 1,
    }
    assert {name: one.counts["links that stand twice"] for name, one in sets.items()} == {
        "de-en": 0,
        "en-fr": 0,
        "ro-en": 1,
        "en-hi": 0,
    }
    assert not any(one.counts["sentence pairs without a link"] for one in sets.values())
    assert "alignv2.txt:3728: the link 22 -99, counted from 1" in sets["de-en"].gold.outside[0]
    assert "the link 33 34, counted from 1" in sets["en-hi"].gold.outside[0]
    for one in sets.values():
        assert score_all(one.gold.pairs, [pair.sure for pair in one.gold.pairs]).aer == 0


@given(st.lists(st.tuples(st.floats(0, 1, width=32), st.booleans()), max_size=40), st.integers(1, 12))
def test_reliability_is_a_loop_over_bins(links: list[tuple[float, bool]], bins: int) -> None:
    """Guo et al. (2017), equations 2 and 3, for links in one sentence pair."""
    scored = {(place, 0): score for place, (score, _) in enumerate(links)}
    possible = frozenset((place, 0) for place, (_, is_correct) in enumerate(links) if is_correct)
    found, error = reliability([GoldPair(frozenset(), possible)], [scored], bins)
    expected = 0.0
    for number in range(bins):
        inside = [(s, c) for s, c in links if int(min(s * bins, bins - 1)) == number]
        if inside:
            scores, correct = zip(*inside, strict=True)
            expected += abs(sum(scores) - sum(correct)) / len(links)
            (own,) = (each for each in found if each.low == number / bins)
            assert (own.links, own.correct) == (len(inside), sum(correct))
            assert own.score == pytest.approx(np.mean(scores))
    assert error == pytest.approx(expected) and sum(each.links for each in found) == len(links)


def test_scores_that_are_no_probabilities_have_no_reliability() -> None:
    with pytest.raises(ValueError, match=r"scores from 0\.5 to 1\.5"):
        reliability([GoldPair(frozenset(), frozenset())], [{(0, 0): 1.5, (0, 1): 0.5}])
