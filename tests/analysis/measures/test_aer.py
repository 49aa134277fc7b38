"""AER against cases worked out by hand, a brute-force twin, and its laws; gold sets, by name and by derivation."""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.analysis.measures.aer import SETS, gold_set, read_pairs, reliability, score, score_all, score_each
from calque.analysis.records.record import LinkCounts
from calque.analysis.report.table import aer_table
from calque.derive.build import derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.errors import BadInput
from calque.derive.languages import Languages
from calque.derive.order import Invert, Permute
from calque.derive.pocket.language import Pocket
from calque.derive.readers.links import GoldPair, Link
from calque.derive.script import Cognates, Transliterate
from calque.derive.sentence import Sentence
from calque.derive.sources.pocket import PocketEnglish, Sizes
from calque.derive.transform import Transform, compose

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
    pairs: list[tuple[GoldPair, frozenset[Link], frozenset[Link]]],
) -> None:
    known, one, other = ([row[i] for row in pairs] for i in range(3))
    both = score_each(known, zip(one, other, strict=True), 2)  # type: ignore[arg-type]
    assert [sum(counts, LinkCounts()) for counts in both] == [score_all(known, one), score_all(known, other)]  # type: ignore[arg-type]


def test_an_aligner_without_links_for_a_pair_is_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        score_each([gold([(0, 0)], [])], [[[(0, 0)]]], 2)
    with pytest.raises(ValueError, match="shorter"):
        score_each([gold([(0, 0)], [])] * 2, [[[(0, 0)]]], 1)


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
@given(link_sets.filter(bool))
def test_gold_links_themselves_are_without_error(links: frozenset[Link]) -> None:
    found = score(GoldPair(links, links), links)
    assert (found.aer, found.precision, found.recall, found.f1) == (0, 1, 1, 1)


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
@given(golds(), link_sets, st.sampled_from(CELLS))
def test_predicting_a_possible_link_more_never_raises_the_error(
    links: GoldPair, predicted: frozenset[Link], link: Link
) -> None:
    before = score(links, predicted).aer
    allowed = GoldPair(links.sure, links.possible | {link})
    after, granted = score(allowed, predicted | {link}).aer, score(allowed, predicted).aer
    assert before is None or (granted is not None and granted <= before + 1e-12)  # gold allows more
    assert granted is None or (after is not None and after <= granted + 1e-12)  # and it is predicted


@law
@given(golds(), link_sets, st.sampled_from(CELLS))
def test_predicting_a_wrong_link_more_never_lowers_the_error(
    links: GoldPair, predicted: frozenset[Link], link: Link
) -> None:
    before, after = score(links, predicted).aer, score(links, predicted | {link}).aer
    assert link in links.possible or before is None or (after is not None and after >= before - 1e-12)


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


FEW = Sizes(4, 2, 2)
SOURCE = PocketEnglish(language=Pocket(types=300), size=300, pos=FEW, ner=FEW, nli=FEW)
TRANSFORMS = (
    compose(Transliterate(), Invert()),
    compose(Transliterate(0.5), Permute(3)),
    Invert(0.5),
)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studies")
    return derive_languages(SOURCE, TRANSFORMS, 400, DictionaryConfig(), folder / "study", folder / "cache")


def sentences() -> list[tuple[int, Sentence]]:
    """The corpus with the numbers that transforms draw from."""
    found = enumerate(SOURCE.chunks())
    return [((i << 32) + n, s) for i, chunk in found for n, s in enumerate(SOURCE.sentences(chunk)[0]) if s.words]


def check_words_and_links(folder: Path, transform: Transform, kept: list[tuple[int, Sentence]]) -> None:
    """Pairs are the sentences and their images, linked as the transform moved their words."""
    languages = Languages.open(folder, [transform.name])
    bitext, text = languages.bitext("source", transform.name), languages.vocabulary.text
    assert len(bitext) == len(kept)
    for pair, (number, sentence) in enumerate(kept):
        image, (line, _) = transform(sentence, number), bitext.lines[pair]
        ends = np.cumsum(bitext.first.corpus.line_pieces(line))[:-1]
        words = tuple(text(ids.tolist()) for ids in np.split(bitext.first.corpus[line], ends))
        links = bitext.links(pair).tolist()
        assert words == sentence.words
        assert sorted(map(tuple, links)) == sorted((old, new) for new, old in enumerate(image.origin))
        assert tuple(words[old] for old, _ in sorted(links, key=itemgetter(1))) == image.words


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: transform.name)
def test_words_and_links_are_those_of_the_sentence_and_its_image(study: Path, transform: Transform) -> None:
    check_words_and_links(study, transform, sentences())


def test_words_that_share_stems_are_linked(tmp_path: Path) -> None:
    shared = compose(Cognates(), Invert())
    folder = derive_languages(SOURCE, [shared], 400, DictionaryConfig(), tmp_path / "study", tmp_path / "cache")
    check_words_and_links(folder, shared, sentences())


@dataclass(frozen=True)
class Halves(PocketEnglish):
    """Derived languages lack the first half."""

    def chunks(self) -> Iterator[tuple[int, int]]:
        yield from ((0, 150), (1, 150))

    def has_images(self, chunk: tuple[int, int]) -> bool:
        return chunk[0] == 1


def test_sentences_of_the_source_alone_are_no_pairs(tmp_path: Path) -> None:
    source = Halves(language=Pocket(types=300), size=300, pos=FEW, ner=FEW, nli=FEW)
    folder = derive_languages(source, [Invert(0.5)], 400, DictionaryConfig(), tmp_path / "study", tmp_path / "cache")
    kept = enumerate((s for s in source.sentences((1, 150))[0] if s.words), start=1 << 32)
    check_words_and_links(folder, Invert(0.5), list(kept))


def write_set(folder: Path, **files: str) -> Path:
    texts = {"test.de": "ein Haus\nja\n", "test.en": "a house\nyes\n", "alignv2.txt": "0 1 1 S\n0 2 2 P\n1 1 1\n"}
    (folder / "de-en").mkdir()
    for name, text in (texts | files).items():
        (folder / "de-en" / name).write_text(text, encoding="utf-8")
    return folder


def test_a_set_and_its_counts(tmp_path: Path) -> None:
    found = gold_set(write_set(tmp_path), "de-en")
    assert found.pairs == ((("ein", "Haus"), ("a", "house")), (("ja",), ("yes",)))
    assert [sorted(links.possible - links.sure) for links in found.gold.pairs] == [[(1, 1)], []]
    assert found.counts == {
        "sentence pairs": 2,
        "source words": 3,
        "target words": 3,
        "sure links": 2,
        "other possible links": 1,
    }


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


def test_pairs_are_parted_by_any_white_space(tmp_path: Path) -> None:
    folder = write_set(tmp_path, **{"test.de": "ein  Haus \nja\n"}) / "de-en"
    assert read_pairs(folder / "test.de", folder / "test.en")[0] == (("ein", "Haus"), ("a", "house"))


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
