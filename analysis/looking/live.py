"""A small model as data for a page, which computes guesses with it: half-precision weights and the
vocabulary."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calque.analysis.checkpoint import Checkpoint
from calque.derive.language import SOURCE
from calque.pretrain.architecture import ROBERTA, XLM_R

MOST = 500_000  # maximum number of weights
ACTIVATION = "gelu"  # the only one in `live.js`


def live_data(
    model: Checkpoint, texts: Mapping[str, Sequence[str]], glosses: Mapping[str, str]
) -> dict[str, Any] | None:
    """The input of `analysis/report/live.js`; None if the model is too large or not a RoBERTa."""
    config, parameters = model.model.config, [each.detach().numpy() for each in model.model.parameters()]
    size, known = sum(each.size for each in parameters), {ROBERTA.model_type, XLM_R.model_type}
    if config.model_type not in known or config.hidden_act != ACTIVATION or size > MOST or not texts:
        return None
    tokenizer = model.tokenizers[SOURCE]
    names = [model.name(i)[0] for i in range(config.vocab_size)]
    before, after = tokenizer("")["input_ids"]
    types = {}
    for language in model.languages:
        ids = model.ids(language).tolist()
        encoded = model.pieces([names[i] for i in ids], language)
        types[language] = [i for i, found in zip(ids, encoded, strict=True) if found == [i]]
    shape = {
        "words": config.vocab_size,
        "layers": config.num_hidden_layers,
        "heads": config.num_attention_heads,
        "hidden": config.hidden_size,
        "ffn": config.intermediate_size,
        "positions": config.max_position_embeddings,
        "first": ROBERTA.first_position(config),
        "types": config.type_vocab_size,
        "eps": config.layer_norm_eps,
    }
    halves = np.concatenate([each.ravel() for each in parameters]).astype("<f2")
    return {
        "names": names,
        "glosses": {i: glosses[name] for i, name in enumerate(names) if glosses.get(name, name) != name},
        "types": types,
        "numbers": {language: model.token_type(language) for language in types},
        "texts": {language: _masked(words, tokenizer.mask_token) for language, words in texts.items()},
        "mask": [tokenizer.mask_token, tokenizer.mask_token_id],
        "around": [before, after],
        "shape": shape,
        "weights": base64.b64encode(halves.tobytes()).decode(),
    }


def _masked(words: Sequence[str], mask: str) -> str:
    place = words.index(mask) if mask in words else max(range(len(words)), key=lambda i: len(words[i]))
    return " ".join(mask if i == place else word for i, word in enumerate(words))
