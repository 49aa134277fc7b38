import builtins
import json
from itertools import islice

import pytest
import torch
from transformers import AutoTokenizer, RobertaConfig, RobertaForMaskedLM

from calque.derive.corpus import Corpus
from calque.derive.errors import BadInput
from calque.derive.files import MANIFEST, write_manifest
from calque.derive.pocket.language import Pocket
from calque.derive.vocabulary import OURS, TOKENIZER, Vocabulary
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.run import MACHINE, METRICS, MOMENTS, load_state, save_state
from calque.pretrain.saved_model import RUN, WEIGHTS, load_model, load_tokenizer, read_config, write_tokenizer
from calque.pretrain.train import make_optimizer
from tests.pretrain.made import MODEL, TRAIN, fit, new_learner
from tests.refusals import refusal

SHAPE = {"vocab_size": 20, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
SHAPE |= {"intermediate_size": 8}
CODE = """
from pathlib import Path
Path(r"{mark}").write_text("ran")
"""


@pytest.fixture
def folder(tmp_path):
    RobertaForMaskedLM(RobertaConfig(**SHAPE)).save_pretrained(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("kind", ["model", "config", "tokenizer"])
@pytest.mark.parametrize("model_type", ["unheard-of", "roberta"])
def test_code_in_a_folder_is_not_run_and_nothing_is_asked(folder, tmp_path, monkeypatch, kind, model_type):
    mark = tmp_path / "mark"
    (folder / "own.py").write_text(CODE.format(mark=mark))
    config = json.loads((folder / "config.json").read_text())
    names = dict.fromkeys(("AutoConfig", "AutoModel", "AutoModelForMaskedLM"), "own.Own")
    config |= {"model_type": model_type, "auto_map": names}
    (folder / "config.json").write_text(json.dumps(config))
    own = {"tokenizer_class": "Own", "auto_map": {"AutoTokenizer": ["own.Own", None]}}
    (folder / "tokenizer_config.json").write_text(json.dumps(own))
    monkeypatch.setattr(builtins, "input", lambda *asked: "yes")
    loads = {"model": lambda: load_model(folder), "config": lambda: read_config(folder)}
    try:
        loads.get(kind, lambda: load_tokenizer(folder))()
        assert kind != "tokenizer" and model_type == "roberta"
    except BadInput as error:
        assert str(folder) in str(error) and "\n" not in str(error)
    assert not mark.exists()


def test_lack_of_memory_is_not_blamed_on_the_model(folder, monkeypatch):
    def load(*_, **options):
        raise RuntimeError("unable to mmap 8 bytes: Cannot allocate memory (12)")

    monkeypatch.setattr("transformers.AutoModel.from_pretrained", load)
    with pytest.raises(MemoryError, match="model: unable to mmap"):
        load_model(folder)


def test_pickles_are_not_opened(folder):
    weights = load_model(folder, with_head=True)[0].state_dict()
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    with pytest.raises(BadInput, match="no weights: expected model"):
        load_model(folder)


def test_run_checkpoints_are_verified(folder):
    run = folder.parent / "seed-0-0123456789ab"
    run.mkdir()
    folder.rename(run / "checkpoint")
    write_manifest(run, RUN, {})
    load_model(run / "checkpoint")
    weights = run / "checkpoint" / WEIGHTS
    right = weights.read_bytes()
    weights.write_bytes(right[:-1] + bytes([right[-1] ^ 1]))
    with pytest.raises(BadInput, match=str(weights)):
        load_model(run / "checkpoint")
    weights.write_bytes(right)
    moved = run.rename(run.with_name("seed-1-0123456789ab"))
    with pytest.raises(BadInput, match=str(moved / MANIFEST)):
        load_model(moved / "checkpoint")


def test_missing_weights_are_named(folder, tmp_path):
    whole, missing = load_model(folder, with_head=True)
    assert missing == [] and whole.dtype == torch.float32
    whole.base_model.save_pretrained(tmp_path / "bare")
    assert "lm_head.dense.weight" in load_model(tmp_path / "bare", with_head=True)[1]


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"model_type": 3}', "{" * 100_000, '{"vocab_size": "x"}'])
def test_damaged_config_is_one_error_line(folder, damage):
    (folder / "config.json").write_text(damage)
    for load in (read_config, load_model):
        message = refusal(load, folder)
        assert str(folder) in message and len(message) < 500


@pytest.fixture
def checkpoint(several, tmp_path):
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "roberta", "vocab_size": 800}))
    write_tokenizer(several / "vocabulary" / TOKENIZER, folder, OURS, 64)
    return folder


