"""Tables and figures of papers, reproduced from committed records next to the published numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from calque.analysis.papers.align_mlm import correlated, rho_cell, rho_of
from calque.analysis.papers.columns import task_columns
from calque.analysis.papers.continued import MAIN, PAPERS_NAMES, Continued, error
from calque.analysis.papers.primary import CORRELATION
from calque.analysis.papers.published import notes, published
from calque.analysis.records.json_rows import parsed
from calque.analysis.records.record import AER, DELTA, Published
from calque.analysis.report.drawing import Plot
from calque.analysis.report.table import MISSING, Table, cell, over_seeds, percent
from calque.analysis.results import BySeed, Results, average, by_settings, gap, mean, unless_at_floor
from calque.analysis.statistics import Estimate
from calque.analysis.tasks.catalogue import PRIMARY, metric_title, task_title
from calque.analysis.verdicts import (
    FAILS,
    FAILS_ALONE,
    HOLDS,
    HOLDS_ALONE,
    NO_RECORDS,
    Verdict,
    in_families,
    judge,
)
from calque.derive.errors import BadInput, unknown
from calque.derive.files import files_of, read_toml, whole_folder
from calque.experiments.report.folder import COMMITTED, About, read_records, stored
from calque.experiments.report.report import figures_of, joined

NAMES = ("align-mlm", "xlm-align", "weam", "ppa")
"""Papers. NAME.toml in this folder has a table for each item (see `Item`), with the paper's claims (see
`PaperClaim`), of which `each` gives variants. A paper's own fields are defaults for its items, and `claim`
for claims; an item takes the fields that it lacks from the item named by `like`, if any."""
SAME, OPPOSITE, UNDECIDED = "same direction", "opposite", "undecided"
UNTESTED = f"{UNDECIDED}: not tested"
DIRECTIONS = {HOLDS: SAME, FAILS: OPPOSITE}
DIRECTIONS |= dict.fromkeys((HOLDS_ALONE, FAILS_ALONE), f"{UNDECIDED} after correction")
"""The direction for each verdict on whether our number agrees with the paper's; other verdicts are shown as
they are."""
AVERAGE, MEAN, OTHERS = ("average", "mean", "mean of the others")  # used as the task or language of a mean
LABELS = ("objective", "transform", "setting", "metric")


@dataclass(frozen=True)
class Item:
    """A table or figure in a paper, and the committed `records` with our numbers. `scale` is `everyday` or
    `pocket` (derived languages, models from scratch) or `small` (a pretrained encoder). A figure is `file` in
    a report, and its claims use numbers in the published table `table`. `transforms`, `objectives`,
    `aligners` and `settings` map published names to ours. `absent` says which results are unavailable at this
    scale, and `differs` how the experiments differ."""

    paper: str
    name: str
    title: str
    records: str
    file: str = ""
    table: int = 0
    scale: str = "pocket"
    transforms: Mapping[str, str] = field(default_factory=dict)
    objectives: Mapping[str, str] = field(default_factory=dict)
    aligners: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    claims: Sequence[Mapping[str, Any]] = ()
    claim: Mapping[str, Any] = field(default_factory=dict)
    absent: str = ""
    differs: str = ""

    @property
    def full_name(self) -> str:
        return f"{self.paper} {self.name}"

    @property
    def published(self) -> str:
        """The name of the paper's published numbers."""
        return self.paper.replace("-", "_")

    @property
    def number(self) -> int:
        """The number of the published table that the item reproduces or that its claims use."""
        return self.table or int(self.name.removeprefix("table-"))

    @property
    def folder(self) -> Path:
        return COMMITTED / self.records

    @property
    def about(self) -> About:
        """The description of the records: the command that computed them, and their kind of report."""
        return stored(self.folder)


