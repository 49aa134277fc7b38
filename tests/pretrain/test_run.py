import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from transformers import RobertaForMaskedLM

from calque.derive.errors import BadInput
from calque.derive.files import MANIFEST
from calque.derive.fingerprint import sha256
from calque.derive.vocabulary import OURS
from calque.pretrain.batch import Rows
from calque.pretrain.model import prediction_loss
from calque.pretrain.objectives.xlm import XLM
from calque.pretrain.run import METRICS, Metrics, finished, read_metrics
from calque.pretrain.train import Draws, NonFinite, learning_rate
from tests.pretrain.made import (
    LANGUAGE,
    MODEL,
    OBJECTIVES,
    TRAIN,
    fit,
    new_learner,
    of_study,
    pretrain,
    stop_at,
)


@pytest.fixture(scope="module", params=OBJECTIVES)
def run(request, study, tmp_path_factory):
    objective = OBJECTIVES[request.param]
    folder = tmp_path_factory.mktemp("runs") / objective.name
    assert pretrain(folder, of_study(study, objective)) == folder / "checkpoint"
    return folder, objective


def test_transformers_finds_our_loss(run, languages):
    folder, objective = run
    streams = objective.streams(languages, MODEL.length, 0)
    learner = new_learner(objective, MODEL)
    fit(learner, streams)
    ours = learner.model.eval()
    theirs = RobertaForMaskedLM.from_pretrained(folder / "checkpoint").eval()
    assert theirs.config.type_vocab_size == (3 if objective.traits.language_embeddings else 1)
    for batch in Draws(streams, 8, 1).at(0)[0]:
        if isinstance(batch, Rows):
            with torch.no_grad():
                expected = theirs(
                    input_ids=batch.ids,
                    attention_mask=(batch.ids != OURS.pad).long(),
                    token_type_ids=batch.languages if objective.traits.language_embeddings else None,
                    position_ids=None if batch.places is None else batch.places + OURS.pad + 1,
                    labels=batch.labels,
                ).loss
                found = float(prediction_loss(ours, batch)) / batch.labelled
                assert found == pytest.approx(float(expected), rel=1e-5)


def test_run_folder_is_complete(run):
    folder, objective = run
    manifest = json.loads((folder / MANIFEST).read_text())
    assert sorted(path.name for path in folder.iterdir()) == ["checkpoint", MANIFEST, "metrics.jsonl"]
    weights, tokenizer = ("config.json", "model.safetensors"), ("tokenizer.json", "tokenizer_config.json")
    names = {"metrics.jsonl", *(f"checkpoint/{name}" for name in (*weights, *tokenizer))}
    assert manifest["files"] == {name: sha256(folder / name) for name in names}
    assert manifest["identity"]["data"] == {LANGUAGE: "made"}
    assert ("ids in an unfilled last row" in manifest["left out"]) == objective.traits.text


def test_probes_do_not_change_the_run(study, tmp_path):
    def probe(model):
        model.eval()
        torch.manual_seed(5)
        return {"probe": {"all": 0.5}}

    probed = of_study(study, train=replace(TRAIN, probe_every=5))
    pretrain(tmp_path / "with", probed, probe=probe)
    pretrain(tmp_path / "without", probed)
    probes = [row for row in read_metrics(tmp_path / "with" / METRICS) if "probe" in row]
    assert probes == [{"step": step, "probe": {"all": 0.5}} for step in (5, 10, 12)]
    weights = [tmp_path / name / "checkpoint" / "model.safetensors" for name in ("with", "without")]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_resumed_run_notes_its_first_claims(study, tmp_path):
    for first, name in (("first", "noted"), ("", "without")):
        stop_at(tmp_path / name, of_study(study, claims=first), 4)
        pretrain(tmp_path / name, of_study(study, claims="second"))
        assert json.loads((tmp_path / name / MANIFEST).read_text()).get("claims", "") == first


CHANGES = {
    "seed": {"seed": 1},
    "objective": {"objective": XLM(0.5)},
    "model": {"model": replace(MODEL, dropout=0.2)},
    "train": {"train": replace(TRAIN, learning_rate=1e-3)},
}


def test_different_configuration_is_rejected(study, tmp_path):
    def refused():
        for changed, changes in CHANGES.items():
            with pytest.raises(BadInput, match=f"started with {changed} "):
                pretrain(tmp_path, of_study(study, **changes), allow_change=True)

    stop_at(tmp_path, of_study(study), 6)
    refused()
    pretrain(tmp_path, of_study(study))
    refused()


def test_thread_count_changes_only_if_allowed(study, tmp_path):
    stop_at(tmp_path, of_study(study), 6)
    torch.set_num_threads(2)
    try:
        with pytest.raises(BadInput, match="started with threads 1, not 2; --allow-change"):
            pretrain(tmp_path, of_study(study))
        pretrain(tmp_path, of_study(study), allow_change=True)
    finally:
        torch.set_num_threads(1)
    # A finished run does not depend on the machine.
    assert pretrain(tmp_path, of_study(study)) == tmp_path / "checkpoint"


def test_non_finite_loss_keeps_the_last_state(study, tmp_path):
    steep = of_study(study, train=replace(TRAIN, learning_rate=1e30, warmup=1, log_every=1, save_every=1))
    with pytest.raises(NonFinite):
        pretrain(tmp_path, steep)
    assert not finished(tmp_path)
    assert len(list((tmp_path / "resume").iterdir())) == 1


EACH = replace(TRAIN, steps=30, log_every=1, save_every=10, warmup=3)


@pytest.fixture(scope="module")
def stopped(study, tmp_path_factory):
    folder = tmp_path_factory.mktemp("stopped")
    stop_at(folder, of_study(study, train=EACH), 23)  # the last state is from step 20
    return folder


@pytest.mark.parametrize(
    "damage", [b"", b'{"step": 1', b'{"step": 21, "loss": {"mlm": 99}}\n\xff\x00{"st', None]
)
def test_resumed_run_restores_its_metrics(damage, stopped, study, tmp_path):
    """Whatever happened to the file, rows up to the state are restored, and later ones written again."""
    folder = shutil.copytree(stopped, tmp_path / stopped.name)  # a state belongs to its folder
    path = folder / METRICS
    kept = path.read_bytes().splitlines(keepends=True)[:20]
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage)
    pretrain(folder, of_study(study, train=EACH))
    assert path.read_bytes().splitlines(keepends=True)[:20] == kept
    assert [row["step"] for row in read_metrics(path)] == list(range(1, 31))
    assert 99 not in [row["loss"]["mlm"] for row in read_metrics(path)]


def test_rows_contain_means_and_reported_terms(tmp_path):
    stream = SimpleNamespace(weights={"mlm": 1.0})
    made = Metrics(tmp_path / METRICS, replace(EACH, log_every=2), [stream], 10, True, b"")
    for step in range(1, 5):
        made.add(step, {"mlm": float(step), "labelled": step / 10}, 7.0)
    rows = read_metrics(tmp_path / METRICS)
    assert [(row["step"], row["loss"]) for row in rows] == [(2, {"mlm": 1.5}), (4, {"mlm": 3.5})]
    assert [row["reported"]["labelled"] for row in rows] == pytest.approx([0.15, 0.35])
    assert [row["learning rate"] for row in rows] == [
        learning_rate(EACH.learning_rate, step, EACH.warmup, EACH.steps) for step in (1, 3)
    ]
    assert all(row["gradient norm"] == 7 and row["tokens/s"] > 0 for row in rows)