def test_saved_tokenizer_gives_the_corpus_ids(checkpoint, several):
    tokenizer, vocabulary = AutoTokenizer.from_pretrained(checkpoint), Vocabulary.load(several / "vocabulary")
    corpus = Corpus.open(several / "source")
    sentences = [sentence.words for sentence in islice(Pocket(types=300).sentences(400, 0), 400)]
    assert {tuple(corpus[line].tolist()) for line in range(len(corpus))} <= {
        tuple(tokenizer(" ".join(words), add_special_tokens=False).input_ids) for words in sentences
    }
    for words in islice((s.words for s in Pocket(types=300).sentences(2000, 5)), 2000):
        ids = [piece for word in words for piece in vocabulary.encode(word)]
        assert tokenizer(" ".join(words)).input_ids == [OURS.start, *ids, OURS.end]


IDENTITY = {"data": "made", "seed": 0} | dict.fromkeys(sorted(MACHINE), "ours")


@pytest.fixture(scope="module")
def trained(languages):
    learner = new_learner(MLM(), MODEL)
    optimizer = make_optimizer(learner, TRAIN)
    fit(learner, MLM().streams(languages, MODEL.length, 0), optimizer=optimizer)
    return learner, optimizer


def save_into(folder, step, trained):
    rows = folder.parent / METRICS
    if not rows.exists():
        rows.parent.mkdir(parents=True, exist_ok=True)
        rows.write_text("rows\n")
    save_state(folder, step, *trained, rows, {"identity": IDENTITY})


@pytest.fixture
def saved_state(trained, tmp_path):
    save_into(tmp_path / "resume", 7, trained)
    return tmp_path / "resume"


def fresh():
    learner = new_learner(MLM(), MODEL, seed=1)
    return learner, make_optimizer(learner, TRAIN)


def test_saved_state_is_loaded(saved_state, trained):
    model, optimizer = fresh()
    step, state = load_state(saved_state, model, optimizer, IDENTITY)
    assert step == 7 and state
    assert state.path(METRICS).read_text() == "rows\n"
    for p, q in zip(model.parameters(), trained[0].parameters(), strict=True):
        assert p.equal(q)
        for kind in ("step", "exp_avg", "exp_avg_sq"):
            assert optimizer.state[p][kind].equal(trained[1].state[q][kind])


def test_last_state_replaces_earlier_ones(saved_state, trained):
    (saved_state / ".step-000000008.123-a.part").mkdir()
    save_into(saved_state, 100, trained)
    assert [path.name for path in saved_state.iterdir()] == ["step-000000100"]
    assert load_state(saved_state, *fresh(), IDENTITY)[0] == 100


def test_later_state_is_loaded(saved_state, trained):
    save_into(saved_state.parent / "other", 12, trained)
    (saved_state.parent / "other" / "step-000000012").rename(saved_state / "step-000000012")
    assert load_state(saved_state, *fresh(), IDENTITY)[0] == 12


@pytest.mark.parametrize("name", [WEIGHTS, MOMENTS, MANIFEST])
@pytest.mark.parametrize("damage", ["missing", "empty", "half"])
def test_incomplete_state_is_rejected(saved_state, name, damage):
    path = saved_state / "step-000000007" / name
    content = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes(content[: len(content) // 2 if damage == "half" else 0])
    with pytest.raises(BadInput, match="step-000000007"):
        load_state(saved_state, *fresh(), IDENTITY)