class Conclusion(NamedTuple):
    """A claim, its location in the paper, the direction of our result relative to it, and both numbers."""

    claim: str
    where: str
    direction: str
    ours: str
    paper: str
    remark: str

    @property
    def size(self) -> str:
        return f"{self.ours} / {self.paper}"

    def __str__(self) -> str:
        return f"{self.direction}, {self.size}: {self.claim}{f' ({self.remark})' if self.remark else ''}"


@cache
def papers() -> dict[str, dict[str, Any]]:
    """Read each paper's file of items."""
    return {name: read_toml(Path(__file__).with_name(f"{name}.toml")) for name in NAMES}


def items(paper: str | None = None) -> list[Item]:
    """Return the items of all papers or of one, in order. Raises BadInput for an unknown paper."""
    if paper not in (None, *NAMES):
        raise BadInput(unknown("paper", str(paper), NAMES))
    chosen = NAMES if paper is None else (paper,)
    names = [(each, name) for each in chosen for name in papers()[each] if "-" in name]
    return [Item(paper=each, name=name, **_fields(papers()[each], name)) for each, name in names]


def _fields(about: Mapping[str, Any], name: str) -> dict[str, Any]:
    fields = dict(about[name])
    if like := fields.pop("like", None):
        return _fields(about, like) | fields
    return {key: about[key] for key in Item.__annotations__ if key in about and key != "title"} | fields


def item(paper: str, name: str) -> Item:
    """Return one item. Raises BadInput for an unknown paper or item."""
    by_name = {each.name: each for each in items(paper)}
    if name not in by_name:
        raise BadInput(unknown(f"table or figure of {paper}", name, by_name))
    return by_name[name]


def listing() -> Iterator[str]:
    """Yield the lines that `calque paper` prints."""
    for name, about in papers().items():
        yield f"{name}: {about['title']}"
        for paper_item in items(name):
            yield f"  {paper_item.name:<10}{paper_item.title} ({paper_item.scale})"
            yield from (f"  {'':<10}{conclusion}" for conclusion in conclusions(name)[paper_item.name])
        if full := about.get("full"):
            yield f"  at the paper's scale, which requires GPUs: calque plan {full}"
    yield (
        "Numbers are ours / the paper's, in points or as correlations. At the scales everyday and pocket, "
        "models of width 64 are trained from scratch on short real sentences or on generated Pocket English; "
        "at the scale small, an encoder has width 384."
    )
    yield "next: calque paper align-mlm table-3, or calque paper all"


@cache
def _results(folder: Path) -> dict[tuple[str, ...], Results]:
    return by_settings(*read_records(folder))


Judged = tuple[Verdict, str, str, str]
"""Whether our number supports the paper's claim, our number, the paper's number, and a remark."""


@dataclass(frozen=True)
class PaperClaim:
    """A claim that a paper makes for each of `tasks`. `of` and `minus` name printed rows, as in "XLM
    trans.inv parallel 1%"; each row in `of` is compared with each in `minus`, or with `bound`, a share. Error
    rates are averaged over `layers`. `printed` has numbers, by task, that the table lacks; `reason` says why
    ours may differ; `records` replaces the table's records."""

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
        """One claim per task, or the claim itself if it is not about tasks."""
        split = [replace(self, text=f"{self.text}, {task_title(task)}", tasks=(task,)) for task in self.tasks]
        return split or [self]


