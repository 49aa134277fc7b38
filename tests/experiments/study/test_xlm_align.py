import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from calque.analysis.papers.published import corpora
from calque.experiments.cli import app
from calque.experiments.data.recipe import read_recipe
from calque.experiments.plan import card, describe
from calque.experiments.settings.catalogue import study
from calque.experiments.settings.validation import study_mistakes
from calque.experiments.study import Study


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:

    def refuse(*_: object) -> None:
        raise OSError("no network here")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("CALQUE_DATA", str(tmp_path))
    return study("xlm_align")


def test_its_values_are_those_of_table_11(planned: Study) -> None:
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
    (dwa,) = [part for part in planned.objectives[0].parts if part.name != "MLM"]  # type: ignore[attr-defined]
    assert (dwa.labelling_layer(12), dwa.filtering, dwa.first) == (10, True, "columns")
    assert study_mistakes(planned) == []


def test_it_reads_every_language_and_pair_of_the_paper(planned: Study) -> None:
    of = planned.languages
    assert of.texts.keys() == corpora("xlm_align")["CCNet"].keys() and len(of.texts) == 87
    assert {"-".join(pair) for pair in of.bitexts} == corpora("xlm_align")["bitexts"].keys()
    assert next(iter(of.texts)) == "en"
    files = [path for text in of.texts.values() for path in text.paths]
    assert (
        len(set(files)) == len(files) == 88 + 7
    )  # CC-100's, and Wikipedia's of the six languages that it lacks


def test_the_plan_tells_all_of_it_without_data_or_network(planned: Study, tmp_path: Path) -> None:
    text = describe(planned, None, card("H100"), 8)
    assert "on 8 H100" in text and "10.6 hours of pretraining" in text and "train.grad_accumulation=2" in text
    assert "files: 163 of 163 are missing" in text
    assert "`calque data fetch xlm_align --trust` gets 163 of them (" in text
    for place in (output.place for output in read_recipe("cc_100").outputs):
        assert Path(place).name in text
    (tmp_path / "cc-100").mkdir()
    (tmp_path / "cc-100" / "en.txt.xz").write_bytes(b"something")
    assert "files: 162 of 163 are missing" in describe(planned, None)


def test_a_run_without_its_data_names_a_file_and_the_command(planned: Study, tmp_path: Path) -> None:
    run = CliRunner().invoke(app, ["run", "xlm_align", "--runs", str(tmp_path / "runs")])
    assert run.exit_code == 2
    assert "calque data fetch" in run.output
