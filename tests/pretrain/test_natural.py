from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM

from calque.derive.errors import BadInput
from calque.derive.languages import Languages
from calque.derive.natural import derive_natural, write_translation
from calque.derive.vocabulary import SMALLEST, GivenVocabulary
from calque.derive.word_links import estimate_links, intersect, with_links
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.dict_mlm import DictMLM
from calque.pretrain.objectives.xlm_align import XLMAlign
from calque.pretrain.run import METRICS, Pretraining, read_metrics
from tests.derive.natural.made import EN, inputs
from tests.derive.test_translation import SIZE, made
from tests.pretrain.made import MODEL, TRAIN, pairs_of, pretrain
from tests.vocabularies import learn

LONG = replace(MODEL, length=128)
FEW = replace(TRAIN, steps=4, warmup=1, log_every=1, save_every=0)


@pytest.mark.parametrize("objective", [AlignMLM(), DictMLM()], ids=lambda x: x.name)
def test_objectives_use_the_lexicon_as_dictionary(objective, tmp_path):
    learn([tuple(line.split()) for line in EN], SMALLEST + 300).save(tmp_path / "given")
    given = GivenVocabulary(tmp_path / "given")
    opened = given.open()
    single = sorted({word for line in EN for word in line.split() if len(opened.encode(word)) == 1})
    entries = list(zip(single[:20], single[20:40], strict=True))
    lines = "".join(f"{word}\t{other}\n" for word, other in entries)
    (tmp_path / "lexicon").write_text(lines)
    lexicons = {("en", "xx"): tmp_path / "lexicon"}
    folder = derive_natural(*inputs(tmp_path), given, tmp_path / "made", dictionaries=lexicons)
    languages = Languages.open(folder, ["en", "xx"])
    assert len(languages.dictionary("en", "xx")) == 20
    config = Pretraining(languages, objective, LONG, replace(FEW, steps=30, log_every=29), 1)
    model = AutoModelForMaskedLM.from_pretrained(pretrain(tmp_path / "run", config))
    whole = languages.whole
    pairs, rows = whole.dictionary("en", "xx"), model.get_input_embeddings().weight.detach()
    near = torch.cosine_similarity(rows[pairs[:, 0]], rows[pairs[:, 1]]).mean()
    far = torch.cosine_similarity(rows[pairs[:, 0]], rows[np.roll(pairs[:, 1], 1)]).mean()
    assert bool(near > far + 0.2) == (objective.name == "ALIGN-MLM")
    losses = [row["loss"] for row in read_metrics(tmp_path / "run" / METRICS)]
    assert losses[-1]["mlm"] < losses[0]["mlm"]


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
