from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import RobertaConfig, RobertaForMaskedLM

MakeCheckpoint = Callable[..., Path]


@pytest.fixture(scope="session")
def make_checkpoint(tmp_path_factory):
    """`make_checkpoint(types, languages=1, length=64)`: an untrained model of one layer with `types` rows."""

    def make(types, languages=1, length=64):
        config = RobertaConfig(
            vocab_size=types,
            hidden_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=64,
            attention_probs_dropout_prob=0.0,
            max_position_embeddings=length + 2,
            type_vocab_size=languages,
            initializer_range=0.1,
            layer_norm_eps=1e-5,
        )
        torch.manual_seed(0)
        folder = tmp_path_factory.mktemp("run") / "checkpoint"
        RobertaForMaskedLM(config).save_pretrained(folder)
        return folder

    return make
