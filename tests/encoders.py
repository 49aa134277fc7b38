import torch
from transformers import RobertaConfig, RobertaForMaskedLM
from transformers.utils.logging import disable_progress_bar

from calque.derive.vocabulary import OURS

SIZES = {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64, "initializer_range": 0.2}


def small_roberta(types, length, layers=2, **changes):
    disable_progress_bar()
    torch.manual_seed(0)
    positions = length + OURS.pad + 1
    sizes = {"vocab_size": types, "num_hidden_layers": layers, "max_position_embeddings": positions, **SIZES}
    return RobertaForMaskedLM(RobertaConfig(**sizes | changes))
