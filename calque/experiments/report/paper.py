"""Tables and figures of papers, reproduced from committed records next to the published numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from calque.analysis.papers.printed import Judged, PaperClaim, Printed
from calque.analysis.papers.published import notes, published
from calque.analysis.records.json_rows import parsed
from calque.analysis.report.drawing import Plot
from calque.analysis.report.table import Table
from calque.analysis.results import Results, by_settings
from calque.analysis.verdicts import FAILS, FAILS_ALONE, HOLDS, HOLDS_ALONE, NO_RECORDS, in_families
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


def printed(one: Item) -> Printed:
    """Match the published numbers in an item's table with ours."""
    numbers, natural = published(one.published, one.number), one.about["report"] == "xtreme"
    return Printed(numbers, vars(one), _results(one.folder), natural)


@cache
def conclusions(paper: str) -> dict[str, list[Conclusion]]:
    """Return each item's conclusions on the paper's claims, corrected for multiple comparisons over all
    claims tested on the same records."""
    judged = list[tuple[Item, PaperClaim, Judged]]()
    for paper_item in items(paper):
        for fields in paper_item.claims:
            common = {name: value for name, value in fields.items() if name != "each"}
            for variant in fields.get("each", [{}]):
                for claim in parsed(PaperClaim, {**paper_item.claim, **common, **variant}).by_task:
                    on = replace(paper_item, records=claim.records or paper_item.records)
                    judged.append((on, claim, printed(on).judge(claim)))
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
    return printed(one).table(title, " ".join(filter(None, remarks)))


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
