"""The released multilingual MiniLM of 12 layers and width 384: its published scores, to stand beside ours."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.records.record import Published

PAPER, MODEL = "MiniLM", "mMiniLM-L12-H384"
LEARNT = {"nli": 392_702, "mlqa": 87_599}
"""How many examples it was fine-tuned on: all of MultiNLI's and of SQuAD v1.1's training sets."""
SAID = f"{MODEL}: an encoder of 12 layers and width 384, from the page of its release"


def of_task(published: Sequence[Published], task: str) -> dict[str, Published]:
    """Its published scores of a task by language, their mean as `mean`."""
    return {one.setting: one for one in published if (one.paper, one.objective, one.task) == (PAPER, MODEL, task)}
