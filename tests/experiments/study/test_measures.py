from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import RobertaModel

from calque.analysis.measures.interventions import NAMES as ALL
from calque.analysis.measures.interventions import ORDER
from calque.analysis.records.record import RETRIEVAL
from calque.derive.languages import SOURCE, Languages
from calque.derive.task_data import TaskFolder
from calque.experiments.run.step import Step
from calque.experiments.study.measures import ChangedRetrieval, DerivationRetrieval, GoldLinks, Retrieval
from tests.experiments.conftest import finished
from tests.translation import write_gold

SENTENCES = 50  # out of 120 in three splits

NAMES = ALL[: ALL.index(ORDER)]


@pytest.fixture(scope="module")
def made(tiny, tmp_path_factory):
    measures = DerivationRetrieval(sentences=SENTENCES), ChangedRetrieval(sentences=SENTENCES)
    return finished(tmp_path_factory.mktemp("retrieval"), replace(tiny, measures=measures))


def vectors(made, language, sentences):
    languages = Languages.open(made.data, ["trans.inv"]).whole
    model = RobertaModel.from_pretrained(made.model("ALIGN-MLM").checkpoint, add_pooling_layer=False).eval()
    rows = []
    for words in sentences:
        ids = [
            languages[language].table[piece] for word in words for piece in languages.vocabulary.encode(word)
        ]
        row = torch.tensor([[languages.specials.start, *ids, languages.specials.end]])
        types = torch.zeros_like(row)
        with torch.inference_mode():
            states = model(row, token_type_ids=types, output_hidden_states=True).hidden_states
        rows.append([hidden[0, 1:-1].mean(0) for hidden in states])
    return [torch.stack(layer) for layer in zip(*rows, strict=True)]


@pytest.mark.slow
def test_retrieval_shares_equal_brute_force(made):
    records = [record for record in made.records(made.model("ALIGN-MLM")) if record.measure == RETRIEVAL]
    examples = TaskFolder.open(made.examples["pos"].folder)
    pairs = {}
    for split in ("test", "dev", "train"):
        sides = (examples.examples(split), examples.examples(split, "trans.inv"))
        for source, derived in zip(*sides, strict=True):
            pairs.setdefault(source.texts[0][0].words, derived.texts[0][0].words)
    ours, theirs = (list(side)[:SENTENCES] for side in (pairs, pairs.values()))
    layers = zip(vectors(made, SOURCE, ours), vectors(made, "trans.inv", theirs), strict=True)
    for layer, (source, derived) in enumerate(layers):
        cosines = torch.nn.functional.cosine_similarity(source[:, None], derived[None], dim=2).numpy()
        for language, rows in (("trans.inv", cosines), (SOURCE, cosines.T)):
            hits = [row[place] > np.delete(row, place).max() for place, row in enumerate(rows)]
            (record,) = (r for r in records if (r.layer, r.language, r.metric) == (layer, language, "cosine"))
            assert record.count == SENTENCES
            assert abs(record.value - np.mean(hits)) <= 1 / SENTENCES  # rounding may break ties


def test_changed_gold_links_are_measured_again(tmp_path):
    write_gold(tmp_path, "de-en", 20)
    (measure,) = GoldLinks(tmp_path, sets=("de-en",)).parts()
    before, links = measure.settings(None), tmp_path / "de-en" / "alignv2.txt"
    assert measure.settings(None) == before
    links.write_text("".join(links.read_text().splitlines(keepends=True)[:-1]))
    assert measure.settings(None) != before


def test_changed_texts_are_retrieved_again(tmp_path):
    text = tmp_path / "same.en"

    def digest(second):
        text.write_text(f"a cat sleeps\n{second}\n")
        return Step(
            Retrieval({"en": text}), tmp_path / "retrieval", "retrieval", "evaluate", "records"
        ).fingerprint

    before = digest("a dog runs")
    assert digest("a dog sleeps") != before
    assert digest("a dog runs") == before
