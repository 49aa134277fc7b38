"""Colours and markers of objectives, the same in every figure of a report."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.report.style import LOOKS

OWN = dict(zip(("MLM", "XLM", "DICT-MLM", "ALIGN-MLM"), LOOKS, strict=False))
"""Those of the objectives that ALIGN-MLM compares, in every study."""
OTHERS = LOOKS[len(OWN) :]
"""Those of all other objectives, in the order in which a study has them."""


def distinct(objectives: Sequence[str]) -> bool:
    """Whether a figure can tell these objectives apart."""
    return len([name for name in objectives if name not in OWN]) <= len(OTHERS)


def looks(objectives: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Colour and marker of each objective, in their order. Give all of a study's, also where fewer are drawn.

    Raises:
        ValueError: more others than there are looks, so that two would look the same.
    """
    others = [name for name in objectives if name not in OWN]
    if not distinct(objectives):
        raise ValueError(f"{len(others)} objectives besides {', '.join(OWN)}; a figure can tell {len(OTHERS)} apart")
    all_looks = OWN | dict(zip(others, OTHERS, strict=False))
    return {name: all_looks[name] for name in objectives}
