import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import RobertaForMaskedLM

import calque
from calque.analysis.looking import look
from calque.analysis.report.page import write_look
from calque.derive.languages import Languages
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.run import Pretraining
from tests.browser import inspect
from tests.experiments.conftest import refused
from tests.pretrain.made import MODEL, TRAIN, pretrain
from tests.translation import SIZE, made, write_translation

NAME = "trans.inv"


@pytest.fixture(scope="module")
def model(done):
    return calque.load(done.model("ALIGN-MLM").checkpoint)


@pytest.fixture(scope="module")
def found(model):
    return look(model)


@pytest.fixture
def elsewhere(model, tmp_path):
    return shutil.copytree(model.folder, tmp_path / "model")


def test_bad_input_is_one_line_and_writes_nothing(model, elsewhere, tmp_path):
    page = tmp_path / "look.html"
    smaller = json.loads((elsewhere / "config.json").read_text())
    state = json.loads((elsewhere / "tokenizer.json").read_text())
    state["model"]["vocab"]["xyzzy"] = smaller["vocab_size"]
    (elsewhere / "tokenizer.json").write_text(json.dumps(state))
    for words in (
        [elsewhere],  # a different vocabulary
        [tmp_path],
        [model.folder, "--sentence", "the xyzzy <s> ."],
        [model.folder, "--sentence", "the " * 40],
        [model.folder, "--sentence", "  "],
        [model.folder, "--sentence", "<mask> <mask>"],
    ):
        refused("look", *words, "--html", page)
        assert not page.exists()
    for place in (tmp_path, elsewhere / "config.json"):
        assert str(place) in refused("look", elsewhere, "--html", place)
    for place in (Path("/proc/look.html"), elsewhere / "config.json/look.html"):
        assert str(place.parent) in refused("look", model.folder, "--html", place)
    assert json.loads((elsewhere / "config.json").read_text()) == smaller


def test_translation_is_not_derived(tmp_path):
    folder = write_translation(made(), "xx", SIZE, tmp_path / "languages-0123456789abcdef")
    config = Pretraining(Languages.open(folder, ["xx"]), MLM(), MODEL, TRAIN, 0)
    found = look(calque.load(pretrain(tmp_path / "run", config)), "ab1 ab2")
    assert "cannot derive text in xx" in str(found)


def test_sentence_of_the_preferred_length_is_shown(model, monkeypatch):
    corpus = model.data["source"].corpus
    sizes = [len(corpus.pieces[line]) for line in range(min(1000, len(corpus)))]
    for length in (min(sizes), max(sizes)):
        monkeypatch.setattr("calque.analysis.looking.LENGTH", length)
        assert len([blank for blank in look(model).blanks if blank.language == "source"]) == length


def test_aligned_words_are_those_with_the_most_similar_states(model, found):
    words = {
        name: [blank.word for blank in found.blanks if blank.language == name] for name in ("source", NAME)
    }
    source, derived = model.states(words["source"]), model.states(words[NAME], NAME)
    mean = torch.cat([source, derived]).mean(0)
    cosines = torch.cosine_similarity((source - mean)[:, None], (derived - mean)[None], dim=2)
    assert [answers.word for answers in found.alignment] == words["source"]
    for answers, row in zip(found.alignment, cosines, strict=True):
        assert answers.best[0].word == words[NAME][int(row.argmax())]
        assert answers.best[0].cosine == pytest.approx(float(row.max()), abs=1e-5)


def test_page_knows_the_words_that_are_single_types(model, found):
    for language, ids in found.live["types"].items():
        encode = model.tokenizers[language].encode
        every = {i: encode(model.name(i)[0], add_special_tokens=False) for i in model.ids(language).tolist()}
        assert ids == [i for i, encoded in every.items() if encoded == [i]]
        assert 0 < len(ids) < len(every)


LOOK = """function look(view, page) {{
  const box = page.querySelector(".live"), input = box.querySelector("input");
  const shown = () => [...box.querySelectorAll("td")].map((cell) => cell.textContent);
  const type = (text) => {{ input.value = text; input.dispatchEvent(new view.Event("input")); }};
  const first = shown(), found = {texts}.map(([language, text]) => [...box.logits(0, language, text)]);
  type("xyzzy <mask>"); const refused = [shown().length, box.querySelector("output").textContent];
  const requests = view.performance.getEntriesByType("resource").length;
  return {{ found, first, refused, requests }};
}}"""


def test_page_computes_transformers_logits(model, found, tmp_path):
    write_look(tmp_path / "look.html", "t", found)
    known = (
        {name: {model.name(i)[0] for i in ids} for name, ids in found.live["types"].items()}
        if found.live
        else {}
    )
    texts = []
    for name in ("source", NAME):
        kept = [blank.word for blank in found.blanks if blank.language == name and blank.word in known[name]]
        texts += [(name, " ".join([*kept[:i], "<mask>", *kept[i + 1 :]])) for i in range(len(kept))]
    script = LOOK.format(texts=json.dumps(texts))
    page = (tmp_path / "look.html").read_text()
    console, seen = inspect(page, script, [(1400, "light")], tmp_path).values()
    assert (console, seen["requests"]) == ([], 0)
    original = RobertaForMaskedLM.from_pretrained(model.folder).eval()
    for (language, text), logits in zip(texts, seen["found"], strict=True):
        ids = torch.tensor([model.tokenizers[language](text)["input_ids"]])
        with torch.inference_mode():
            expected = original(input_ids=ids).logits[0, ids[0] == model.tokenizers["source"].mask_token_id][
                0
            ]
        assert np.abs(np.array(logits) - expected.numpy()).max() < 1e-4
    assert len(seen["first"]) == 5 and seen["refused"][0] == 0 and "xyzzy" in seen["refused"][1]
