"""A first check of `--set`, from the source of the classes that it sets: it needs no torch, so a typo is found at once.

It knows the first part of a key, the second one in models, training and mixtures, and numbers; `override` knows all.
"""

import ast
import math
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

from calque.derive.errors import BadInput, nearest, shown

ROOT = Path(__file__).parents[1]
WITH_SETTINGS = (
    *(f"experiments/{name}.py" for name in ("study", "languages", "measures", "aligners", "finetuning")),
    *("pretrain/config.py", "pretrain/mixture.py"),
)
"""The files with the classes of a study's parts."""
OF_PART = {"model": "ModelConfig", "train": "TrainConfig", "head": "TrainConfig", "mixture": "Mixture"}
NUMBERS: dict[str, type[int] | type[float]] = {"int": int, "tuple[int, ...]": int, "float": float}
"""The kinds of numbers by the annotations of fields."""
LARGEST = 2**63  # seeds of random generators and sizes of arrays are below it


def check_settings(settings: Sequence[str], sweeps: Sequence[str]) -> None:
    """Refuse keys that no study of Calque's can have, together with wrong numbers. If another value
    can only be checked by the study, nothing is refused here, and `override` reports all mistakes."""
    mistakes, complete = [], True
    for option, setting in [*(("--set", one) for one in settings), *(("--sweep", one) for one in sweeps)]:
        try:
            complete &= _check(setting, several=option == "--sweep")
        except ValueError as error:
            mistakes.append(f"{option} {setting}: {error}")
    if mistakes and complete:
        raise BadInput(mistakes)


def _check(setting: str, several: bool) -> bool:
    """Whether the setting is known to be right, or only its key, as of `several` values. Raises ValueError if wrong."""
    key, equals, text = setting.partition("=")
    if not equals:
        raise ValueError("expected key=value")
    first, *rest = key.strip().split(".")
    classes = _fields()
    names = classes["Study"]
    known = dict.fromkeys(name for its in (names, *classes.values()) for name in its if name != "name")
    parts = {name for name, kind in names.items() if kind.split()[0] in classes}
    own = [name for name in names if name != "name" and (rest or name not in parts)]
    if first not in known and nearest(first, known) and not nearest(first, own):
        return False  # `override` knows the fields of the study
    check_known(first, known, own)
    if rest and first in OF_PART:
        names, first, rest = classes[OF_PART[first]], rest[0], rest[1:]
        check_known(first, names)
    kind = NUMBERS.get(names.get(first, ""))
    if rest or several or kind is None:
        return False
    for part in text.split(",") if names[first].startswith("tuple") else [text]:
        read_number(part.strip(), kind)
    return True


def check_known(key: str, names: Collection[str], settable: Collection[str] | None = None) -> None:
    """Raise ValueError for a key that is none of the names; it may suggest a `settable` one."""
    if key not in names:
        near = nearest(key, names if settable is None else settable)
        there = f"there are {', '.join(names)}" if names else "it has none"
        raise ValueError(f"there is no {shown(key)}; {near or there}")


def read_number(text: str, kind: type[int] | type[float]) -> int | float:
    """The number that a text says. Raises ValueError for any other text, or a number too large to use."""
    try:
        if "_" in text or not text.isascii():  # Python accepts 1_000 and digits of all scripts
            raise ValueError
        value = kind(text)
    except ValueError:
        raise ValueError(f"expected {kind.__name__}, not {shown(text)}") from None
    if isinstance(value, int) and abs(value) >= LARGEST:
        raise ValueError(f"expected a number below 2**63, not {shown(text)}")
    if not math.isfinite(value):
        raise ValueError(f"expected a finite number, not {shown(text)}")
    return value


@cache
def _fields() -> dict[str, dict[str, str]]:
    trees = (ast.parse((ROOT / path).read_text(encoding="utf-8")) for path in WITH_SETTINGS)
    classes = (part for tree in trees for part in tree.body if isinstance(part, ast.ClassDef))
    return {
        each.name: {
            ast.unparse(part.target): ast.unparse(part.annotation)
            for part in each.body
            if isinstance(part, ast.AnnAssign)
        }
        for each in classes
    }
