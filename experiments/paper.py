"""The tables and figures of papers, by name: their study, the state of their runs, and the items themselves."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from calque.analysis.records.record import FLOORS, RECORDS
from calque.analysis.records.run import RUNS
from calque.derive.errors import BadInput, unknown
from calque.derive.files import files_of, read_toml, whole_folder
from calque.derive.fingerprint import sha256
from calque.derive.strict_json import loads

if TYPE_CHECKING:
    from calque.analysis.report.plot import Plot
    from calque.analysis.report.table import Table
    from calque.experiments.study import Study
    from calque.experiments.sweep import Sweep

Row = tuple[str, ...]
ITEMS = Path(__file__).with_name("papers.toml")
COMMITTED = Path(__file__).with_name("records")
LOCK = COMMITTED / "papers.lock.json"
LOCKED = (".md", ".csv", ".tex", ".svg", ".jsonl")
"""The kinds of files that the lock file has digests of: PNG and PDF differ by the version of a library."""


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper. `scale` is `pocket` (derived languages, from scratch) or `small` (a real encoder).
    `printed` is the number of a table that is laid out as in the paper; other items are a `file` of a report. `absent`
    names results that the scale cannot show, `differs` says why numbers differ, `report` is the kind of report."""

    paper: str
    name: str
    title: str
    study: str
    records: str
    file: str = ""
    printed: int = 0
    scale: str = "pocket"
    report: str = ""
    set: Sequence[str] = ()
    sweep: str = ""
    default: Mapping[str, str] = field(default_factory=dict)
    absent: str = ""
    differs: str = ""

    @property
    def is_figure(self) -> bool:
        return self.name.startswith("figure")

    @property
    def full_name(self) -> str:
        """The paper and the item, as the command line has them."""
        return f"{self.paper} {self.name}"

    @property
    def command(self) -> str:
        """The command that computes its runs again."""
        if " " in self.study:
            return self.study
        options = [
            *(f"--set {shlex.quote(one)}" for one in self.set),
            *([f"--sweep {self.sweep}"] if self.sweep else []),
        ]
        return " ".join([f"calque run {self.study}", *options])

    @property
    def committed(self) -> Path | None:
        """The committed records, or pictures, that it is made from, if there are any."""
        folder = COMMITTED / self.records
        wanted = RECORDS if self.printed else f"{self.file}.svg" if self.is_figure else f"{self.file}.md"
        return folder if any(folder.rglob(wanted)) else None


@cache
def papers() -> dict[str, dict[str, Any]]:
    """The entries of papers.toml by the name of a paper."""
    return read_toml(ITEMS)


def items(paper: str | None = None) -> list[Item]:
    """The items of all papers, or of one, in the papers' order. Raises BadInput for an unknown paper."""
    if paper is not None and paper not in papers():
        raise BadInput(unknown("paper", paper, papers()))
    return [
        Item(**{"paper": name, "name": item, "differs": about["differs"], "report": about["report"], **entry})
        for name, about in papers().items()
        if paper in (None, name)
        for item, entry in about["items"].items()
    ]


def item(paper: str, name: str) -> Item:
    """One item. Raises BadInput for an unknown paper or item."""
    found = {one.name: one for one in items(paper)}
    if name not in found:
        raise BadInput(unknown(f"table or figure of {paper}", name, found))
    return found[name]


def listing() -> Iterator[str]:
    """A line for each item with its state, and under a missing one the command that computes its runs."""
    for name, about in papers().items():
        yield f"{name}: {about['title']}"
        for one in items(name):
            yield f"  {one.name:<10}{f'done, {one.scale}' if one.committed else 'missing':<13}{one.title}"
            if not one.committed:
                yield f"  {'':<10}{one.command}"
        if full := about.get("full"):
            yield f"  at the paper's scale, not possible without GPUs: calque plan {full}"


def source(one: Item, runs: Path) -> tuple[Path, str]:
    """The folder of the records that an item is made from, committed or below `runs`, and the scale of its study.
    Raises BadInput if its runs are not computed."""
    from calque.experiments.summary import scale
    from calque.experiments.sweep import Sweep

    if one.committed:
        about = loads((one.committed / "about.json").read_text(encoding="utf-8"))
        return one.committed, about["scale"]
    study = _study(one)
    folder = study.report(runs, changed=bool(one.set))
    if not (folder / RECORDS).is_file():
        raise BadInput(f"{one.full_name} has no records yet; `{one.command}` or --run computes them", folder)
    return folder, scale(study.study if isinstance(study, Sweep) else study)


