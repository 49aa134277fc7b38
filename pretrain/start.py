"""The checkpoint that a run begins with, instead of weights that are drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import RobertaConfig, RobertaForMaskedLM
from transformers.utils.logging import disable_progress_bar

from derive.errors import BadInput
from derive.files import MANIFEST, sha256
from pretrain.checkpoint import read_manifest

WEIGHTS = "model.safetensors"
SHAPE = (
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "vocab_size",
    "max_position_embeddings",
    "type_vocab_size",
)
"""What of transformers' config decides which weights there are and what they compute."""


def weights_digest(folder: Path) -> str:
    """The sha256 of a checkpoint's weights.

    Raises:
        BadInput: there are none, in one safetensors file.
    """
    path = folder / WEIGHTS
    if not path.is_file():
        raise BadInput("no weights to begin with; expected a checkpoint's folder with them in one file", path)
    return sha256(path)


def begin_with(model: RobertaForMaskedLM, folder: Path, tokenizer: Path) -> None:
    """Give a model the weights of a checkpoint, in place.

    Raises:
        BadInput: the checkpoint is damaged, its ids mean other types than those of `tokenizer`, or its model is of
            another shape: naming every difference.
    """
    if (folder.parent / MANIFEST).exists():  # it is one of ours, and says what its weights are
        read_manifest(folder.parent)
    theirs = folder / "tokenizer.json"
    if not theirs.is_file() or sha256(theirs) != sha256(tokenizer):
        raise BadInput(f"expected the vocabulary of {tokenizer}, so that an id is the same type to both", theirs)
    disable_progress_bar()  # of a file that is read in a blink
    try:
        config = RobertaConfig.from_pretrained(folder)
        other = _differences(config, model.config)
        if other:
            raise BadInput(f"a model of another shape: {'; '.join(other)}", folder)
        loaded: Any = RobertaForMaskedLM.from_pretrained(
            folder, config=model.config, dtype=torch.float32, use_safetensors=True, output_loading_info=True
        )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise BadInput(f"not a checkpoint that can be loaded: {error}", folder) from error
    found, report = loaded
    if report["missing_keys"]:
        raise BadInput(f"lacks the weights {', '.join(sorted(report['missing_keys']))}", folder / WEIGHTS)
    model.load_state_dict(found.state_dict())


def _differences(found: Any, wanted: Any) -> list[str]:
    return [
        f"{name} {getattr(found, name)}, not {getattr(wanted, name)}"
        for name in SHAPE
        if getattr(found, name) != getattr(wanted, name)
    ]
