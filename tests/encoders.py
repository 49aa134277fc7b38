import torch
from transformers import RobertaConfig, RobertaForMaskedLM
from transformers.utils.logging import disable_progress_bar

from calque.derive.types import OURS


def small_roberta(types, length):
    disable_progress_bar()
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=types,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        initializer_range=0.2,
        max_position_embeddings=length + OURS.pad + 1,
    )
    return RobertaForMaskedLM(config)
