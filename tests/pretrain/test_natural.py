from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM

from calque.derive.estimated_links import estimate_links, with_links
from calque.derive.languages import Languages
from calque.derive.natural.build import derive_natural
from calque.derive.vocabulary import SMALLEST, GivenVocabulary
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.dict_mlm import DictMLM
from calque.pretrain.objectives.xlm import XLM
from calque.pretrain.objectives.xlm_align import DWA
from calque.pretrain.run import Pretraining, read_metrics
from calque.pretrain.saved_model import METRICS
from tests.derive.natural.made import EN, inputs, vocabulary
from tests.pretrain.made import MODEL, TRAIN, pretrain
from tests.vocabularies import learn

LONG = replace(MODEL, length=128)
FEW = replace(TRAIN, steps=4, warmup=1, log_every=1, save_every=0)
ESTIMATED = DWA(labels="estimated", parallel_fraction=1.0)


@pytest.fixture(scope="module", params=["unigram", "wordpiece"])
def folder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("natural")
    given = vocabulary(folder / "given", request.param)
    tokenizer = given.open()._tokenizer
    tokenizer.add_tokens(["@@@", "%%%"])
    tokenizer.save(str(given.folder / "tokenizer.json"))
    return derive_natural(*inputs(folder), given, folder / "made")


@pytest.mark.parametrize("objective", [XLM(1.0), ESTIMATED], ids=lambda x: x.name)
def test_objectives_train_on_natural_languages(objective, folder, tmp_path):
    languages = Languages.open(folder, ["xx", "en"])
    if objective is ESTIMATED:
        languages = with_links(languages, estimate_links(languages, "en", "xx", tmp_path / "links", passes=2))
    config = Pretraining(languages, objective, LONG, FEW, 1)
    model = AutoModelForMaskedLM.from_pretrained(pretrain(tmp_path / "run", config))
    assert model.config.vocab_size == languages.whole.rows > languages.rows
    assert model.config.type_vocab_size == (3 if objective.traits.language_embeddings else 1)


@pytest.mark.parametrize("objective", [AlignMLM(), DictMLM()], ids=lambda x: x.name)
def test_objectives_use_the_lexicon_as_dictionary(objective, tmp_path):
    learn([tuple(line.split()) for line in EN], SMALLEST + 300).save(tmp_path / "given")
    given = GivenVocabulary(tmp_path / "given")
    opened = given.open()
    single = sorted({word for line in EN for word in line.split() if len(opened.encode(word)) == 1})
    entries = list(zip(single[:20], single[20:40], strict=True))
    lines = "".join(f"{word}\t{other}\t0.5\t3\n" for word, other in entries)
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
