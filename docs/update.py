"""Update the computed parts of the documentation: numbers from committed records, and tables from code.
`python -m docs.update --check` only lists the pages that are out of date.

A comment before a number names a committed table, the cells that identify the row, and the column; `#2`
selects the second number in the cell:

    MLM reaches <!-- align_mlm_pocket/table-3: MLM | Trans | ours; POS accuracy ZS -->96.1 ± 0.6<!-- / --> %.

A computed table is between `<!-- calque: objectives -->` and `<!-- /calque -->`. Text in `<!-- site: ... -->`
appears only on the site.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING
from functools import cache, partial
from itertools import chain
from pathlib import Path

from calque.analysis.report.table import Table
from calque.analysis.tasks.catalogue import TASKS
from calque.derive.errors import BadInput, unknown
from calque.derive.files import whole_file
from calque.derive.forms import Named
from calque.derive.transforms import TRANSFORMS
from calque.experiments.report.folder import COMMITTED
from calque.experiments.report.paper import OPPOSITE, SAME, UNDECIDED, UNTESTED, conclusions, items, papers
from calque.experiments.settings.catalogue import table as studies_table
from calque.pretrain.objectives import OBJECTIVES
from docs.benchmark import read as read_benchmarks

_CELL = re.compile(
    r"(<!-- (?P<table>[\w-]+/[\w-]+): (?P<keys>[^;]*); (?P<column>.+?)(?: #(?P<number>\d+))? -->)"
    r".*?(<!-- / -->)"
)
_BLOCK = re.compile(r"^<!-- calque: (?P<name>[\w -]+) -->\n.*?^<!-- /calque -->$", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"[−-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")


def filled(text: str, page: Path | None = None) -> str:
    """Return a page's text with numbers and blocks updated. Raises BadInput for an unknown table, row, column
    or block, and for a number at the start of a line."""

    def fill(mark: re.Match[str]) -> str:
        try:
            return _filled_cell(mark) if mark.re is _CELL else _filled_block(mark["name"])
        except BadInput as error:
            raise BadInput(str(error), page, mark.string.count("\n", 0, mark.start()) + 1) from None

    return _BLOCK.sub(fill, _CELL.sub(fill, text))


def _filled_block(name: str) -> str:
    if name not in BLOCKS:
        raise BadInput(unknown("block", name, BLOCKS))
    return "\n".join([f"<!-- calque: {name} -->", *BLOCKS[name](), "<!-- /calque -->"])


def _filled_cell(mark: re.Match[str]) -> str:
    if not mark.string[: mark.start()].rpartition("\n")[2].strip():
        raise BadInput("a comment at the start of a line ends the paragraph; put a word before it")
    keys = {key.strip() for key in re.split(r"\||,,", mark["keys"]) if key.strip()}
    table, column = _table(mark["table"]), mark["column"]
    matches = [row for row in table.rows if keys <= {*row}]
    if len(matches) != 1:
        raise BadInput(f"{len(matches)} rows of {mark['table']}, not one, contain {', '.join(sorted(keys))}")
    if column not in table.header:
        raise BadInput(unknown("column", column, table.header))
    text = matches[0][table.header.index(column)]
    if mark["number"]:
        numbers = [text, *_NUMBER.findall(text)]
        if int(mark["number"]) >= len(numbers):
            raise BadInput(f"{text!r} has no number {mark['number']}")
        text = numbers[int(mark["number"])]
    return f"{mark[1]}{text}{mark[6]}"


@cache
def _table(name: str) -> Table:
    path = COMMITTED / f"{name}.md"
    if not path.is_file():
        raise BadInput(f"no committed table {name}; expected STUDY/FILE, as in align_mlm_pocket/table-3")
    return table_of(path.read_text(encoding="utf-8"))


def table_of(text: str) -> Table:
    """Read `Table.markdown`, which lacks `labels`."""
    title, _, head, _, *lines = text.removesuffix("\n").split("\n")
    rows = tuple(_cells(line) for line in lines if line.startswith("|"))
    return Table(title[2:-2], _cells(head), rows, "\n".join(lines[len(rows) :]).strip())


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1])


def pages(root: Path) -> list[Path]:
    """List the Markdown pages at the top level, in docs and next to the records."""
    docs, records = sorted((root / "docs").rglob("*.md")), (root / "experiments/records").glob("*.md")
    return [*sorted(root.glob("*.md")), *docs, *records]


def update(root: Path, write: bool) -> list[str]:
    """Return the pages that are out of date, and update them if `write`."""
    different = []
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        new = filled(text, page)
        if new != text:
            different.append(page.relative_to(root).as_posix())
            if write:
                with whole_file(page) as part:
                    part.write_text(new, encoding="utf-8", newline="\n")
    return different


# Blocks


def _table_of(header: str, rows: Iterable[Sequence[str]]) -> list[str]:
    rule = "|" + "---|" * (header.count("|") + 1)
    return [f"| {header} |", rule, *(f"| {' | '.join(row)} |" for row in rows)]


def _definition(kind: type) -> str:
    return " ".join((kind.__doc__ or "").partition("\n\n")[0].split())


def _suffixes(kind: type[Named]) -> str:
    optional = (form for form in kind.forms if kind.defaults()[form.field] is not MISSING)
    return "; ".join(f"`{form.name}{form.example}`: {form.example_meaning}" for form in optional)


def _objectives() -> list[str]:
    rows = []
    for kind in OBJECTIVES:
        paper = f" ({kind.paper})" if kind.paper else ""
        rows.append((f"`{kind.short_name}`", _definition(kind) + paper, _suffixes(kind)))
    return _table_of("objective | definition | suffixes", rows)


def _transforms() -> list[str]:
    rows = []
    for kind in TRANSFORMS:
        if kind.__module__.startswith("calque.derive."):  # not from a study file
            rows.append((f"`{kind.example()}`", _definition(kind), _suffixes(kind)))
    return _table_of("transform | definition | suffixes", rows)


def _studies() -> list[str]:
    rows = []
    for name, row in studies_table().items():
        needs = f"; {row['needs']}" if "needs" in row else ""
        rows.append((f"`{name}`", row["doc"], row["time"] + needs))
    return _table_of("study | description | time on two cores; needs", rows)


def _tasks() -> list[str]:
    rows = [
        (f"`{task.name}`", task.summary, ", ".join(metric.title for metric in task.metrics))
        for task in TASKS.values()
    ]
    return _table_of("task | definition | metrics", rows)


def _benchmarks() -> list[str]:
    about, comparisons = read_benchmarks(COMMITTED / "benchmarks.json")
    header = "task | compared with | Calque's speed | times as fast, 95 % interval"
    lines = _table_of(header, [comparison.cells for comparison in comparisons])
    libraries = ", ".join(f"{library} {version}" for library, version in about["versions"].items())
    where = f"on {about['processor']} with {libraries}"
    return [*lines, "", f"`{about['command']}`, {about['date']}, commit {about['commit']}, {where}."]


def _claims() -> list[str]:
    lines = []
    for name, about in papers().items():
        rows = [
            (one.claim, one.where.replace("section ", "§"), one.size, one.direction)
            for one in dict.fromkeys(chain.from_iterable(conclusions(name).values()))
            if one.where
        ]
        lines += ["", f"## {about['title'].split(' (')[0]}", ""]
        lines += _table_of("claim | in the paper | ours / the paper’s | conclusion", rows)
    return [*lines[1:], ""]


def _claims_counted() -> list[str]:
    rows = {row for name in papers() for row in chain(*conclusions(name).values()) if row.where}
    untested = sum(row.direction == UNTESTED for row in rows)
    counts = Counter(re.split(":| after", row.direction)[0] for row in rows)
    decided = f"{counts[SAME]} have the same direction here and {counts[OPPOSITE]} the opposite one"
    undecided = f"{counts[UNDECIDED] - untested} remain undecided, {untested} untested"
    return [f"Of {len(rows)} published claims, {decided}; {undecided}."]


def _paper(name: str) -> list[str]:
    return [f"- `{item.name}`: {item.title} ({item.scale})" for item in items(name)]


BLOCKS: Mapping[str, Callable[[], list[str]]] = {
    "transforms": _transforms,
    "objectives": _objectives,
    "studies": _studies,
    "tasks": _tasks,
    "benchmarks": _benchmarks,
    "claims": _claims,
    "claims counted": _claims_counted,
    **{f"paper {name}": partial(_paper, name) for name in papers()},
}


def main() -> None:
    """Update all pages or, with --check, fail if one is out of date."""
    check = "--check" in sys.argv
    different = update(Path(__file__).parents[1], not check)
    for page in different:
        print(f"{page}: {'differs from its records' if check else 'updated'}")
    sys.exit(bool(check and different))


if __name__ == "__main__":
    main()
