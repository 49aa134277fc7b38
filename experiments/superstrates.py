"""The word orders that can be named: available grammars and treebanks, and the variants of Pocket English.

A name is looked up in this order: `grammars/NAME.json` (or below CALQUE_GRAMMARS), which `calque grammar train` writes;
Pocket English and its variants; the treebanks below CALQUE_DATA/ud whose files begin with `NAME_`, as UD's own do.
"""

from __future__ import annotations

import os
from glob import escape
from pathlib import Path

from derive.errors import BadInput
from derive.pocket.orders import ORDERS
from derive.superstrate import GrammarFile, Learned, PocketTreebank, Superstrate, TreebankFiles
from derive.unknown import unknown

GRAMMARS = "grammars"
NAME = "[A-Za-z][A-Za-z0-9_]{0,63}"
"""The names that a word order may have: a dash would begin a parameter."""


def superstrate(name: str) -> Superstrate:
    """The word order of a name: a variant of Pocket English (`verbfinal`) or a language (`fr`).

    Raises:
        BadInput: there is no such grammar or treebank.
    """
    file = Path(os.environ.get("CALQUE_GRAMMARS") or GRAMMARS) / f"{name}.json"
    return GrammarFile(name, file) if file.is_file() else trees(name)


def trees(name: str) -> Learned:
    """The treebank of a name, also where there is a grammar of it.

    Raises:
        BadInput: there is none.
    """
    if name in ORDERS:
        return PocketTreebank(name)
    if files := treebank(name):
        return TreebankFiles(name, files)
    raise BadInput(
        f"{unknown('word order', name, ORDERS)}, and any language whose grammar is in {GRAMMARS}/ or whose treebank is "
        "below ud/ of the folder that CALQUE_DATA names (`calque data fetch ud` gets some)"
    )


def treebank(language: str) -> tuple[Path, ...]:
    """The language's treebank files below CALQUE_DATA/ud: those for training, or all there are.

    PUD treebanks, the same thousand sentences in every language, only where there is no other.
    """
    treebanks = sorted(Path(os.environ.get("CALQUE_DATA") or "data", "ud").glob(f"*/{escape(language)}_*.conllu"))
    others = [path for path in treebanks if "_pud-" not in path.name] or treebanks
    return tuple(path for path in others if path.stem.endswith("-train")) or tuple(others)


def substrate(name: str) -> Superstrate:
    """The substrate of a word order of that name: Pocket English for its variants, English for the others."""
    return PocketTreebank("english") if name in ORDERS else superstrate("en")
