"""The export formats of a report: LaTeX, CSV, Parquet, PDF and BibTeX."""

import csv
import dataclasses
import io
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from calque import __version__
from calque.analysis.papers.sweep import ANY
from calque.analysis.records.record import Described, LinkCounts, Record, Run
from calque.analysis.report.table import MISSING, OURS, Table, escaped, inert, interval, numeric
from calque.derive.errors import BadInput, unknown
from calque.derive.files import whole_file

_DEFAULTS = {field.name: field.default for field in dataclasses.fields(Record)}
_PARTS = {"links": dataclasses.asdict(LinkCounts())}
_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
_GREEK = {"Δ": "Delta", "ρ": "Rho"}
REFERENCES = Path(__file__).with_name("references.bib")


def table_of(folder: Path, name: str | None) -> Table:
    """Read a report's table. Raises BadInput if the name is missing or unknown."""
    names = sorted(path.stem for path in folder.glob("*.md") if path.stem != "README")
    if name is None:
        raise BadInput(
            f"choose a table with --table: {', '.join(names) or '(this folder contains no tables)'}", folder
        )
    if name not in names:
        raise BadInput(unknown("table", name, names), folder)
    try:
        return Table.of_markdown((folder / f"{name}.md").read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadInput(f"not a Markdown table: {error}", folder / f"{name}.md") from None


def macros(table: Table, prefix: str, of: str) -> str:
    r"""Return a LaTeX macro for each cell in the table named `of`, such as
    \TableThreeMLMTransInvPOSAccuracyZS, with names that start with `prefix`. A cell with an interval also
    gets a macro for its mean alone, whose name ends in `Mean`."""
    labels = _labels(table)
    lines, seen = [f"% {escaped(table.title)}"], dict[str, int]()
    for row in table.rows:
        for head, cell in zip(table.header[labels:], row[labels:], strict=True):
            name = command_name(prefix, of, *(label for label in row[:labels] if label != OURS), head)
            seen[name] = number = seen.get(name, 0) + 1
            name += _word(str(number)) if number > 1 else ""
            if cell != MISSING:
                lines.append(rf"\newcommand{{\{name}}}{{{escaped(cell)}}}")
            ends = interval(cell)
            if ends and ends[1] < ends[2]:
                mean = re.split(r" [±\[]|,", cell)[0]
                lines.append(rf"\newcommand{{\{name}Mean}}{{{escaped(mean)}}}")
    return "\n".join(lines) + "\n"


def _labels(table: Table) -> int:
    """Count the columns that label a row: those before the first numeric column and, in a sweep, the columns
    of swept values needed to tell rows apart."""
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.header)
    labels = next((i for i, column in enumerate(columns) if i and numeric(column)), 1)
    while labels < len(columns) and len({row[:labels] for row in table.rows}) < len(table.rows):
        if not all(re.fullmatch(rf"[\d.e+-]+|{ANY}", cell) for cell in columns[labels]):
            break
        labels += 1
    return labels


def command_name(*parts: str) -> str:
    """Join words into a macro name, which may contain only letters: digits are spelled out and other
    characters dropped."""
    return "".join(_word(word) for part in parts for word in re.findall(r"[A-Za-z]+|\d|[Δρ]", part))


def _word(text: str) -> str:
    spelled = "".join(_DIGITS[int(c)] if c.isdigit() else _GREEK.get(c, c) for c in text)
    return spelled[:1].upper() + spelled[1:]


def flat(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Turn records into columns of plain values, one for each nested field, such as `null.low`, with defaults
    filled in."""
    flattened = []
    for row in rows:
        plain: dict[str, Any] = {}
        for name, value in row.items():
            if isinstance(value, dict):
                plain |= {f"{name}.{part}": one for part, one in (_PARTS.get(name, {}) | value).items()}
            else:
                plain[name] = value
        flattened.append(plain)
    names = dict.fromkeys(name for row in flattened for name in row)
    return {name: [row.get(name, _DEFAULTS.get(name)) for row in flattened] for name in names}


def records_csv(columns: dict[str, list[Any]]) -> str:
    """Format columns as CSV, escaping text that a spreadsheet would read as a formula."""
    text = io.StringIO()
    rows = (
        [inert(one) if isinstance(one, str) else one for one in row]
        for row in zip(*columns.values(), strict=True)
    )
    csv.writer(text, lineterminator="\n").writerows([list(columns), *rows])
    return text.getvalue()


def write_parquet(columns: dict[str, list[Any]], out: Path) -> None:
    """Write columns as Parquet, atomically. Raises BadInput without pyarrow."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise BadInput("Parquet needs pyarrow: pip install 'calque[parquet]'") from None
    with whole_file(out) as part:
        parquet.write_table(pyarrow.table(columns), part)


def write_figure(folder: Path, name: str, inches: float, labels: Mapping[str, str], out: Path) -> None:
    """Redraw a report's figure as a PDF, `inches` wide and without its title. `labels` maps names or titles
    of objectives and languages to new titles. Raises BadInput for an unknown figure or label, and for a
    figure that is too narrow for its labels."""
    from calque.analysis.report.drawing import of_width, save_pdf
    from calque.experiments.report.report import plots_of_records

    with warnings.catch_warnings(), of_width(inches):
        warnings.filterwarnings("error", "constrained_layout")
        plots = {plot.name: plot for plot in plots_of_records(folder, lambda runs: relabelled(runs, labels))}
        if name not in plots:
            raise BadInput(unknown("figure", name, plots), folder)
        try:
            save_pdf(plots[name].figure, out)
        except UserWarning:  # the labels leave no room for the panels
            room = f"too narrow at {2.54 * inches:.1f} cm for its axis labels"
            raise BadInput(f"{name} is {room}: increase --width, or shorten --labels") from None


def relabelled(runs: Sequence[Run], labels: Mapping[str, str]) -> list[Run]:
    """Return the runs with objectives and languages retitled by `labels`."""
    described = [each for run in runs for each in (run.objective, *run.languages) if each]
    titles = dict.fromkeys(each.title for each in described)
    for label in labels:
        if label not in titles and label not in {each.name for each in described}:
            raise BadInput(f"--labels: {unknown('objective or language', label, titles)}")

    def new(described: Described) -> Described:
        title = labels.get(described.name, labels.get(described.title, described.title))
        return dataclasses.replace(described, title=title)

    return [
        dataclasses.replace(
            run,
            objective=new(run.objective) if run.objective else None,
            languages=tuple(map(new, run.languages)),
        )
        for run in runs
    ]


def bibtex(runs: Iterable[Run]) -> str:
    """Return BibTeX entries for Calque and for the papers that introduced the runs' objectives."""
    from calque.pretrain.objectives import OBJECTIVES

    papers = {part["kind"]: kind.paper for kind in OBJECTIVES for part in kind().facets[-1:]}
    described = [each for run in runs for each in (run.objective, run.start and run.start.objective) if each]
    used = {papers.get(part["kind"], "") for each in described for part in each.parts}
    keys = {"calque", *(_key(paper) for paper in used if paper)}
    entries = REFERENCES.read_text(encoding="utf-8").replace("VERSION", __version__).split("\n\n")
    return "\n\n".join(entry.strip() for entry in entries if re.split("[{,]", entry)[1] in keys) + "\n"


def _key(paper: str) -> str:
    """Return a paper's key: `tang2022` for "Tang et al. 2022"."""
    words = paper.removeprefix("after ").split()
    return words[0].lower() + words[-1]
