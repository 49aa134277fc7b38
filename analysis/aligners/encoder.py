"""Hidden states of any transformers encoder. Shapes: B rows, L ids of the longest, H hidden."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel
from transformers.utils import logging

from derive.errors import BadInput

LIKE_BERT = frozenset({"bert", "camembert", "electra", "roberta", "xlm-roberta"})
"""Models in which nothing comes after the last layer, so that those above the one wanted can be cut off."""
_LONGEST = 512
"""Ids a row where the model has no table of positions, hence no limit of its own."""


class Encoder:
    """The layers of a model up to one of them, without dropout.

    Attributes:
        layers: how many the whole model has.
        length: how many ids a row may have.
        token_types: how many kinds of token the model tells apart.
        types: rows of its embedding table.
    """

    def __init__(self, folder: Path, layer: int, device: str = "cpu") -> None:
        """Load the model of a folder; layer 0 are the embeddings.

        Raises:
            BadInput: no model that can be read is there, weights are missing, it has no such layer, or no such device.
        """
        self.folder, self.layer, self.device = folder, layer, _device(device)
        if not (folder / "config.json").is_file():
            raise BadInput("no model here: expected a folder with config.json, weights and a tokenizer", folder)
        config = _quietly(folder, AutoConfig.from_pretrained, folder, local_files_only=True)
        if getattr(config, "is_encoder_decoder", False):
            raise BadInput(f"{config.model_type} is no encoder alone", folder)
        text = config.get_text_config()
        layers, types = (getattr(text, name, None) for name in ("num_hidden_layers", "vocab_size"))
        if layers is None or types is None:
            raise BadInput(f"{config.model_type} has no layers over a table of sub-words", folder)
        if not 0 <= layer <= layers:
            raise BadInput(f"no layer {layer}: the model has {layers}, and 0 are its embeddings", folder)
        model, loaded = _quietly(
            folder, AutoModel.from_pretrained, folder, local_files_only=True, output_loading_info=True
        )
        missing = sorted(name for name in loaded["missing_keys"] if "pooler" not in name)
        if missing:
            raise BadInput(f"{len(missing):,} weights are missing, such as {missing[0]}", folder)
        if config.model_type in LIKE_BERT:
            model.encoder.layer = model.encoder.layer[: max(1, layer)]  # without any, the embeddings are not told
            model.pooler = None
        self._model = model.eval().to(self.device, torch.float32)
        self._padding = config.pad_token_id or 0
        self.length, self.types, self.layers = _length(model, config), int(types), int(layers)
        self.token_types: int = getattr(config, "type_vocab_size", 0) or 0

    @torch.inference_mode()
    def __call__(self, rows: Sequence[Sequence[int]], token_types: Sequence[Sequence[int]] | None = None) -> Tensor:
        """What each position of rows of ids holds after the layer, (B, L, H) float32; padding holds anything.

        `token_types` are shaped as the rows; without them all are 0.

        Raises:
            BadInput: the model's numbers are not finite.
        """
        ids, mask = _padded(rows, self._padding)
        inputs = {"input_ids": ids, "attention_mask": None if mask.all() else mask.long()}
        if token_types is not None:
            inputs["token_type_ids"] = _padded(token_types, 0)[0]
        inputs = {name: tensor.to(self.device) for name, tensor in inputs.items() if tensor is not None}
        hidden = self._model(**inputs, output_hidden_states=True).hidden_states[self.layer]
        if not hidden[mask.to(self.device)].isfinite().all():
            raise BadInput(f"layer {self.layer} of the model has numbers that are not finite", self.folder)
        return hidden


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise BadInput(f"cannot compute on {name!r}: {str(error).splitlines()[0]}") from None
    return device


def _quietly(folder: Path, load: Any, *arguments: Any, **options: Any) -> Any:
    """Load what a folder has, without transformers' own messages; what it cannot load is the folder's fault."""
    level = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        return load(*arguments, **options)
    except Exception as error:  # of a dozen kinds, by what is damaged
        raise BadInput(f"no model that can be loaded: {str(error).strip().splitlines()[0]}", folder) from None
    finally:
        logging.set_verbosity(level)


def _length(model: nn.Module, config: Any) -> int:
    """How many positions the model has; RoBERTa's family counts them from the one after padding's."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            return module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)
    return int(getattr(config, "max_position_embeddings", _LONGEST))


def _padded(rows: Sequence[Sequence[int]], filler: int) -> tuple[Tensor, Tensor]:
    """Rows as one table, (B, L) int64, and where it is not padding, (B, L)."""
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    real = np.arange(lengths.max()) < lengths[:, None]
    table = np.full(real.shape, filler)
    table[real] = np.concatenate([np.asarray(row, np.int64) for row in rows])
    return torch.from_numpy(table), torch.from_numpy(real)
