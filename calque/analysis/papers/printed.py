"""Tabulate a paper's printed numbers next to ours, and judge its claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from statistics import fmean
from typing import Any

from calque.analysis.papers.align_mlm import correlated, rho_cell, rho_of
from calque.analysis.papers.columns import task_columns
from calque.analysis.papers.continued import MAIN, PAPERS_NAMES, Continued, error
from calque.analysis.papers.primary import CORRELATION
from calque.analysis.records.record import AER, DELTA, Published
from calque.analysis.report.table import MISSING, Table, cell, over_seeds, percent
from calque.analysis.results import BySeed, Results, average, gap, mean, unless_at_floor
from calque.analysis.statistics import Estimate
from calque.analysis.tasks.catalogue import PRIMARY, metric_title, task_title
from calque.analysis.verdicts import Verdict, judge

AVERAGE, MEAN, OTHERS = ("average", "mean", "mean of the others")  # used as the task or language of a mean
LABELS = ("objective", "transform", "setting", "metric")
BySetting = Mapping[tuple[str, ...], Results]  # results by the values of the swept settings
Counterparts = Mapping[str, Mapping[str, Any]]
Judged = tuple[Verdict, str, str, str]
"""Whether our number supports the paper's claim, our number, the paper's number, and a remark."""


@dataclass(frozen=True)
class PaperClaim:
    """A claim that a paper makes for each of `tasks`. `of` and `minus` name printed rows, as in "XLM
    trans.inv parallel 1%"; every row in `of` is compared with every row in `minus`, or with `bound`, a share.
    Error rates are averaged over `layers`. `printed` contains numbers, by task, that the table lacks,
    `reason` explains why our numbers may differ, and `records` replaces the table's records."""

    text: str
    where: str = ""
    of: tuple[str, ...] = ()
    minus: tuple[str, ...] = ()
    bound: float | None = None
    tasks: tuple[str, ...] = ()
    measure: str = "ZS"
    metric: str = ""
    layers: tuple[int, ...] = ()
    printed: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""
    records: str = ""

    @property
    def by_task(self) -> "list[PaperClaim]":
        split = [replace(self, text=f"{self.text}, {task_title(task)}", tasks=(task,)) for task in self.tasks]
        return split or [self]


