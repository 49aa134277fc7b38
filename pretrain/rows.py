"""A model that has rows of some types only, while it is trained, and the whole one that it becomes again.

A pretrained encoder has a row for each type of its tokenizer (XLM-R's 250,037), and text of a few languages uses a
fraction of them. While it is trained, a model has the rows of the types that are kept: softmax, gradient, AdamW's
moments and states are of that size. Its checkpoint has all rows again, those that were not kept as they were.

Shapes: V types of the tokenizer, R of them kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from derive.errors import BadInput
from pretrain.architecture import architecture_of


def with_rows(model: Any, kept: np.ndarray, pad: int) -> Any:
    """The model with rows of the types `kept` alone, in their order: its row i is that of the type kept[i].

    So of its table, of the prediction head's, where that is another, and of the head's bias. `kept` (R,) is int64, and
    `pad` the row of padding.

    Raises:
        BadInput: the model counts positions from padding's id, and padding's row has another number.
    """
    config = model.config
    if architecture_of(config).counts_from_padding and pad != config.pad_token_id:
        raise BadInput(
            f"positions count from padding's id, {config.pad_token_id}, so all types before it need rows; "
            f"{pad} of them have one"
        )
    made = type(model)(type(config).from_dict(config.to_dict() | {"vocab_size": len(kept), "pad_token_id": pad}))
    rows, whole = torch.from_numpy(kept), model.state_dict()
    with torch.no_grad():
        for name, tensor in made.state_dict().items():
            tensor.copy_(whole[name][rows] if _has_rows(whole[name], tensor) else whole[name])
    return made


def put_back(trained: Any, kept: np.ndarray, into: Any) -> None:
    """Write what `with_rows` made and a run trained into the whole model; rows that were not kept stay as they are."""
    rows, whole = torch.from_numpy(kept), into.state_dict()
    with torch.no_grad():
        for name, tensor in trained.state_dict().items():
            if _has_rows(whole[name], tensor):
                whole[name][rows] = tensor.to(whole[name].device)
            else:
                whole[name].copy_(tensor)


def _has_rows(whole: Tensor, some: Tensor) -> bool:
    """Whether a tensor has a row for each type, as far as that matters: a model of fewer types has it smaller."""
    return whole.shape != some.shape
