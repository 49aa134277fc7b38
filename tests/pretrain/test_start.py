import json
import shutil
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import (
    AutoModelForMaskedLM,
    BertConfig,
    BertForMaskedLM,
    RobertaForMaskedLM,
    XLMRobertaForMaskedLM,
)

from calque.derive.errors import BadInput
from calque.derive.files import MANIFEST
from calque.derive.fingerprint import sha256
from calque.derive.vocabulary import OURS
from calque.pretrain.batch import UNLABELLED, Rows
from calque.pretrain.config import ModelConfig
from calque.pretrain.model import encode, prediction_loss
from calque.pretrain.objectives.xlm import XLMAlign
from calque.pretrain.run import METRICS, read_metrics
from calque.pretrain.saved_model import check_start, initial_model
from tests.pretrain.made import MODEL, SIZE, STILL, TRAIN, check_resumes, of_study, pretrain
from tests.vocabularies import read_as_saved

WEIGHTS, WORDS = "model.safetensors", "embeddings.word_embeddings.weight"


@pytest.fixture(scope="module")
def cold(study, tmp_path_factory):
    return pretrain(tmp_path_factory.mktemp("cold"), of_study(study))


@pytest.fixture
def moved(cold, tmp_path):
    shutil.copytree(cold, tmp_path / "moved")
    return tmp_path / "moved"


def warm(study, start, **changes):
    return of_study(study, XLMAlign(), seed=1, start=start, **changes)


def test_run_starts_from_given_weights(cold, moved, study, tmp_path):
    still = replace(TRAIN, steps=1, warmup=0, learning_rate=1e-12)
    checkpoint = pretrain(tmp_path / "still", warm(study, cold, train=still))
    before, after = load_file(cold / WEIGHTS), load_file(checkpoint / WEIGHTS)
    assert before.keys() == after.keys()  # the pointer is left out
    assert all((after[name] - value).abs().max() < 1e-9 for name, value in before.items())
    manifest = json.loads((tmp_path / "still" / MANIFEST).read_text())
    assert manifest["identity"]["start"] == sha256(cold / WEIGHTS)
    # Only the starting weights count, not their place.
    assert pretrain(tmp_path / "still", warm(study, moved, train=still)) == checkpoint
    with pytest.raises(BadInput, match="started with start"):
        pretrain(tmp_path / "still", warm(study, None, train=still))


def test_warm_start_resumes_to_the_same_bits(cold, study, tmp_path):
    check_resumes(tmp_path, warm(study, cold))
    logs = [read_metrics(tmp_path / run / METRICS) for run in ("whole", "stopped")]
    first, second = ([(row["loss"], row["reported"]) for row in log] for log in logs)
    assert first == second
    assert logs[0][0]["loss"].keys() == {"mlm", "tlm", "dwa"}
    assert logs[0][0]["reported"].keys() == {"label precision", "label recall", "labelled"}
    assert all(0 <= share <= 1 for row in logs[0] for share in row["reported"].values())


def test_unsuitable_start_is_rejected_before_writing(moved, tmp_path):
    check_start(moved, MODEL)
    config = json.loads((moved / "config.json").read_text())
    for changes, said in (
        ({"model_type": "gpt2"}, "'gpt2' are not supported; supported types are roberta, xlm-roberta, bert"),
        ({"vocab_size": 5}, r"tokenizer\.json: contains ids up to 5, but the model .* has a table of 5 rows"),
        (
            {"num_hidden_layers": 3, "max_position_embeddings": 9},
            r"shape: layers 3, not 2; .*shape: length 7, not \d+",
        ),
    ):
        (moved / "config.json").write_text(json.dumps(config | changes))
        with pytest.raises(BadInput, match=said):
            check_start(moved, MODEL)
    (moved / "config.json").write_text(json.dumps(config))
    bare = Tokenizer(WordLevel({}, "<unk>"))
    bare.save(str(moved / "tokenizer.json"))
    with pytest.raises(BadInput, match=r"tokenizer\.json: has no types"):
        check_start(moved, MODEL)
    (moved / "tokenizer.json").unlink()
    (moved / "vocab.txt").write_text("<pad>\n")  # AutoTokenizer would read it
    with pytest.raises(BadInput, match=r"tokenizer\.json: has no tokenizer"):
        check_start(moved, MODEL)
    (moved / WEIGHTS).unlink()
    with pytest.raises(BadInput, match=r"no weights: expected model\.safetensors"):
        check_start(moved, MODEL)
    with pytest.raises(BadInput, match="no model here"):
        check_start(tmp_path, MODEL)


