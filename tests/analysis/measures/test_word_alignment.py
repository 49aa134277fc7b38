import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import RobertaModel

from calque.analysis.aligners import METHODS
from calque.analysis.measures.word_alignment import PAIRS, SETS, GoldSet, gold_links, gold_set, pair_links
from calque.analysis.records.aer import score_all
from calque.analysis.records.record import AER, MeasuredModel, Record
from calque.derive.errors import BadInput
from calque.derive.languages import Languages
from calque.derive.order import Invert
from calque.derive.readers.parallel import Gold, GoldPair
from calque.derive.transform import compose
from calque.derive.transforms import Transliterate
from calque.derive.vocabulary import OURS
from calque.derive.word_links import StatisticalAligner
from calque.pretrain.transport import itermax, sinkhorn
from tests.analysis.conftest import opened
from tests.pocket import derive_pocket


@pytest.fixture
def gold(sentence_pairs):
    links = []
    for source, target in sentence_pairs:
        diagonal = [(i, i) for i in range(min(len(source), len(target)))]
        sure = frozenset((i, j) for i, j in diagonal if source[i][0] < target[j][0])
        links.append(GoldPair(sure, frozenset(diagonal)))
    return Gold(tuple(links), (), {})


@pytest.mark.parametrize("family", ["roberta", "bert"])
def test_one_pass_equals_separate_aligners(family, gold, sentence_pairs, request):
    folder = request.getfixturevalue(family)
    texts = GoldSet("toy", tuple(sentence_pairs), gold)
    measurement = gold_links(MeasuredModel(folder, "run"), texts, METHODS)
    assert [(row.layer, row.joint, row.aligner) for row in measurement.records] == [
        (layer, False, method.name) for layer in range(4) for method in METHODS
    ]
    assert not measurement.exclusions
    methods = {method.name: method for method in METHODS}
    for row in measurement.records:
        aligner = opened(folder, methods[row.aligner], row.layer, joint=False)
        assert row.links == score_all(gold.pairs, aligner.align(sentence_pairs))


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
    _, precision, recall, f1 = found.rates
    assert precision == (pytest.approx((a & p).sum() / a.sum()) if a.any() else None)
    assert recall == (pytest.approx((a & s).sum() / s.sum()) if s.any() else None)
    if (a & p).any() and (a & s).any():
        assert 2 / f1 == pytest.approx(1 / precision + 1 / recall)


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


KINDS = ("sure", "possible")


def test_real_gold_sets(calque_data):
    sets = {name: gold_set(calque_data / "align", name) for name in SETS}
    found = {}
    for name, one in sets.items():
        sure, possible = (sum(len(getattr(pair, kind)) for pair in one.gold.pairs) for kind in KINDS)
        irregular = (
            one.gold.counts[kind] for kind in ("links outside their sentences", "links that occur twice")
        )
        found[name] = len(one.pairs), sure, possible - sure, *irregular
    assert found == {
        "de-en": (508, 9_612, 921, 1, 0),
        "en-fr": (447, 4_038, 13_400, 0, 0),
        "ro-en": (199, 5_033, 0, 0, 1),
        "en-hi": (90, 1_408, 0, 1, 0),
    }  # 1,244 pairs, as XLM-Align's section 4.3 says
    assert not any(one.gold.counts["sentence pairs without a link"] for one in sets.values())
    assert "alignv2.txt:3728: the link 22 -99, counted from 1" in sets["de-en"].gold.outside[0]
    assert "the link 33 34, counted from 1" in sets["en-hi"].gold.outside[0]
    for one in sets.values():
        assert score_all(one.gold.pairs, [pair.sure for pair in one.gold.pairs]).aer == 0
    rates = {}
    for name, one in sets.items():  # fast_align, trained on the sets alone
        pairs = [tuple(tuple(map(str.lower, side)) for side in pair) for pair in one.pairs]
        links = StatisticalAligner.train(pairs).align(pairs)
        rates[name] = round(100 * score_all(one.gold.pairs, links).aer, 2)
    assert rates == {"de-en": 47.90, "en-fr": 29.29, "ro-en": 51.45, "en-hi": 76.85}


SEED, STEP = 5, 400
LENGTH = 32


def model_of(checkpoint, language=""):
    return MeasuredModel(checkpoint, "run", language, SEED, STEP)


def derived(checkpoint, study, language):
    return pair_links(model_of(checkpoint, language), Languages.open(study, [language]), language).records


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    transforms = Transliterate(), compose(Transliterate(), Invert())
    return derive_pocket(tmp_path_factory.mktemp("studies"), *transforms, sentences=120)


def test_contextual_alignment_equals_pair_by_pair(study, make_checkpoint):
    types = 2 * len(np.load(study / "trans.inv" / "image.npy"))
    checkpoint = make_checkpoint(types, languages=3, length=LENGTH)
    model = RobertaModel.from_pretrained(checkpoint, add_pooling_layer=False).eval()
    room = LENGTH - 3
    languages = Languages.open(study, ["trans.inv"])
    bitext = languages.bitext("source", "trans.inv")
    every = []
    for number in bitext.order(SEED)[::-1].tolist():
        (source, derived_ids), (line, other) = bitext.ids(number), bitext.lines[number]
        if len(source) + len(derived_ids) <= room and len(every) < PAIRS:
            pieces = bitext.first.corpus.pieces[line], bitext.second.corpus.pieces[other]
            gold = frozenset((int(i), int(j)) for i, j in bitext.links(number))
            every.append(((source, derived_ids), pieces, gold))
    links = []
    for sides, counts, _ in every:
        states = []
        for language, ids in enumerate(sides):
            row = torch.tensor([[OURS.start, *ids.tolist(), OURS.end]])
            with torch.no_grad():
                states.append(
                    model(row, token_type_ids=torch.full_like(row, language)).last_hidden_state[:, 1:-1]
                )
        products = states[0] @ states[1].transpose(1, 2)
        masks = [torch.ones(1, side.shape[1], dtype=torch.bool) for side in states]
        cells = itermax(sinkhorn(products, *masks), *masks)[:, 1:].tolist()
        words = [np.repeat(np.arange(len(pieces)), pieces) for pieces in counts]
        links.append({(int(words[0][i]), int(words[1][j])) for i, j in cells})
    golds = [GoldPair(gold, gold) for *_, gold in every]
    made = derived(checkpoint, study, "trans.inv")
    (found,) = (r for r in made if (r.layer, r.joint) == (1, False))
    value, count = score_all(golds, links).aer, sum(len(gold) for *_, gold in every)
    assert found == Record("run", AER, "aer", value, count, language="trans.inv", layer=1, step=STEP)
