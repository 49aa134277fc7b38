"""A study's floors, and their means over draws of the data.

Zero-shot scores have to exceed the strongest baseline that learns from the source and is tested in the derived
language: it knows the shares of the labels and the words that the two languages share, and nothing across them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import fmean

from analysis.records.record import Floor
from derive.errors import BadInput


class Floors:
    """A study's floors, by test set and by the language that they learnt from.

    Raises:
        BadInput: two floors of one number.
    """

    def __init__(self, floors: Iterable[Floor]) -> None:
        self.all: tuple[Floor, ...] = tuple(floors)
        self._by: dict[tuple[str, str, str, str], dict[str, Floor]] = {}
        for floor in self.all:
            column = self._by.setdefault((floor.task, floor.metric, floor.language, floor.learnt), {})
            if column.setdefault(floor.baseline, floor) is not floor:
                raise BadInput(f"two floors of one number: {floor}"[:500])

    def of(self, task: str, metric: str, language: str, learnt: str) -> dict[str, Floor]:
        return self._by.get((task, metric, language, learnt), {})

    def baselines(self, tasks: Sequence[str]) -> dict[str, str]:
        """The title of every baseline of some tasks, by name."""
        return {floor.baseline: floor.title for floor in self.all if floor.task in tasks}

    def highest(self, task: str, metric: str, language: str, learnt: str, surface: bool = False) -> Floor | None:
        """The strongest baseline, the first of equals; None where there is none. Baselines of the `surface` are a group
        of their own: how two texts overlap is seen in any script, but says nothing of words."""
        floors = [floor for floor in self.of(task, metric, language, learnt).values() if floor.surface == surface]
        return max(floors, key=lambda floor: floor.value, default=None)


def over_draws(draws: Iterable[Sequence[Floor]]) -> list[Floor]:
    """The floors of a study: each its mean over the draws of the data, of as many items as all have. A single draw is
    as it is. Means of several have no items: those of different draws are different examples."""
    by_draw = list(draws)
    if len(by_draw) == 1:
        return list(by_draw[0])
    groups: dict[Floor, list[Floor]] = {}
    for floor in (floor for floors in by_draw for floor in floors):
        groups.setdefault(replace(floor, value=0.0, count=0, items=None), []).append(floor)
    return [
        replace(of, value=fmean(one.value for one in each), count=sum(one.count for one in each))
        for of, each in groups.items()
    ]