FIRST = len(OURS.ids)

EACH = pytest.mark.parametrize("kind", [RobertaForMaskedLM, XLMRobertaForMaskedLM, BertForMaskedLM])


def longest(kind, length, pad):
    """The setting max_position_embeddings for rows of this length."""
    return length if kind.config_class is BertConfig else length + pad + 1


def foreign(kind, rows=2 * SIZE, config=STILL, **changes):
    shape = {
        "vocab_size": rows,
        "hidden_size": config.hidden,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "intermediate_size": config.ffn,
        "max_position_embeddings": longest(kind, config.length, OURS.pad),
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "pad_token_id": OURS.pad,
        "initializer_range": 0.1,
    }
    return kind.config_class(**shape | changes)


def save(kind, study, folder, **changes):
    torch.manual_seed(7)
    model = kind(foreign(kind, **changes))
    model.save_pretrained(folder)
    shutil.copy(study / "vocabulary" / "tokenizer.json", folder)
    read_as_saved(folder)
    return model


def rows(padded):
    random = torch.Generator().manual_seed(0)
    ids = torch.randint(FIRST, 2 * SIZE, (5, STILL.length), generator=random)
    labels = torch.where(torch.rand(ids.shape, generator=random) < 0.2, ids, UNLABELLED)
    if padded:
        for row in range(1, 5):
            ids[row, -3 * row :], labels[row, -3 * row :] = OURS.pad, UNLABELLED
    return Rows(ids, labels, torch.zeros_like(ids), padded)


@EACH
@pytest.mark.parametrize("padded", [False, True])
def test_loss_gradient_and_states_equal_transformers(kind, padded):
    torch.manual_seed(0)
    model, batch = kind(foreign(kind)), rows(padded)
    mask = (batch.ids != OURS.pad).long()
    ours = prediction_loss(model, batch) / batch.labelled
    ours.backward()
    gradients = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    theirs = model(input_ids=batch.ids, attention_mask=mask, labels=batch.labels, output_hidden_states=True)
    theirs.loss.backward()
    assert float(ours.detach()) == pytest.approx(float(theirs.loss.detach()), rel=1e-5)
    assert gradients.keys() == {name for name, p in model.named_parameters() if p.grad is not None}
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradient, dict(model.named_parameters())[name].grad, rtol=1e-4, atol=1e-6)
    for layer in range(STILL.layers + 1):
        hidden = encode(model, batch, layer)[mask.bool()]
        torch.testing.assert_close(hidden, theirs.hidden_states[layer][mask.bool()], rtol=1e-4, atol=1e-5)


@EACH
def test_run_starts_from_a_folder_and_saves_one(kind, study, tmp_path):
    before = save(kind, study, tmp_path / "given").state_dict()
    still = ModelConfig(**vars(MODEL) | {"dropout": 0.0})
    config = of_study(study, XLMAlign(), model=still, start=tmp_path / "given")
    checkpoint = pretrain(tmp_path / "run", config)
    model, report = AutoModelForMaskedLM.from_pretrained(checkpoint, output_loading_info=True)
    assert type(model) is kind
    assert not report["missing_keys"] and not report["unexpected_keys"]
    after = model.state_dict()
    assert after.keys() == before.keys()
    moved = {name: float((after[name] - value).abs().max()) for name, value in before.items()}
    # It started there: at most twelve steps of 2e-3.
    assert 0 < moved[f"{kind.base_model_prefix}.{WORDS}"] < 0.1
    assert max(moved.values()) < 0.1


@EACH
def test_new_scripts_get_rows_of_their_own(kind, study, languages, tmp_path):
    given = save(kind, study, tmp_path / "given", rows=SIZE).state_dict()
    made = initial_model(tmp_path / "given", STILL, languages, False, 3)
    now = made.state_dict()
    for name, value in given.items():
        assert now[name][: len(value)].equal(value)
        assert len(now[name]) == (2 * SIZE if value.shape[:1] == (SIZE,) else len(value))
    new = now[f"{kind.base_model_prefix}.{WORDS}"][SIZE:]
    assert 0.05 < float(new.std()) < 0.2
    other = initial_model(tmp_path / "given", STILL, languages, False, 4)
    assert not other.state_dict()[f"{kind.base_model_prefix}.{WORDS}"][SIZE:].equal(new)