class Printed:
    """The numbers in an item's published table, and ours; `study` is set for a released encoder's."""

    def __init__(self, item: Item) -> None:
        self.item, self.numbers = item, published(item.published, item.number)
        self.study = Continued(self.results("")) if item.about["report"] == "xtreme" else None

    def results(self, setting: str) -> Results:
        return _results(self.item.folder)[tuple(self.item.settings.get(setting, ()))]

    def names(self, number: Published) -> tuple[str, str]:
        """Return our objective ("" if there is none) and transform for a printed number."""
        usual = number.objective if number.setting in ("", *self.item.settings) else ""
        row = f"{number.objective} {number.setting}".strip()
        transform = self.item.transforms.get(number.transform, number.transform)
        return self.item.objectives.get(row, usual), transform

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
            aligner = self.item.aligners[number.setting]
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
        (name, transform), results = self.names(number), self.results(number.setting)
        titles = [(results.objective_title(name) if name in results.objectives else "", number.objective)]
        titles += [(results.transform_title(transform) if number.title else "", number.title)]
        both = (f"{title} / {label}" if title not in ("", label) else label for title, label in titles)
        return *both, number.setting, metric_title(number.metric) if number.language else ""

    def _cell(self, number: Published) -> str:
        return f"{cell(mean(self.ours(number)))} / {percent(number.value)}"

    def judge(self, claim: PaperClaim) -> Judged:
        """Judge whether our numbers are on the paper's side of 0 or the bound; show the least favourable."""
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
        """Return our and the paper's mean difference of rows, or mean of a row, over measured columns."""
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


@cache
def conclusions(paper: str) -> dict[str, list[Conclusion]]:
    """Return each item's conclusions on claims, corrected over all claims on the same records."""
    judged = list[tuple[Item, PaperClaim, Judged]]()
    for paper_item in items(paper):
        for fields in paper_item.claims:
            common = {name: value for name, value in fields.items() if name != "each"}
            for variant in fields.get("each", [{}]):
                for claim in parsed(PaperClaim, {**paper_item.claim, **common, **variant}).by_task:
                    on = replace(paper_item, records=claim.records or paper_item.records)
                    judged.append((on, claim, Printed(on).judge(claim)))
    corrected = in_families((on.records, verdict) for on, _, (verdict, *_) in judged)
    by_item: dict[str, list[Conclusion]] = {}
    for (on, claim, (verdict, ours, papers_value, remark)), tested in zip(judged, corrected, strict=True):
        word = UNTESTED if verdict.because == NO_RECORDS else tested.verdict
        remark = "; ".join(filter(None, [remark, claim.reason]))
        row = Conclusion(claim.text, claim.where, DIRECTIONS.get(word, word), ours, papers_value, remark)
        by_item.setdefault(on.name, []).append(row)
    return by_item


def rendered(one: Item) -> Table | Plot:
    """Return an item's table with its conclusions, or its figure."""
    size, kind = one.about["scale"], one.about["report"]
    if one.file:
        plots = figures_of(joined(kind, *read_records(one.folder), size), kind)
        return next(plot for plot in plots if plot.name == one.file)
    about, label = papers()[one.paper], one.name.replace("-", " ").capitalize()
    ends = "; ".join(map(str, conclusions(one.paper)[one.name]))
    note = notes(one.published).get(one.number, "")
    remarks = [one.absent, note, f"Conclusions, ours / the paper’s: {ends}."]
    title = f"{label} of {about['title']}: {one.title}, {size}"
    return Printed(one).table(title, " ".join(filter(None, remarks)))


def write(one: Item, made: Table | Plot, out: Path) -> list[Path]:
    """Write a rendered item to the folder `out`/paper/item, atomically, and return the files: a table as
    Markdown and LaTeX, or a figure as SVG, PNG, PDF and numbers."""
    folder = out / one.paper / one.name
    with whole_folder(folder) as part:
        if isinstance(made, Table):
            made.save(part, one.name, label=f"{one.paper}-{one.name}")
        else:
            made.save(part, pdf=True)
        names = sorted(files_of(part))
    return [folder / name for name in names]


def _label(number: Published) -> str:
    return " ".join(filter(None, [number.objective, number.transform, number.setting]))


def _head(number: Published) -> str:
    if number.language or number.task not in PRIMARY:
        return number.language or number.task or number.measure
    return task_columns([number.measure], [(number.task, number.metric)])[0].head


def _is_mean(number: Published) -> bool:
    return number.task == AVERAGE or number.language in (MEAN, OTHERS)
