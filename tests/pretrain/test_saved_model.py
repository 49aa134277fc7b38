import builtins
import json

import pytest
import torch
from transformers import AutoModelForMaskedLM, RobertaConfig, RobertaForMaskedLM

from calque.derive.artefact import write_manifest
from calque.derive.errors import BadInput
from calque.derive.files import MANIFEST
from calque.pretrain.saved_model import RUN, WEIGHTS, load_model, load_tokenizer, read_config
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


def test_pickles_are_not_opened(folder):
    weights = load_model(folder, RobertaForMaskedLM)[0].state_dict()
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    with pytest.raises(BadInput, match=r"pytorch_model\.bin: .*safetensors"):
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
    whole, missing = load_model(folder, AutoModelForMaskedLM)
    assert missing == [] and whole.dtype == torch.float32
    whole.base_model.save_pretrained(tmp_path / "bare")
    assert "lm_head.dense.weight" in load_model(tmp_path / "bare", RobertaForMaskedLM)[1]


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"model_type": 3}', "{" * 100_000, '{"vocab_size": "x"}'])
def test_damaged_config_is_one_error_line(folder, damage):
    (folder / "config.json").write_text(damage)
    for load in (read_config, load_model):
        message = refusal(load, folder)
        assert str(folder) in message and len(message) < 500
