"""Which models are encoders, and what is read from folders that others made."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from transformers import AutoModel, FunnelConfig, FunnelModel, GPT2Config, GPT2LMHeadModel, XLNetConfig, XLNetModel

from analysis.aligners.encoder import Encoder, main_layer
from analysis.aligners.methods import OT
from analysis.aligners.similarity import EncoderAligner
from derive.errors import BadInput
from derive.links.aligner import Pair
from tests.analysis.aligners.conftest import LENGTH


def copied(folder: Path, to: Path, **tokenizer: object) -> Path:
    shutil.copytree(folder, to)
    if tokenizer:
        (to / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    return to


def test_every_layer_comes_from_one_pass(bert: Path) -> None:
    rows = [[2, 5, 6, 3], [2, 7, 3]]
    states = Encoder(bert)(rows)
    assert len(states) == 4
    model = AutoModel.from_pretrained(bert, add_pooling_layer=False).eval()
    for layer, hidden in enumerate(states):
        cut = Encoder(bert, layer)(rows)
        assert len(cut) == layer + 1
        assert torch.equal(cut[layer][0], hidden[0])  # those above are not computed
        assert torch.equal(cut[layer][1, :3], hidden[1, :3])
        with torch.no_grad():
            whole = model(input_ids=torch.tensor(rows[:1]), output_hidden_states=True).hidden_states[layer]
        torch.testing.assert_close(hidden[:1], whole)


def test_models_that_read_from_left_to_right_are_refused(tmp_path: Path) -> None:
    sizes = {"vocab_size": 50, "n_positions": 32, "n_embd": 16, "n_layer": 2, "n_head": 2}
    GPT2LMHeadModel(GPT2Config(**sizes)).save_pretrained(tmp_path)
    with pytest.raises(BadInput, match="gpt2 reads from left to right"):
        Encoder(tmp_path)
    with pytest.raises(BadInput, match="gpt2 reads from left to right"):
        Encoder(tmp_path, 1)


def test_models_that_read_both_ways_are_taken_whatever_transformers_calls_them(tmp_path: Path) -> None:
    """XLNet is listed among language models that predict the next word, and reads both ways."""
    config = XLNetConfig(vocab_size=50, d_model=16, n_layer=2, n_head=2, d_inner=32)
    XLNetModel(config).save_pretrained(tmp_path)
    assert len(Encoder(tmp_path)([[3, 4, 5]])) == 3


def test_models_that_merge_places_are_refused(tmp_path: Path) -> None:
    config = FunnelConfig(vocab_size=50, block_sizes=[1, 1], d_model=16, n_head=2, d_head=8, d_inner=32)
    FunnelModel(config).save_pretrained(tmp_path)
    with pytest.raises(BadInput, match="the model merges places"):
        Encoder(tmp_path)


def test_a_tokenizers_longest_row_counts(bert: Path, tmp_path: Path) -> None:
    """A model may have more places than its makers trained."""
    pairs: list[Pair] = [(("the",) * 30, ("the",))]
    folder = copied(bert, tmp_path / "short", model_max_length=12)
    aligner = EncoderAligner.open(folder, OT, 1)
    (links,) = aligner.align(pairs)
    assert max(i for i, _ in links) < 10
    assert aligner.left_out.described() == ["20 words beyond the 12 ids that the model takes (line 1)"]
    unlimited = EncoderAligner.open(copied(bert, tmp_path / "long", model_max_length=int(1e30)), OT, 1)
    assert unlimited.encoder.room.length == LENGTH
    for text in ("{", "[]"):
        (folder / "tokenizer_config.json").write_text(text)
        with pytest.raises(BadInput, match=r"tokenizer_config\.json: damaged"):
            EncoderAligner.open(folder, OT, 1)


def test_a_sentencepiece_table_asks_for_its_package(
    bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copied(bert, tmp_path / "model")
    (folder / "tokenizer.json").unlink()
    (folder / "sentencepiece.bpe.model").write_bytes(b"\n")
    monkeypatch.setattr("analysis.aligners.subwords.find_spec", lambda name: None)
    with pytest.raises(BadInput, match=r"sentencepiece\.bpe\.model: .* the package sentencepiece is needed"):
        EncoderAligner.open(folder, OT, 1)


def test_code_in_a_folder_is_not_run_and_nothing_is_asked(bert: Path, tmp_path: Path) -> None:
    folder = copied(bert, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "ours", "auto_map": {"AutoConfig": "code.C", "AutoModel": "code.M"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "code.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with pytest.raises(BadInput, match="no model that can be loaded"):
        EncoderAligner.open(folder, OT, 1)
    assert not (tmp_path / "ran").exists()


def test_the_layer_is_as_deep_as_the_papers(bert: Path) -> None:
    assert [main_layer(layers) for layers in (1, 2, 3, 4, 6, 12, 24)] == [1, 1, 2, 3, 4, 8, 16]
    assert EncoderAligner.open(bert, OT).reading.layer == 2
