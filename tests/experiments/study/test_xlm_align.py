import socket

import pytest

from calque.analysis.papers.published import corpora
from calque.experiments.settings.catalogue import study
from calque.experiments.settings.validation import study_mistakes


@pytest.fixture
def planned(tmp_path, monkeypatch):

    def refuse(*_):
        raise OSError("no network here")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("CALQUE_DATA", str(tmp_path))
    return study("xlm_align")


def test_study_values_are_those_of_table_11(planned):
    model, train = planned.model, planned.train
    assert (model.layers, model.hidden, model.ffn, model.heads) == (12, 768, 3072, 12)
    assert (train.steps, train.batch, train.warmup, train.clip) == (150_000, 2_048, 10_000, 1.0)
    assert (train.learning_rate, train.betas, train.epsilon, train.weight_decay) == (
        2e-4,
        (0.9, 0.98),
        1e-6,
        0.01,
    )
    assert planned.objectives[0].mistakes(model) == []
    (dwa,) = [part for part in planned.objectives[0].parts if part.name != "MLM"]
    assert (dwa.labelling_layer(12), dwa.filtering, dwa.first) == (10, True, "columns")
    assert study_mistakes(planned) == []


def test_study_reads_every_language_pair_of_the_paper(planned):
    of = planned.languages
    assert of.texts.keys() == corpora("xlm_align")["CCNet"].keys() and len(of.texts) == 87
    assert {"-".join(pair) for pair in of.bitexts} == corpora("xlm_align")["bitexts"].keys()
    assert next(iter(of.texts)) == "en"
    files = [path for text in of.texts.values() for path in text.paths]
    # CC-100, and Wikipedia for the six languages that it lacks.
    assert len(set(files)) == len(files) == 88 + 7
