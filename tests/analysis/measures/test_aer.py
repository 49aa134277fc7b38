import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.analysis.measures.word_alignment import SETS, gold_set, score_all
from calque.derive.errors import BadInput
from calque.derive.readers.parallel import GoldPair

law = settings(max_examples=100)
N, M = 4, 5
CELLS = [(i, j) for i in range(N) for j in range(M)]
link_sets = st.frozensets(st.sampled_from(CELLS), max_size=8)


@st.composite
def golds(draw):
    sure = draw(link_sets)
    return GoldPair(sure, sure | draw(link_sets))


@law
@given(st.lists(st.tuples(golds(), link_sets), max_size=4))
def test_error_rates_equal_matrix_formulas(pairs):
    def matrix(links):
        cells = np.zeros((N, M), bool)
        for i, j in links:
            cells[i, j] = True
        return cells

    columns = [links for _, links in pairs], [g.sure for g, _ in pairs], [g.possible for g, _ in pairs]
    a, s, p = (np.array([matrix(links) for links in column], bool).reshape(-1, N, M) for column in columns)
    found = score_all([g for g, _ in pairs], [sorted(links) for _, links in pairs])
    if a.sum() + s.sum():
        assert found.aer == pytest.approx(1 - ((a & s).sum() + (a & p).sum()) / (a.sum() + s.sum()))
    else:
        assert found.aer is None
    assert found.precision == (pytest.approx((a & p).sum() / a.sum()) if a.any() else None)
    assert found.recall == (pytest.approx((a & s).sum() / s.sum()) if s.any() else None)
    if (a & p).any() and (a & s).any():
        assert 2 / found.f1 == pytest.approx(1 / found.precision + 1 / found.recall)


def write_set(folder, **files):
    texts = {
        "test.de": "ein Haus\nja\n",
        "test.en": "a house\nyes\n",
        "alignv2.txt": "0 1 1 S\n0 2 2 P\n1 1 1\n",
    }
    (folder / "de-en").mkdir()
    for name, text in (texts | files).items():
        (folder / "de-en" / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"test.en": "a house\n"}, r"test\.en: 1 lines, but .*test\.de has 2"),
        ({"test.en": "a house\n \n"}, r"test\.en:2: the line has no words"),
        ({"alignv2.txt": "0 1 1 S\n1 1\n"}, r"alignv2\.txt:2: '1 1' is not a link"),
    ],
)
def test_mismatched_gold_files_are_rejected(tmp_path, files, message):
    with pytest.raises(BadInput, match=message):
        gold_set(write_set(tmp_path, **files), "de-en")
    with pytest.raises(BadInput, match="no such file"):
        gold_set(tmp_path, "en-fr")


def test_real_gold_sets(calque_data):
    sets = {name: gold_set(calque_data / "align", name) for name in SETS}
    kinds = ("sure links", "other possible links", "links outside their sentences", "links that occur twice")
    assert {name: (len(one.pairs), *map(one.counts.__getitem__, kinds)) for name, one in sets.items()} == {
        "de-en": (508, 9_612, 921, 1, 0),
        "en-fr": (447, 4_038, 13_400, 0, 0),
        "ro-en": (199, 5_033, 0, 0, 1),
        "en-hi": (90, 1_408, 0, 1, 0),
    }  # 1,244 pairs, as XLM-Align's section 4.3 says
    assert not any(one.counts["sentence pairs without a link"] for one in sets.values())
    assert "alignv2.txt:3728: the link 22 -99, counted from 1" in sets["de-en"].gold.outside[0]
    assert "the link 33 34, counted from 1" in sets["en-hi"].gold.outside[0]
    for one in sets.values():
        assert score_all(one.gold.pairs, [pair.sure for pair in one.gold.pairs]).aer == 0
