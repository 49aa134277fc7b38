"""Models and tokenizers of a folder, as transformers saves them: the one file that loads them.

Nothing that lies in a folder is run (trust_remote_code), nothing is unpickled (weights in safetensors only), nothing is
fetched, and nothing is asked on the terminal. transformers itself is asked about a kind of model, so any that it knows
can be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedConfig, PreTrainedModel
from transformers.utils import logging

from derive.artefact import check_part
from derive.errors import BadInput

CONFIG, WEIGHTS = "config.json", "model.safetensors"
RUN = "run"
"""The kind of artefact that a run's folder is."""
_LAYER = re.compile(r"\blayers?\.\d+\.")
_SAFELY = {"local_files_only": True, "trust_remote_code": False}


def read_config(folder: Path) -> PreTrainedConfig:
    """What a model's folder says of its shape.

    Raises:
        BadInput: there is no config.json, it cannot be read, or only code of its own could read it.
    """
    if not (folder / CONFIG).is_file():
        raise BadInput(f"no model here: expected a folder with {CONFIG}, {WEIGHTS} and a tokenizer", folder)
    return _loaded(folder, "model", lambda: AutoConfig.from_pretrained(folder, **_SAFELY))


def load_model(folder: Path, kind: Any = AutoModel, **options: Any) -> tuple[PreTrainedModel, list[str]]:
    """The model of a folder on the CPU in float32, and the names of the weights that the folder lacks, sorted.

    `kind` is the class of transformers, or the Auto class, whose `from_pretrained` makes it; `options` go there too.

    Raises:
        BadInput: there is no model, its weights are not in safetensors or do not fit, only code of its own reads it,
            it has weights of layers that its config does not have, or it is the checkpoint of a run and a byte of it,
            or of the run's manifest, has changed.
        MemoryError: it does not fit into memory.
    """
    check_part(folder, RUN)  # safetensors have no checksum
    read_config(folder)
    made, report = _loaded(
        folder,
        "model",
        lambda: kind.from_pretrained(
            folder, use_safetensors=True, output_loading_info=True, dtype=torch.float32, **_for(kind), **options
        ),
    )
    if extra := sorted(name for name in report["unexpected_keys"] if _LAYER.search(name)):
        raise BadInput(f"{CONFIG} has no such layer as that of the weights {extra[0]}", folder)
    return made, sorted(report["missing_keys"])


def load_tokenizer(folder: Path) -> Any:
    """The tokenizer of a folder.

    Raises:
        BadInput: there is none that can be read, or only code of its own could.
    """
    return _loaded(folder, "tokenizer", lambda: AutoTokenizer.from_pretrained(folder, **_SAFELY))


def _for(kind: Any) -> dict[str, Any]:
    """The options that forbid code: a class of transformers itself runs none, and does not know all of them."""
    return _SAFELY if kind.__name__.startswith("Auto") else {"local_files_only": True}


def _loaded(place: Path, what: str, load: Callable[[], Any]) -> Any:
    """What `load` returns, without transformers' own messages; what it cannot load is the folder's fault."""
    level = logging.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        return load()
    except MemoryError:
        raise
    except Exception as error:  # of a dozen kinds, by what is damaged
        said = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, torch.OutOfMemoryError) or "allocate memory" in said:
            raise MemoryError(f"{place}: {said[:200]}") from None
        raise BadInput(f"no {what} that can be loaded: {said[:300]}", place) from None
    finally:
        logging.set_verbosity(level)
