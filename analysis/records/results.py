"""A study's records, by what they measure: the one place where tables, figures and claims look numbers up."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from analysis.records.record import ALIGNMENT, ORDER, Published, Record
from analysis.statistics.intervals import Estimate, estimate, item_error, over_items, paired
from analysis.tasks.catalog import TASKS, metric_title, task_title
from derive.errors import BadInput

PRIMARY = {name: task.primary for name, task in TASKS.items()}
PRINTED = {name: task.printed for name, task in TASKS.items()}
"""The metric of each task that ALIGN-MLM prints: for POS another than our primary one."""
OBJECTIVES = ("MLM", "XLM", "DICT-MLM", "ALIGN-MLM")
TRANSFORMS = ("trans", "trans.inv", "trans.syn-fr")

_PARTS = {
    "no-tlm": ", no TLM",
    "no-dwa": ", no DWA",
    "unmasked": ", unmasked queries",
    "all-aligned": ", all aligned query",
    r"label(\d+)": r", labels of layer \1",
    "rows": ", rows first",
    "unfiltered": ", no filtering",
    r"dwa(\d+)": r", DWA at layer \1",
    "gold": ", gold labels",
}
"""What XLM-Align's name says of its variants."""


@dataclass(frozen=True)
class Measured:
    """One run's number and its standard error from the draw of the test items."""

    value: float
    error: float


BySeed = Mapping[int, Measured]


@dataclass(frozen=True)
class Point:
    """One cell of a study as a point: its alignment and its Delta."""

    objective: str
    transform: str
    alignment: Estimate
    delta: Estimate


class Results:
    """The records of one study, and the published numbers to hold them against.

    Raises:
        BadInput: records of several studies, or two records of one number (as when a study ran twice into one file).
    """

    def __init__(self, records: Iterable[Record], published: Iterable[Published] = ()) -> None:
        self.records = tuple(records)
        self.published = tuple(published)
        studies = sorted({record.study for record in self.records})
        if len(studies) > 1:
            raise BadInput(f"records of several studies: {', '.join(studies)}; expected those of one")
        self.study = studies[0] if studies else ""
        self._steps: dict[tuple[str, ...], dict[tuple[int, int], Record]] = {}
        for record in self.records:
            column = self._steps.setdefault(_key(record), {})
            other = column.setdefault((record.seed, record.step), record)
            if other is not record:
                raise BadInput(f"two records of one number, from run {other.run} and run {record.run}: {record}")
        self._printed = {
            (p.table, p.measure, p.objective, p.transform, p.task, p.metric): p for p in self.published if not p.setting
        }
        self.objectives = _order((r.objective for r in self.records), OBJECTIVES)
        self.transforms = _order((r.transform for r in self.records), TRANSFORMS)
        self.tasks = _order((r.task for r in self.records if r.task), tuple(PRIMARY))
        self.seeds = sorted({record.seed for record in self.records})
        self.runs = sorted({record.run for record in self.records})

    def last(self, measure: str, objective: str, transform: str, task: str, metric: str) -> dict[int, Record]:
        """Each seed's record of the last step."""
        column = self._steps.get((measure, objective, transform, task, metric), {})
        return {seed: column[seed, step] for seed, step in sorted(column)}

    def scores(self, measure: str, objective: str, transform: str, task: str, metric: str) -> BySeed:
        """Each seed's number."""
        last = self.last(measure, objective, transform, task, metric)
        return {seed: Measured(r.value, item_error(r.value, r.count)) for seed, r in last.items()}

    def deltas(self, objective: str, transform: str, task: str, metric: str) -> BySeed:
        """Each seed's Delta = SUP - ZS, for the seeds that have both."""
        sup, zs = (self.scores(measure, objective, transform, task, metric) for measure in ("SUP", "ZS"))
        return {
            seed: Measured(sup[seed].value - zs[seed].value, math.hypot(sup[seed].error, zs[seed].error))
            for seed in sup.keys() & zs.keys()
        }

    def alignments(self, objective: str, transform: str, metric: str) -> BySeed:
        """Each seed's alignment@1 after the last step."""
        return self.scores(ALIGNMENT, objective, transform, "", metric)

    def distances(self, objective: str, transform: str) -> BySeed:
        """Each seed's distance between the source's word order and the derived language's."""
        return self.scores(ORDER, objective, transform, "", "kendall")

    def growth(self, objective: str, transform: str, metric: str, measure: str = ALIGNMENT) -> dict[int, BySeed]:
        """Alignment@1, or another measure, at each step that was probed, ascending."""
        steps: dict[int, dict[int, Measured]] = {}
        for (seed, step), r in sorted(self._steps.get((measure, objective, transform, "", metric), {}).items()):
            steps.setdefault(step, {})[seed] = Measured(r.value, item_error(r.value, r.count))
        return dict(sorted(steps.items()))

    def points(self, task: str, metric: str, aligned: str = "all") -> list[Point]:
        """Alignment and Delta of every cell that has both.

        They are means over seeds: runs of one cell are no new cases for a correlation.
        """
        points = []
        for transform in self.transforms:
            for objective in self.objectives:
                alignment = mean(self.alignments(objective, transform, aligned))
                delta = mean(self.deltas(objective, transform, task, metric))
                if alignment and delta:
                    points.append(Point(objective, transform, alignment, delta))
        return points

    def printed(
        self, table: int, measure: str, objective: str, transform: str, task: str, metric: str
    ) -> Published | None:
        """What a paper's table prints for the cell in its default setting."""
        return self._printed.get((table, measure, objective, transform, task, metric))

    def select(self, measures: Sequence[str], tasks: Mapping[str, str]) -> list[Record]:
        """The records of some measures, for each task (or "") of one metric: what a table or a figure shows."""
        return [r for r in self.records if r.measure in measures and tasks.get(r.task) == r.metric]


