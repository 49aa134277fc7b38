"""The one table from words to objects: what a person may write on the command line.

Every object is written as it names itself, so `transform("trans-25.inv").name` is `trans-25.inv` again; for
`syn-fr` one may write `syn:fr`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from derive.cognates import Cognates
from derive.errors import BadInput
from derive.forms import NUMBER as PLAIN
from derive.forms import fraction
from derive.order import Invert, Permute
from derive.reorder import SUPERSTRATE_WEIGHT, Reorder
from derive.script import KINDS, By, Transliterate
from derive.transform import Transform, compose
from derive.unknown import shown, unknown
from experiments.superstrates import NAME, substrate, superstrate

if TYPE_CHECKING:  # torch comes with these, and --help does not wait for it
    from experiments.study import Study
    from pretrain.mixture import Mixture
    from pretrain.objective import Objective

NUMBER = f"({PLAIN})"


_SHARED: dict[str, By] = {suffix: by for by, (suffix, _) in KINDS.items()}
_TRANSFORMS: dict[str, Callable[..., Transform]] = {
    rf"trans([2-9])?(?:-{NUMBER})?": lambda script, percent: Transliterate(
        overlap=fraction(percent) if percent else 0.0, script=int(script or 1)
    ),
    rf"trans([2-9])?-{NUMBER}({'|'.join(_SHARED)})": lambda script, percent, kind: Transliterate(
        overlap=fraction(percent), script=int(script or 1), by=_SHARED[kind]
    ),
    rf"trans-stems-{NUMBER}": lambda percent: Cognates(fraction(percent)),
    r"inv": Invert,
    rf"inv-{NUMBER}": lambda percent: Invert(p=_some(percent)),
    r"perm": Permute,
    rf"syn[-:]({NAME})(?:-{NUMBER})?(?:-p{NUMBER})?(-drop)?": lambda *parts: _reorder(*parts),
}
TRANSFORMS = (
    "trans",
    "trans-25 (a quarter of the types shared)",
    "trans-25-most (the most frequent quarter; -least)",
    "trans-100-function (all function words; -names, -content)",
    "trans-stems-50 (half of the stems)",
    "trans2 (another script)",
    "inv",
    "inv-50 (half of the sentences)",
    "perm",
    "syn-fr (French word order)",
    "syn-fr-25 (a quarter of the way)",
    "syn-fr-p50 (half of the sentences)",
)

STUDIES = (
    "pocket",
    "classroom",
    "control",
    "objectives_pocket",
    "objectives_seconds",
    "order_dial",
    "xlm_align_pocket",
    "knowledge",
    "overlap",
    "xlm_align_ablations",
    "word_alignment",
    "wikipedia_small",
    "xlm_align_small",
    "xtreme_small",
    "xtreme_curve",
    "xtreme_continued",
    "xtreme",
    "align_mlm",
    "xlm_align",
    "languages",
    "growth",
)


def transform(name: str) -> Transform:
    """The transform of a name: parts joined by dots, the last applied first, as in `trans.inv`."""
    return compose(*map(_transform, re.split(r"\.(?!\d)", name)))  # the dot of inv-12.5 joins nothing


def _transform(name: str) -> Transform:
    for pattern, make in _TRANSFORMS.items():
        if matched := re.fullmatch(pattern, name):
            try:
                return make(*matched.groups())
            except ValueError as error:
                raise BadInput(f"transform {shown(name)}: {error}") from error
    raise BadInput(unknown("transform", name, (example.split()[0] for example in TRANSFORMS), TRANSFORMS))


def objective(name: str) -> Objective:
    """The objective of a name."""
    from pretrain.objectives import parse

    return parse(name)


def mixture(name: str) -> Mixture:
    """The mixture of a name."""
    from pretrain.mixture import parse

    return parse(name)


def study(name: str) -> Study:
    """The study of a name, or of a Python file."""
    if name.endswith(".py"):
        from experiments.study_file import study_of_file

        own = study_of_file(Path(name))
        if own.name in STUDIES:
            raise BadInput(f"its study is called {own.name}, as one of Calque's is; give it a name of its own", name)
        return own
    if name not in STUDIES:
        raise BadInput(unknown("study", name, STUDIES))
    named: Study = getattr(import_module(f"experiments.studies.{name}"), name)()
    return named


def study_doc(name: str) -> str:
    """The first line of a study's docstring."""
    doc = getattr(import_module(f"experiments.studies.{name}"), name).__doc__
    return str(doc).strip().splitlines()[0]


def _reorder(name: str, weight: str | None, p: str | None, drop: str | None) -> Transform:
    return Reorder(
        superstrate(name),
        substrate(name),
        superstrate_weight=fraction(weight) if weight else SUPERSTRATE_WEIGHT,
        p=_some(p) if p else 1.0,
        oversize="drop" if drop else "keep",
    )


def _some(percent: str) -> float:
    """A fraction of the sentences above 0, at which the language would be the source."""
    if not fraction(percent):
        raise ValueError("expected a share of the sentences above 0 %")
    return fraction(percent)
