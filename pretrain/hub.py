"""Models by name from the Hugging Face hub: the only file that uses the hub.

Names include a revision, because a model may change: `FacebookAI/xlm-roberta-base@` and the 40 digits of a
    commit.
"""

import logging
import re
from pathlib import Path
from typing import Any

from calque.derive.errors import BadInput

_NAME = re.compile(r"(?P<model>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<revision>[^/]*))?", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_PARTS = ["*.json", "*.safetensors", "*.model", "*.txt"]
"""The files of a model and its tokenizer: settings, safetensors, and the tables of SentencePiece and WordPiece."""
_PATIENCE = 10.0  # timeout in seconds for the first request; later downloads are retried


def on_hub(name: str) -> bool:
    """Whether a name is a hub model with a revision, and not a local folder."""
    named = _NAME.fullmatch(name)
    return bool(named and named["revision"]) and not Path(name).exists()


def model_folder(name: str, cache: Path | None = None) -> Path:
    """The folder of a model: the folder `name` if it exists, otherwise the hub's model `MODEL@REVISION`. A
    model in `cache`, or in the hub's default cache, is not downloaded again. BadInput if `name` lacks its
    revision, or if the download fails."""
    folder = Path(name)
    if folder.exists() or not (named := _NAME.fullmatch(name)):
        return folder
    model, revision = named["model"], named["revision"] or ""
    from huggingface_hub import HfApi, constants, snapshot_download

    if not _COMMIT.fullmatch(revision):
        cached = _downloaded(model, None, cache)
        example = f", such as the downloaded {model}@{cached.name}" if cached else ""
        needed = f"its revision: {model}@ and the 40 digits of a commit{example}"
        raise BadInput(f"no folder {name!r}; a model of the Hugging Face hub needs {needed}")
    if whole := _downloaded(model, revision, cache):
        return whole
    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    logger.setLevel(logging.ERROR)  # no warning per attempt; the error describes the last one
    try:
        HfApi().model_info(model, revision=revision, timeout=_PATIENCE)
        return Path(snapshot_download(model, revision=revision, cache_dir=cache, allow_patterns=_PARTS))
    except Exception as error:  # errors of the hub's client and of its network library, which changes
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        fault = f"{model} cannot be downloaded from the hub ({constants.ENDPOINT})"
        raise BadInput(f"no folder {name!r}, and {fault}: {reason}") from None
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
