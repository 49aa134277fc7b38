"""Downloads of models from the Hugging Face Hub, by name and commit: MODEL@REVISION."""

import logging
import re
from pathlib import Path
from typing import Any

from calque.derive.errors import BadInput

_NAME = re.compile(r"(?P<model>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<revision>[^/]*))?", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_PARTS = ["*.json", "*.safetensors", "*.model", "*.txt"]
"""Files to download: settings, safetensors, and SentencePiece or WordPiece vocabularies."""
_PATIENCE = 10.0  # timeout for the first request, in seconds


def on_hub(name: str) -> bool:
    """Whether a name refers to a model and revision on the Hub rather than to a local folder."""
    named = _NAME.fullmatch(name)
    return bool(named and named["revision"]) and not Path(name).exists()


def model_folder(name: str, cache: Path | None = None) -> Path:
    """Return the folder `name` if it exists, or else the folder of the Hub model MODEL@REVISION, downloading
    it unless it is in `cache` (by default, the Hub client's cache). Raises BadInput if a Hub model's name
    lacks a revision or the download fails."""
    folder = Path(name)
    if folder.exists() or not (named := _NAME.fullmatch(name)):
        return folder
    model, revision = named["model"], named["revision"] or ""
    from huggingface_hub import HfApi, constants, snapshot_download

    if not _COMMIT.fullmatch(revision):
        cached = _downloaded(model, None, cache)
        example = f", such as the downloaded {model}@{cached.name}" if cached else ""
        needed = f"a revision: {model}@ and a 40-digit commit hash{example}"
        raise BadInput(f"there is no folder {name!r}; to use a model on the Hugging Face Hub, add {needed}")
    if whole := _downloaded(model, revision, cache):
        return whole
    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    logger.setLevel(logging.ERROR)  # suppresses warnings about retries
    try:
        HfApi().model_info(model, revision=revision, timeout=_PATIENCE)
        return Path(snapshot_download(model, revision=revision, cache_dir=cache, allow_patterns=_PARTS))
    except Exception as error:  # the Hub client and its network library raise many types of exceptions
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        fault = f"{model} cannot be downloaded from the Hub ({constants.ENDPOINT})"
        raise BadInput(f"there is no folder {name!r}, and {fault}: {reason}") from None
    finally:
        logger.setLevel(level)


def _downloaded(model: str, revision: str | None, cache: Path | None) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    files: dict[str, Any] = {"revision": revision, "cache_dir": cache, "allow_patterns": _PARTS}
    try:
        return Path(snapshot_download(model, **files, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None
