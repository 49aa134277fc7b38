"""Models by their names on the Hugging Face hub: the only file that knows the hub.

A name alone means another model tomorrow, so it is written with a revision: `FacebookAI/xlm-roberta-base@` and the 40
digits of a commit.
"""

import logging
import re
from pathlib import Path

from huggingface_hub import HfApi, constants, snapshot_download
from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

from calque.derive.errors import BadInput

_NAME = re.compile(r"(?P<model>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<revision>[^/]*))?", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_PARTS = ["*.json", "*.safetensors", "*.model", "*.txt"]
"""The files of a model and its tokenizer: settings, safe weights, SentencePiece's and WordPiece's tables."""
_PATIENCE = 10.0
"""Seconds in which the hub has to answer the first question; what is fetched after it is tried several times."""


def on_hub(name: str) -> bool:
    """Whether a name is a model of the hub with its revision, and not a folder here."""
    named = _NAME.fullmatch(name)
    return bool(named and named["revision"]) and not Path(name).exists()


def model_folder(name: str, cache: Path | None = None) -> Path:
    """The folder of a model: `name` itself where there is one, else the hub's model `MODEL@REVISION`.

    A model that was downloaded before, into `cache` or the hub's own place, is not asked for again.

    Raises:
        BadInput: there is no such folder, and `name` is no model of the hub with its revision; or the hub has no such
            model or revision, does not answer, or breaks off.
    """
    folder = Path(name)
    if folder.exists() or not (named := _NAME.fullmatch(name)):
        return folder
    model, revision = named["model"], named["revision"] or ""
    if not _COMMIT.fullmatch(revision):
        at_hand = _downloaded(model, None, cache)
        raise BadInput(
            f"no folder {name!r}; a model of the Hugging Face hub is named with its revision, as {model}@ and the 40 "
            f"digits of a commit{f', such as the one at hand: {model}@{at_hand.name}' if at_hand else ''}"
        )
    if whole := _downloaded(model, revision, cache):
        return whole
    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    logger.setLevel(logging.ERROR)  # each attempt is a warning, and the error says how the last one failed
    try:
        HfApi().model_info(model, revision=revision, timeout=_PATIENCE)
        return Path(snapshot_download(model, revision=revision, cache_dir=cache, allow_patterns=_PARTS))
    except Exception as error:  # of the hub's client and of the network library below it, which changes
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        message = f"no folder {name!r}, and the hub ({constants.ENDPOINT}) does not give {model}: {reason}"
        raise BadInput(message) from None
    finally:
        logger.setLevel(level)


def _downloaded(model: str, revision: str | None, cache: Path | None) -> Path | None:
    """The folder of a model that is in the cache, whole."""
    try:
        return Path(
            snapshot_download(model, revision=revision, cache_dir=cache, allow_patterns=_PARTS, local_files_only=True)
        )
    except (LocalEntryNotFoundError, HFValidationError):
        return None
