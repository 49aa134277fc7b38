"""Models by their names on the Hugging Face hub: the only file that knows the hub.

A name alone means another model tomorrow, so it is written with a revision: `FacebookAI/xlm-roberta-base@` and the 40
digits of a commit.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub import HfApi, constants, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from derive.errors import BadInput

_NAME = re.compile(r"(?P<model>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<revision>[^/]*))?", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_PARTS = ["*.json", "*.safetensors", "*.model", "*.txt"]
"""What a model and its tokenizer are read from: settings, safe weights, SentencePiece's and WordPiece's tables."""
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
        raise BadInput(
            f"no folder {name!r}; a model of the Hugging Face hub is named with its revision, as {model}@ and the 40 "
            f"digits of a commit{_here(model, cache)}"
        )
    try:
        return Path(
            snapshot_download(model, revision=revision, cache_dir=cache, allow_patterns=_PARTS, local_files_only=True)
        )
    except (LocalEntryNotFoundError, HFValidationError):
        pass  # it is not at hand yet, or not whole, so the hub is asked
    try:
        with _quiet():
            HfApi().model_info(model, revision=revision, timeout=_PATIENCE)
            return Path(snapshot_download(model, revision=revision, cache_dir=cache, allow_patterns=_PARTS))
    except Exception as error:  # of the hub's client and of the network library below it, which changes
        raise BadInput(f"no folder {name!r}, and {_reason(error, model, revision)}") from None


def _here(model: str, cache: Path | None) -> str:
    """The commit that the cache has for a model's name, in words, where it has one."""
    try:
        found = snapshot_download(model, cache_dir=cache, allow_patterns=_PARTS, local_files_only=True)
    except (LocalEntryNotFoundError, HFValidationError):
        return ""
    return f", such as the one at hand: {model}@{Path(found).name}"


def _reason(error: Exception, model: str, revision: str) -> str:
    """What went wrong, in a line."""
    hub = f"the hub ({constants.ENDPOINT})"
    match error:
        case GatedRepoError():
            return f"{hub} shows {model} only to those who asked for it there and are logged in (hf auth login)"
        case RepositoryNotFoundError():
            return f"{hub} has no model {model}, or shows it only to those who are logged in (hf auth login)"
        case RevisionNotFoundError():
            return f"{hub} has no revision {revision} of {model}"
        case OfflineModeIsEnabled():
            return f"{model} at that revision is not in the cache, whole; the hub is not asked (HF_HUB_OFFLINE)"
        case HfHubHTTPError():
            return f"{hub} answers {error.response.status_code}"
    return f"{hub} does not answer, or broke off: {' '.join(str(error).split())[:200] or type(error).__name__}"


@contextmanager
def _quiet() -> Iterator[None]:
    """Within it the hub's client does not log each attempt: the error says how the last one failed."""
    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
