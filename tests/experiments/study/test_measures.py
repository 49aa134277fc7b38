from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import RobertaModel

from calque.analysis.measures.interventions import NAMES as ALL
from calque.analysis.measures.interventions import ORDER
from calque.analysis.records.json_rows import read
from calque.analysis.records.record import ALIGNMENT, BOTH, CARRIED, KNOWN, LINEAR, RETRIEVAL, Record
from calque.derive.languages import SOURCE, Languages
from calque.derive.pocket.language import Facts
from calque.derive.task_data import TaskFolder
from calque.experiments.settings.catalogue import named_study
from calque.experiments.settings.override import override
from calque.experiments.study.measures import ChangedRetrieval, DerivationRetrieval, read_measured
from tests.experiments.conftest import TINY, finished

GROWING = """source.size=3000 source.pos.train=60 source.pos.dev=60 source.pos.test=60 vocabulary=600 seeds=0
    transforms=trans.inv objectives=MLM,XLM-after-XLM held_out=0.1
    probe.sentences=60 probe.tagged=60 probe.tested=60 probe.shuffles=40
    model.layers=1 model.heads=2 model.hidden=16 model.ffn=32 model.length=32
    train.steps=24 train.batch=8 train.learning_rate=4e-3 train.warmup=4 train.log_every=4 train.snapshots=1
    train.save_every=4""".split()
STEPS = {"MLM": (0, 8, 16, 24), "XLM-after-XLM": (0, 8, 12, 20, 24)}


def test_every_snapshot_has_every_number_with_its_null(tmp_path):
    made = finished(tmp_path, override(named_study("growth"), GROWING))
    records = read(made.report / "records.jsonl", Record)
    per_probe = {(LINEAR, "accuracy"): 1, (RETRIEVAL, "mexa"): 2}
    per_probe |= {(ALIGNMENT, metric): 1 for metric in ("all", "held-out")}
    runs = dict.fromkeys(record.run for record in records)
    for steps, run in zip(STEPS.values(), runs, strict=True):
        here = [record for record in records if record.run == run]
        for (measure, metric), many in per_probe.items():
            found = [record for record in here if (record.measure, record.metric) == (measure, metric)]
            assert sorted(record.step for record in found) == sorted([*steps] * many), (measure, metric)
        assert len(here) == len(steps) * sum(per_probe.values())
    for record in records:
        assert record.null.low <= record.null.high
        assert record.null.shuffles == 40
        assert (n := record.count) > 0
        if record.measure == RETRIEVAL:
            assert record.null.chance == 1 / (2 * n - 1)


@pytest.fixture
def done(tmp_path):
    sizes = [setting for setting in TINY if not setting.startswith("source.n")]
    sizes += ["objectives=MLM,PREALIGN", "seeds=0", "train.warmup=0"]
    made = override(named_study("knowledge"), sizes)
    facts = Facts(subjects=9, values=3, mentions=40)
    return finished(tmp_path, made.changed(source=replace(made.languages.source, facts=facts)))


@pytest.mark.slow
def test_knowledge_is_measured_and_reported(done):
    for model in done.models():
        found = read_measured(done.measures(model)["knowledge"])[1]
        records = {(record.measure, record.metric): record for record in found}
        assert {measure for measure, _ in records} == {KNOWN, CARRIED, BOTH}
        assert {records[measure, "all"].count for measure in (KNOWN, CARRIED, BOTH)} == {18}
        assert {record.step for record in records.values()} == {12}
        assert records[CARRIED, "chance"].value == pytest.approx(1 / 3)
    table = (done.report / "knowledge.md").read_text()
    assert "| MLM " in table and "| PreAlign " in table and "| Trans + Inv " in table
    assert (done.report / "figures" / "figure-knowledge.png").is_file()
    assert "Facts stated only in the source" in (done.report / "report.html").read_text()


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
