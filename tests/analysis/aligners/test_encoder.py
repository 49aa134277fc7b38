import json
import shutil

import pytest
from transformers import T5Config, T5Model, ViTConfig, ViTModel, Wav2Vec2Config, Wav2Vec2Model

from calque.analysis.aligners.encoder import Encoder
from calque.analysis.aligners.methods import OT
from calque.analysis.aligners.pair_encoder import EncoderAligner
from calque.derive.errors import BadInput


def copied(folder, to, **tokenizer):
    shutil.copytree(folder, to)
    if tokenizer:
        (to / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    return to


def test_other_kinds_of_models_are_rejected(tmp_path):
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    sounds = {"conv_dim": (8,), "conv_stride": (2,), "conv_kernel": (2,), "num_conv_pos_embeddings": 4}
    models = {
        "vit is not an encoder with layers": ViTModel(ViTConfig(image_size=8, patch_size=4, **sizes)),
        "is_encoder_decoder is set": T5Model(
            T5Config(vocab_size=50, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2)
        ),
        "wav2vec2 cannot encode rows of ids": Wav2Vec2Model(
            Wav2Vec2Config(num_conv_pos_embedding_groups=2, **sizes, **sounds)
        ),
    }
    for number, (message, model) in enumerate(models.items()):
        model.save_pretrained(tmp_path / str(number))
        with pytest.raises(BadInput, match=message):
            Encoder(tmp_path / str(number))


def test_code_in_a_model_folder_is_not_run(bert, tmp_path):
    folder = copied(bert, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "ours", "auto_map": {"AutoConfig": "code.C", "AutoModel": "code.M"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "code.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with pytest.raises(BadInput, match="cannot load the model"):
        EncoderAligner.open(folder, OT, 1)
    assert not (tmp_path / "ran").exists()