def mean(values: BySeed) -> Estimate | None:
    """Mean over seeds; with one seed an interval over items, with none nothing."""
    if len(values) == 1:
        (only,) = values.values()
        return over_items(only.value, [only.error])
    return estimate([measured.value for _, measured in sorted(values.items())]) if values else None


def difference(ours: BySeed, theirs: BySeed) -> Estimate | None:
    """Mean of ours - theirs over common seeds; with one such seed an interval over items, with none nothing."""
    common = sorted(ours.keys() & theirs.keys())
    if len(common) == 1:
        one, other = ours[common[0]], theirs[common[0]]
        return over_items(one.value - other.value, [one.error, other.error])
    if not common:
        return None
    return paired({s: ours[s].value for s in common}, {s: theirs[s].value for s in common})


def parts(transform: str) -> list[str]:
    """The parts of a composed transform's name."""
    return re.split(r"\.(?!\d)", transform)  # the dot of inv-12.5 is no joint


def transform_name(transform: str) -> str:
    """As the paper writes it, with how far it goes: Trans + Inv 25 %, Trans + Syn (fr)."""
    return " + ".join(map(_part_name, parts(transform)))


def _part_name(part: str) -> str:
    number = r"(\d+(?:\.\d+)?)"
    if syntax := re.fullmatch(rf"syn-(.+?)(?:-{number})?(?:-p{number})?(-drop)?", part):
        of, share, sentences, drop = syntax.groups()
        said = [of, f"{share} %" if share else "", f"{sentences} % of sentences" if sentences else ""]
        return f"Syn ({', '.join(filter(None, said))}){', large nodes dropped' if drop else ''}"
    if found := re.fullmatch(rf"(trans|inv|perm)(?:-{number})?", part):
        how_far = f" {found[2]} %" + " shared" * (found[1] == "trans") if found[2] else ""
        return found[1].capitalize() + how_far
    return part


def objective_name(objective: str) -> str:
    """As people write it: XLM-Align without DWA after MLM."""
    then, after, first = objective.partition("-after-")
    if then.startswith("XLM-ALIGN"):
        then = re.sub(r"^XLM-ALIGN(-\d+)?", r"XLM-Align\1", then)
        for part, said in _PARTS.items():
            then = re.sub(rf"-{part}(?=-|$)", said, then)
    early = re.sub(r"-for-([\d.]+)$", r" (\1 % of the steps)", first)
    return f"{then} after {early}" if after else then


def task_name(task: str) -> str:
    """As people write it."""
    return task_title(task)


def metric_name(metric: str) -> str:
    """As people write it."""
    return metric_title(metric)


def _key(record: Record) -> tuple[str, ...]:
    return record.measure, record.objective, record.transform, record.task, record.metric


def _order(found: Iterable[str], first: tuple[str, ...]) -> list[str]:
    """The names in the papers' order, then the others as they come."""
    names = list(dict.fromkeys(found))
    return [name for name in first if name in names] + [name for name in names if name not in first]