def rendered(one: Item, runs: Path) -> Table | Plot:
    """The table or figure. Raises BadInput if its runs are not computed, or make no such table or figure."""
    from calque.analysis.papers.printed import printed_table
    from calque.experiments.report_records import read_records

    folder, size = source(one, runs)
    if one.printed:
        found, records, _ = read_records(folder)
        about = papers()[one.paper]
        same = {**about["same"], "settings": {**about["same"]["settings"], "": one.default} if one.sweep else {}}
        title = f"Table {one.printed} of {about['title']}: {one.title}, {size}"
        return printed_table(found, records, about["published"], one.printed, same, title, one.absent)
    made = _report(folder, one.report, size, one.is_figure).get(one.file)
    if made is None:
        raise BadInput(f"these records make no {one.file}", folder)
    return made


@cache
def _report(folder: Path, report: str, size: str, figures: bool) -> Mapping[str, Table | Plot]:
    """The tables or the figures that the records of a folder make, by the name of their files."""
    from calque.experiments.report import figures_of, joined, tables_of
    from calque.experiments.report_records import read_records

    results = joined(report, *read_records(folder))
    if figures:
        return {plot.name: plot for plot in figures_of(results, report, size)}
    return tables_of(results, report, size)


def write(one: Item, out: Path, runs: Path) -> list[Path]:
    """Write the item to the folder `out`/paper/item, whole or not at all: Markdown, CSV and LaTeX of a table; SVG, PNG,
    PDF and numbers of a figure. Returns the files."""
    from calque.analysis.report.latex import latex
    from calque.analysis.report.table import Table

    folder = out / one.paper / one.name
    picture = one.committed and not (one.committed / RECORDS).is_file()  # drawn from weights, without records
    made = None if picture else rendered(one, runs)
    with whole_folder(folder) as part:
        if made is None:
            for file in (COMMITTED / one.records).glob(f"{one.file}.*"):
                shutil.copy(file, part)
        elif isinstance(made, Table):
            label = f"{one.paper}-{one.name}"
            texts = {"md": made.markdown, "csv": made.csv, "tex": latex(made, label)}
            for kind, text in texts.items():
                (part / f"{one.name}.{kind}").write_text(text, encoding="utf-8", newline="\n")
        else:
            made.save(part, pdf=True)
        names = sorted(files_of(part))
    return [folder / name for name in names]


def headlines() -> Iterator[Row]:
    """The claims of the papers as committed records decide them: the paper, the headline, the statistic with its
    interval and seeds, the verdict, and why records may disagree. Raises BadInput for a claim without records."""
    from calque.experiments.export import table_of

    for about in papers().values():
        for one in about["headlines"]:
            table = table_of(COMMITTED / one["records"], "claims")
            row = next((row for row in table.rows if row[0] == one["claim"]), None)
            if row is None:
                raise BadInput(f"no claim {one['claim']!r} in the claims of {one['records']}", ITEMS)
            found = dict(zip(table.header, row, strict=True))
            yield about["title"], one["text"], found["evidence"], found["verdict"], one["reason"] or "–"


def published_table(one: Item) -> Table:
    """The paper's own table, without ours. Raises BadInput if the paper prints no numbers."""
    from calque.analysis.papers.printed import printed_table

    about, number = papers()[one.paper], one.name.removeprefix("table-")
    if one.is_figure:
        raise BadInput(f"{one.full_name} is drawn without printed numbers")
    title = f"Table {number} of {about['title']}: {one.title}"
    return printed_table([], [], about["published"], int(number), {}, title)


def lock() -> dict[str, dict[str, Any]]:
    """For each item that committed records make: the records and their digest, the scale, and the digest of every
    file that is the same bytes wherever it is made."""
    entries = {}
    with TemporaryDirectory() as name:
        for one in (one for one in items() if one.committed):
            files = [file for file in write(one, Path(name), Path(name)) if file.suffix in LOCKED]
            data = [COMMITTED / one.records / file for file in (RUNS, RECORDS, FLOORS)]
            entries[one.full_name] = {
                "records": one.records,
                "digests": {file.name: sha256(file) for file in data if file.is_file()},
                "scale": one.scale,
                "files": {file.name: sha256(file) for file in files},
            }
    return entries


def check() -> list[str]:
    """The items whose records or files differ from the lock file."""
    locked, now = loads(LOCK.read_text(encoding="utf-8")), lock()
    return [f"{name}: differs from {LOCK.name}" for name in {**locked, **now} if locked.get(name) != now.get(name)]


def _study(one: Item) -> Study | Sweep:
    from calque.experiments.names import study
    from calque.experiments.override import override
    from calque.experiments.sweep import Sweep

    changed = override(study(one.study), list(one.set))
    return Sweep.read(changed, [one.sweep]) if one.sweep else changed
