"""A first check of `--set`, from the source of the classes that it sets: it needs no torch, so a typo is found at once.

It knows only the first part of a key, and the second one in models, training and mixtures; `override` checks the rest.
"""

import ast
from collections.abc import Iterable, Sequence
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


def check_keys(settings: Iterable[str], option: str = "--set") -> None:
    """Refuse keys that no study of Calque's can have."""
    if mistakes := [f"{option} {setting}: {wrong}" for setting in settings if (wrong := _mistake(setting))]:
        raise BadInput(mistakes)


def _mistake(setting: str) -> str:
    key, equals, _ = setting.partition("=")
    if not equals:
        return "expected key=value"
    first, *rest = key.strip().split(".")
    fields = _fields()
    if all(first not in names for names in fields.values()):
        return _unknown(first, [*fields["Study"], *(name for names in fields.values() for name in names)])
    names = fields[OF_PART[first]] if first in OF_PART else ()
    return _unknown(rest[0], names) if rest and names and rest[0] not in names else ""


def _unknown(name: str, names: Sequence[str]) -> str:
    return f"there is no {shown(name)}; {nearest(name, names) or 'there are ' + ', '.join(dict.fromkeys(names))}"


@cache
def _fields() -> dict[str, list[str]]:
    """The annotated fields of every class of the files."""
    trees = (ast.parse((ROOT / path).read_text(encoding="utf-8")) for path in WITH_SETTINGS)
    classes = (part for tree in trees for part in tree.body if isinstance(part, ast.ClassDef))
    return {
        each.name: [
            part.target.id
            for part in each.body
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
        ]
        for each in classes
    }
