import numpy as np
import pytest
from safetensors import safe_open
from tokenizers import Tokenizer
from transformers import pipeline

from calque.derive.languages import Languages
from calque.derive.natural import derive_natural
from calque.pretrain.config import ModelConfig, TrainConfig
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.run import Pretraining, pretrain
from calque.pretrain.saved_model import check_start
from tests.derive.natural.made import EN, inputs
from tests.pretrain.made import one_process

MODEL = ModelConfig(layers=12, heads=12, hidden=384, ffn=1536, length=32)
TRAIN = TrainConfig(steps=2, batch=4, learning_rate=1e-4, warmup=1, log_every=1, probe_every=0, save_every=0)
TABLE = "embeddings.word_embeddings.weight"


@pytest.mark.slow
def test_real_encoder_is_trained_on_rows_of_its_text(calque_encoder, tmp_path):
    check_start(calque_encoder, MODEL)
    derive_natural(*inputs(tmp_path), calque_encoder, tmp_path / "made")
    languages = Languages.open(tmp_path / "made", ["en", "xx"])
    kept = languages.kept
    assert languages.whole.rows == 250_002 and languages.rows == len(kept) < 1_000
    config = Pretraining(languages, MLM(), MODEL, TRAIN, 0, calque_encoder)
    checkpoint = pretrain(tmp_path / "run", config, one_process())

    with (
        safe_open(calque_encoder / "model.safetensors", "pt") as start,
        safe_open(checkpoint / "model.safetensors", "pt") as end,
    ):
        before, after = start.get_tensor(TABLE).float(), end.get_tensor(f"bert.{TABLE}")
        bias = end.get_tensor("cls.predictions.bias")
    others = np.setdiff1d(np.arange(250_037), kept)
    assert after[others].equal(before[others]) and (after[kept] != before[kept]).any(1).all()
    assert not bias[others].any() and bias[kept].any()

    fill = pipeline("fill-mask", model=str(checkpoint))
    plain = Tokenizer.from_file(str(calque_encoder / "tokenizer.json"))
    assert fill.tokenizer(EN[:20]).input_ids == [plain.encode(line).ids for line in EN[:20]]
    assert len(fill(f"Paris est la {fill.tokenizer.mask_token} de la France.")) == 5
