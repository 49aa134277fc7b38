import numpy as np
import pytest

from calque.derive.corpus import NOWHERE
from calque.derive.languages import Languages
from calque.derive.word_links import FastAlign, estimate_links, grow_diag_final_and, with_links
from tests.translation import SIZE, made, write_translation


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_translation(made(), "xx", SIZE, tmp_path_factory.mktemp("made") / "pair")


def test_every_line_is_paired_with_its_translation(folder):
    languages = Languages.open(folder, ["xx"])
    (bitext,), vocabulary = languages.bitexts, languages.vocabulary
    assert len(bitext) == 300 and not bitext.gold
    for line, pair in enumerate(made()):
        assert tuple(map(vocabulary.text, bitext.ids(line))) == tuple(map(" ".join, pair))
        assert bitext.first.corpus.origin[line].tolist() == list(range(len(pair[0])))
        assert (bitext.second.corpus.origin[line] == NOWHERE).all()


def test_translations_have_links_only_when_estimated(tmp_path):
    random = np.random.default_rng(0)
    lines = [random.integers(0, 30, random.integers(2, 9)).tolist() for _ in range(400)]
    pairs = [(tuple(f"ab{w}" for w in line), tuple(f"cd{w}" for w in line)) for line in lines]
    languages = Languages.open(write_translation(pairs, "xx", 300, tmp_path / "data"), ["xx"])
    bitext = languages.bitext("source", "xx")
    assert not bitext.linked and not bitext.gold
    assert len(bitext.links(0)) == len(bitext.piece_links(0)) == 0
    assert bitext.targets(0).tolist() == [-1] * len(bitext.ids(0)[0])

    folder = estimate_links(languages, "source", "xx", tmp_path / "links")
    linked = with_links(languages, folder).bitext("source", "xx")
    assert linked.linked and not linked.gold
    expected = [np.stack([np.arange(len(line))] * 2, 1) for line in lines]
    assert np.mean([np.array_equal(linked.links(p), links) for p, links in enumerate(expected)]) > 0.9
    models = [FastAlign.train(pairs, reverse=turned) for turned in (False, True)]
    both = zip(*(model.align(pairs) for model in models), strict=True)
    for pair, (forward, reverse) in enumerate(both):  # words are identified by ids, which changes nothing
        assert list(map(tuple, linked.links(pair).tolist())) == grow_diag_final_and(forward, reverse)
    for pair in range(50):  # an id's target is its first link, from either side
        links = linked.piece_links(pair).tolist()
        sizes = map(len, linked.ids(pair))
        for turned, size in zip((False, True), sizes, strict=True):
            asked = [link[::-1] if turned else link for link in links]
            told = [sorted(other for mine, other in asked if mine == i) for i in range(size)]
            assert linked.targets(pair, turned).tolist() == [others[0] if others else -1 for others in told]
