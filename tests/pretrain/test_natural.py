from dataclasses import replace

import numpy as np
import pytest

from calque.derive.errors import BadInput
from calque.derive.languages import Languages
from calque.derive.word_links import estimate_links, intersect, with_links
from calque.pretrain.objectives.xlm import XLMAlign
from calque.pretrain.run import METRICS, Pretraining, read_metrics
from tests.pretrain.made import MODEL, TRAIN, pairs_of, pretrain
from tests.translation import SIZE, made, write_translation

LONG = replace(MODEL, length=128)
FEW = replace(TRAIN, steps=4, warmup=1, log_every=1, save_every=0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_translation(made(), "xx", SIZE, tmp_path_factory.mktemp("made") / "pair")


def test_run_learns_from_estimated_links(folder, tmp_path):
    languages = Languages.open(folder, ["xx"])
    links = estimate_links(languages, "source", "xx", tmp_path / "links")
    linked = with_links(languages, links)
    (bitext,) = linked.bitexts
    true = {(n, i, len(pair[0]) - 1 - i) for n, pair in enumerate(made()) for i in range(len(pair[0]))}
    found = {(n, int(i), int(j)) for n in range(len(bitext)) for i, j in bitext.links(n)}
    assert len(true & found) > 0.7 * max(len(true), len(found))

    objective = XLMAlign(1.0, labels="estimated")
    config = Pretraining(linked, objective, MODEL, TRAIN, 0)
    pretrain(tmp_path / "run", config)
    rows = read_metrics(tmp_path / "run" / METRICS)
    assert rows[-1]["loss"]["dwa"] < rows[0]["loss"]["dwa"]
    assert list(rows[-1]["reported"]) == ["labelled"]
    other = estimate_links(languages, "source", "xx", tmp_path / "other", intersect)
    with pytest.raises(BadInput, match="started with links"):
        pretrain(tmp_path / "run", replace(config, languages=with_links(languages, other)))
    with pytest.raises(BadInput, match="needs estimated links for all bitexts, but some have none"):
        pretrain(tmp_path / "without", replace(config, languages=languages))


def test_labels_are_the_estimated_links(folder, tmp_path):
    links = estimate_links(Languages.open(folder, ["xx"]), "source", "xx", tmp_path / "links")
    languages = with_links(Languages.open(folder, ["xx"]), links)
    parallel = pairs_of(languages, 40)
    pairs = [(parallel.bitexts[0], pair) for pair in range(20)]
    batch = parallel.masked(pairs, np.random.default_rng(0))
    sides, gold = batch.sides, batch.gold
    for row in range(20):
        pieces = languages.bitexts[0].piece_links(row).tolist()
        expected = [min((j for i, j in pieces if i == at), default=-1) for at in range(int(sides[row, 0]))]
        assert gold[row, : len(expected)].tolist() == expected
    assert (gold >= 0).any()
