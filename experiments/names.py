"""The one table from words to objects: what a person may write on the command line.

Every object is written as it names itself. Transforms describe themselves: see `derive.transforms`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from derive.errors import BadInput, shown, unknown
from derive.transforms import transform as transform

if TYPE_CHECKING:  # torch comes with these, and --help does not wait for it
    from experiments.measures import Measure
    from experiments.study import Study
    from pretrain.mixture import Mixture
    from pretrain.objective import Objective

T = TypeVar("T")
ROUNDED = 0.005
"""How far shares that were rounded to whole percents may be from a sum of 1."""
NUMBER = r"([0-9]{1,9}(?:\.[0-9]{1,20})?)"

OBJECTIVES = (
    "MLM",
    "XLM",
    "XLM-10 (a tenth of the sentences parallel)",
    "DICT-MLM",
    "DICT-MLM-label",
    "ALIGN-MLM",
    "ALIGN-MLM-100 (alpha)",
    "LINK",
    "LINK-10 (a tenth of the source's words)",
    "PREALIGN",
    "PREALIGN-both (words of both languages are anchors of its contrast)",
    "PREALIGN-for-25 (its first phase has a quarter of the steps)",
    "XLM-ALIGN",
    "XLM-ALIGN-no-tlm-rows-gold (any of no-tlm, no-dwa, unmasked, all-aligned, label8, rows, unfiltered, dwa8, gold or "
    "estimated)",
    "WEAM",
    "WEAM-100-gold (all sentences parallel, gold links)",
    "PPA",
    "PPA-10-queue512-momentum99 (a tenth of the sentences parallel, 512 keys, a momentum of 0.99)",
    "PPA-mlm, PPA-alone (MLM in place of TLM, nothing in its place)",
    "WORD-ALIGNED-after-MLM (it has to begin with a model)",
    "WORD-ALIGNED-frozen-after-MLM (as its authors' code: towards the starting model's vectors)",
    "XLM-ALIGN-after-MLM (begins with MLM's model, at half of the steps)",
    "XLM-ALIGN-after-MLM-for-25 (at a quarter)",
)

MIXTURES = (
    "50-50 (each half of every step)",
    "90-10",
    "10-90-until-50-then-90-10 (until half of the steps)",
    "sizes-0.7 (by size to that power, of all languages)",
    "90-10-of-100-25 (of all of one language's text and a quarter of the other's)",
    "together (all text in one shuffled order)",
    "sizes-0.7-pairs-50 (half of the rows are of bitexts)",
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


def objective(name: str) -> Objective:
    """The objective of a name."""
    from pretrain.objectives.align_mlm import align_mlm
    from pretrain.objectives.dict_mlm import DictMLM
    from pretrain.objectives.link import Link
    from pretrain.objectives.mlm import MLM
    from pretrain.objectives.xlm import xlm

    table: dict[str, Callable[..., Objective]] = {
        r"MLM": MLM,
        r"XLM": xlm,
        rf"XLM-{NUMBER}": lambda percent: xlm(_fraction(percent)),
        r"DICT-MLM": DictMLM,
        r"DICT-MLM-label": lambda: DictMLM(side="label"),
        r"ALIGN-MLM": align_mlm,
        rf"ALIGN-MLM-{NUMBER}": lambda alpha: align_mlm(float(alpha)),
        r"LINK": Link,
        rf"LINK-{NUMBER}": lambda percent: Link(_fraction(percent)),
        rf"PREALIGN(-both)?(?:-for-{NUMBER})?": _prealign,
        rf"WEAM(?:-{NUMBER})?(-gold)?": _weam,
        rf"WORD-ALIGNED(?:-{NUMBER})?(-gold)?(-frozen)?": _word_aligned,
        rf"PPA(?:-{NUMBER})?(?:-queue([0-9]{{1,9}}))?(?:-momentum{NUMBER})?(-mlm|-alone)?": _ppa,
        rf"XLM-ALIGN(?:-{NUMBER})?(-no-tlm)?(?:-(no-dwa|unmasked|all-aligned))?"
        r"(?:-label([0-9]{1,3}))?(-rows)?(-unfiltered)?(?:-dwa([0-9]{1,3}))?(?:-(gold|estimated))?": _xlm_align,
        rf"(.+)-after-(.+?)(?:-for-{NUMBER})?": _after,
    }
    return _match(name, table, "objective", OBJECTIVES)


def mixture(name: str) -> Mixture:
    """The mixture of a name: shares in percent of each language, the source first, and what follows them when."""
    from pretrain.mixture import Mixture, Phase

    def percents(text: str) -> tuple[float, ...]:
        return tuple(map(_fraction, text.split("-")))

    def phase(text: str) -> Phase:
        shares, _, until = text.partition("-until-")
        if "-" in shares and abs(sum(percents(shares)) - 1) > ROUNDED:
            raise ValueError(f"{shares}: shares in percent add up to 100, not to {100 * sum(percents(shares)):g}")
        return Phase(percents(shares), _fraction(until) if until else 1.0)

    def made(of: str | None, pairs: str | None, exponent: str | None = None, text: str = "") -> Mixture:
        return Mixture(
            phases=tuple(map(phase, text.split("-then-"))) if text else (),
            exponent=float(exponent) if exponent else None,
            text=percents(of) if of else (),
            pairs=_fraction(pairs) if pairs else None,
        )

    shares = rf"{NUMBER}(?:-{NUMBER})*"
    rest = rf"(?:-of-(?P<of>{shares}))?(?:-pairs-(?P<pairs>{NUMBER}))?"
    table: dict[str, Callable[..., Mixture]] = {
        rf"(?P<text>{shares}(?:-until-{NUMBER}-then-{shares})*){rest}": made,
        rf"(?:sizes-(?P<exponent>{NUMBER})|together){rest}": made,
    }
    return _match(name, table, "mixture", MIXTURES)


def measure(name: str) -> Measure:
    """The measure without settings of a name."""
    from experiments.measures import MEASURES

    if name not in MEASURES:
        raise BadInput(unknown("measure", name, MEASURES))
    return MEASURES[name]


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
    made: Study = getattr(import_module(f"experiments.studies.{name}"), name)()
    return made


def study_doc(name: str) -> str:
    """The first line of a study's docstring."""
    doc = getattr(import_module(f"experiments.studies.{name}"), name).__doc__
    return str(doc).strip().splitlines()[0]


