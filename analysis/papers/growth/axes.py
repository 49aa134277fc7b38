"""The axis of steps, which are as far apart as their logarithms, with a place for 0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

ROOM = 0.55
"""Step 0 stands where this part of the first other step would."""


def places(steps: Sequence[float], all_steps: Sequence[int]) -> list[float]:
    """Where steps stand on a logarithmic axis that has a place for 0."""
    return [step if step else ROOM * _first(all_steps) for step in steps]


def heights(
    steps: Sequence[int], values: Sequence[float], wanted: Sequence[int], all_steps: Sequence[int]
) -> list[float]:
    """How high a line through (step, value) is drawn at other steps; no number before its first and after its last."""
    at, here = (np.log(places(some, all_steps)) for some in (wanted, steps))
    drawn: list[float] = np.interp(at, here, values, left=np.nan, right=np.nan).tolist()
    return drawn


def step_axis(axes: Axes, all_steps: Sequence[int], label: bool = True) -> None:
    """Make it the axis of these steps: ticks at 0 and at powers of ten."""
    last, ticks = max(all_steps), [10**power for power in range(8)]
    shown = [tick for tick in ticks if _first(all_steps) <= tick <= last]
    axes.set_xscale("log")
    zero = [0] if 0 in all_steps else []
    axes.xaxis.set_major_locator(FixedLocator(places([*zero, *shown], all_steps)))
    axes.xaxis.set_major_formatter(FixedFormatter([f"{tick:,}" for tick in [*zero, *shown]]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(0.85 * places([0], all_steps)[0], last * 1.15)
    if label:
        axes.set_xlabel("step of pretraining")


def _first(all_steps: Sequence[int]) -> int:
    return min((step for step in all_steps if step), default=1)
