"""Models by their names on the Hugging Face hub: the only file that knows the hub."""

from __future__ import annotations

import re
from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

from derive.errors import BadInput

_NAME = re.compile(r"[\w.-]+(?:/[\w.-]+)?", re.ASCII)
_PARTS = ["*.json", "*.safetensors", "*.model", "*.txt"]
"""What a model and its tokenizer are read from: settings, safe weights, SentencePiece's and WordPiece's tables."""


def model_folder(name: str, cache: Path | None = None) -> Path:
    """The folder of a model: `name` itself where there is one, else the hub's model of that name.

    What was downloaded before is not asked for again; `cache` is where it lies, or the hub's own place.

    Raises:
        BadInput: there is no such folder, and no model of that name here or on the hub.
    """
    folder = Path(name)
    if folder.exists() or not _NAME.fullmatch(name):
        return folder
    try:
        return Path(snapshot_download(name, cache_dir=cache, allow_patterns=_PARTS, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        pass  # it is not at hand yet, so the hub is asked
    try:
        return Path(snapshot_download(name, cache_dir=cache, allow_patterns=_PARTS))
    except (OSError, ValueError, HfHubHTTPError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise BadInput(f"no folder {name!r}, and no model of that name from the Hugging Face hub: {said[0]}") from None