def _xlm_align(
    percent: str | None,
    no_tlm: str | None,
    queries: str | None,
    label: str | None,
    rows: str | None,
    unfiltered: str | None,
    layer: str | None,
    labels: str | None,
) -> Objective:
    from pretrain.objectives.xlm_align import DWA, Labels, Positions, xlm_align

    asked: dict[str | None, Positions] = {
        None: "masked",
        "no-dwa": "none",
        "unmasked": "unmasked",
        "all-aligned": "all-aligned",
    }
    known: dict[str | None, Labels] = {None: "self", "gold": "gold", "estimated": "estimated"}
    return xlm_align(
        DWA(
            parallel_fraction=_fraction(percent) if percent else 0.25,
            tlm=not no_tlm,
            queries=asked[queries],
            labels=known[labels],
            label_layer=int(label) if label else None,
            first="rows" if rows else "columns",
            filtering=not unfiltered,
            layer=int(layer) if layer else None,
        )
    )


def _prealign(both: str | None, percent: str | None) -> Objective:
    from pretrain.objectives.prealign import PORTION, PreAlign

    return PreAlign(portion=_fraction(percent) if percent else PORTION, anchors="both" if both else "first")


def _weam(percent: str | None, gold: str | None) -> Objective:
    from pretrain.objective import GOLD, GROWN
    from pretrain.objectives.weam import WEAM

    return WEAM(_fraction(percent) if percent else 0.25, links=GOLD if gold else GROWN)


def _ppa(percent: str | None, queue: str | None, momentum: str | None, variant: str | None) -> Objective:
    from pretrain.objectives.ppa import PPA, VARIANTS

    usual = PPA()
    return PPA(
        _fraction(percent) if percent else usual.parallel_fraction,
        queue=int(queue) if queue else usual.queue,
        momentum=_fraction(momentum) if momentum else usual.momentum,
        beside=next(beside for beside, (name, _) in VARIANTS.items() if name == (variant or "")),
    )


def _word_aligned(percent: str | None, gold: str | None, frozen: str | None) -> Objective:
    from pretrain.objective import GOLD
    from pretrain.objectives.word_aligned import WordAligned

    return WordAligned(
        _fraction(percent) if percent else 0.25, links=GOLD if gold else "intersect", frozen=bool(frozen)
    )


def _after(then: str, first: str, portion: str | None) -> Objective:
    from pretrain.objectives.after import After

    return After(objective(then), objective(first), _fraction(portion) if portion else 0.5)


def _fraction(percent: str) -> float:
    return float(f"{percent}e-2")  # read as it is written; 12.3 / 100 is not 0.123


def _match(name: str, table: dict[str, Callable[..., T]], kind: str, known: tuple[str, ...]) -> T:
    for pattern, make in table.items():
        if matched := re.fullmatch(pattern, name):
            try:
                named = matched.groupdict()
                return make(**named) if named else make(*matched.groups())
            except ValueError as error:
                raise BadInput(f"{kind} {shown(name)}: {error}") from error
    raise BadInput(unknown(kind, name, (example.split()[0] for example in known), known))