class Printed:
    """The numbers in a paper's table, and the corresponding numbers from our runs. `counterparts` maps the
    paper's objectives, transforms and aligners to our names, and its settings to the values of a sweep, which
    are the keys of `results`. If `natural`, the results are about a released encoder."""

    def __init__(
        self, numbers: Sequence[Published], counterparts: Counterparts, results: BySetting, natural: bool
    ):
        self.numbers, self._counterparts, self._results = numbers, counterparts, results
        self.study = Continued(self.results("")) if natural else None

    def results(self, setting: str) -> Results:
        return self._results[tuple(self._counterparts["settings"].get(setting, ()))]

    def names(self, number: Published) -> tuple[str, str]:
        """Return our objective ("" if there is none) and transform for a printed number."""
        usual = number.objective if number.setting in ("", *self._counterparts["settings"]) else ""
        row = f"{number.objective} {number.setting}".strip()
        transform = self._counterparts["transforms"].get(number.transform, number.transform)
        return self._counterparts["objectives"].get(row, usual), transform

    def ours(self, number: Published, layers: Sequence[int] = (MAIN,)) -> BySeed:
        """Return our counterpart of a printed number, or {}."""
        if _is_mean(number):
            return average([average(list(map(self.ours, part))) for part in self._parts(number)])
        (name, transform), study, task = self.names(number), self.study, number.task
        if study is None:
            return self.results(number.setting).scores(number.measure, name, transform, task, number.metric)
        if name not in study.models:
            return {}
        if number.measure == AER:
            gold = next((ours for ours, printed in PAPERS_NAMES.items() if printed == task), task)
            aligner = self._counterparts["aligners"][number.setting]
            return study.values(name, [error(gold, aligner, layer) for layer in layers])
        keys = study.scores(task, number.metric)
        return study.values(name, [key for key in keys if number.language in ("", key.language)])

    def _parts(self, number: Published) -> list[list[Published]]:
        """Return the numbers behind a mean, by task or language."""
        parts: dict[str, list[Published]] = {}
        over_tasks = number.task == AVERAGE
        without = self.study.source if self.study and number.language == OTHERS else None
        for p in self.numbers:
            of_task = over_tasks or (p.task, p.metric) == (number.task, number.metric)
            if of_task and _label(p) == _label(number) and not _is_mean(p) and p.language != without:
                parts.setdefault(p.task if over_tasks else p.language, []).append(p)
        return list(parts.values())

    def table(self, title: str, remark: str) -> Table:
        """Return the paper's table, with cells of our number / the paper's."""
        by_labels: dict[tuple[str, ...], dict[str, Published]] = {}
        for number in self.numbers:
            by_labels.setdefault(self._labels(number), {})[_head(number)] = number
        heads = dict.fromkeys(head for numbers in by_labels.values() for head in numbers)
        columns = [i for i, labels in enumerate(zip(*by_labels, strict=True)) if any(labels)]
        rows = []
        for labels, numbers in by_labels.items():
            cells = [self._cell(numbers[head]) if head in numbers else MISSING for head in heads]
            rows.append((*(labels[i] or MISSING for i in columns), *cells))
        note = f"Percent, ours / the paper’s. Ours: {over_seeds(self.results('').seeds)}. {remark}"
        return Table(title, (*(LABELS[i] for i in columns), *heads), tuple(rows), note, len(columns))

    def _labels(self, number: Published) -> tuple[str, ...]:
        """Return a row's labels, with our names and the paper's if they differ."""
        (name, transform), results = self.names(number), self.results(number.setting)
        titles = [(results.objective_title(name) if name in results.objectives else "", number.objective)]
        titles += [(results.transform_title(transform) if number.title else "", number.title)]
        both = (f"{title} / {label}" if title not in ("", label) else label for title, label in titles)
        return *both, number.setting, metric_title(number.metric) if number.language else ""

    def _cell(self, number: Published) -> str:
        return f"{cell(mean(self.ours(number)))} / {percent(number.value)}"

    def judge(self, claim: PaperClaim) -> Judged:
        """Judge whether our numbers are on the paper's side of 0 or of the bound. Of several differences, the
        least favourable is shown."""
        if claim.measure == CORRELATION:
            (task,), results = claim.tasks, self.results("")
            rho = rho_of(results.points(task, PRIMARY[task]))
            numbers = rho_cell(rho) if rho else MISSING, f"{claim.printed[task]:.2f}"
            return correlated(results, task, 0.0), *numbers, ""
        rows = [*product(claim.of, claim.minus)] if claim.minus else [(row,) for row in claim.of]
        compared = [(*self._compare(claim, names), names[-1]) for names in rows]
        bound = claim.bound or 0.0
        side = 1 if compared[0][1] > bound else -1
        our_estimate, papers_value, row = min(
            compared, key=lambda numbers: side * (numbers[0].mean if numbers[0] else numbers[1])
        )
        comparisons = [(estimate, bound, side) for estimate, *_ in compared if estimate]
        is_claim = bool(claim.minus) or claim.bound is not None
        tested = is_claim and len(comparisons) == len(compared)
        verdict, remark = judge(comparisons if tested else [], ""), f"shown: {row}" * (len(compared) > 1)
        printed = [number for name in (*claim.of, *claim.minus) for number in self._row(claim, name)]
        if claim.measure == DELTA:
            cells, about = map(self.names, printed), printed[0]
            verdict = unless_at_floor(verdict, self.results(about.setting), cells, about.task, about.metric)
        if tested and (unlearnt := self._unlearnt(printed)):
            verdict, remark = unlearnt, unlearnt.because
        return verdict, cell(our_estimate, over_items=True), percent(papers_value), remark

    def _compare(self, claim: PaperClaim, names: Sequence[str]) -> tuple[Estimate | None, float]:
        """Return our number and the paper's: a mean difference between rows, or the mean of one row, over the
        columns that we measured, or all if none."""
        rows = [{(p.task, p.metric, p.language): p for p in self._row(claim, name)} for name in names]
        printed = [[row[key] for row in rows] for key in rows[0] if all(key in row for row in rows)]
        columns = [numbers for numbers in printed if all(map(self.ours, numbers))]
        differences = [first.value - sum(p.value for p in second) for first, *second in columns or printed]
        layers = claim.layers or (MAIN,)
        ours = [[self.ours(number, layers) for number in numbers] for numbers in zip(*columns, strict=True)]
        estimate = None if not ours else gap(*ours) if len(ours) > 1 else mean(average(ours[0]))
        return estimate, claim.printed.get("", fmean(differences))

    def _row(self, claim: PaperClaim, name: str) -> list[Published]:
        row = [p for p in self.numbers if _label(p) == name and p.measure == claim.measure]
        row = [p for p in row if claim.metric in ("", p.metric) and not _is_mean(p)]
        return [p for p in row if not claim.tasks or p.task in claim.tasks]

    def _unlearnt(self, numbers: Sequence[Published]) -> Verdict | None:
        """Return a verdict if a model did not learn a task in the source."""
        if not (study := self.study):
            return None
        for number in numbers:
            name, task = self.names(number)[0], number.task
            if task not in PRIMARY:
                continue
            score = mean(study.values(name, study.scores(task)[:1]))
            floor = study.results.floor(task, PRIMARY[task], study.source, study.source)
            if score and floor and score.mean <= floor.value:
                verdict = f"undecided: {study.title(name)} did not learn {task_title(task)}"
                baseline = f"the {floor.title} baseline {percent(floor.value)} %"
                return Verdict(verdict, f"{percent(score.mean)} % in {study.source}, {baseline}")
        return None


def _label(number: Published) -> str:
    """Return a printed row's name, as claims use it."""
    return " ".join(filter(None, [number.objective, number.transform, number.setting]))


def _head(number: Published) -> str:
    if number.language or number.task not in PRIMARY:
        return number.language or number.task or number.measure
    return task_columns([number.measure], [(number.task, number.metric)])[0].head


def _is_mean(number: Published) -> bool:
    return number.task == AVERAGE or number.language in (MEAN, OTHERS)
