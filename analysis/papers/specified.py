"""Tables and figures that only select numbers: each is an entry of texts.toml with `columns` and `papers`.

`papers` are the reports that have it. A column has a `head`, a `measure` and a `metric` of records, and a `task` where
the measure has several. A table has a row for each objective and derived language, a figure a panel for each column.
"""

from collections.abc import Iterator
from typing import Any

from analysis.papers.columns import Column, records_of, rows_of
from analysis.papers.looks import keys, looks
from analysis.papers.texts import TEXTS, heading, plot, table
from analysis.records.record import MEASURES
from analysis.report.drawing import FULL, MOST, draw_points, grid, legend, styled
from analysis.report.plot import Plot
from analysis.report.table import Table
from analysis.results.measured import mean
from analysis.results.results import Results

ABREAST = 2  # panels in a row at most
SPREAD = 0.6  # of the distance between two languages, that the points of one take


def specified_tables(paper: str, results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """The tables of a report that texts.toml specifies, where records have any of their numbers.

    Measures of a user's own, which no other table knows, are in a table of that name.
    """
    own = dict.fromkeys((r.measure, r.metric) for r in results.records if not r.task and r.measure not in MEASURES)
    columns = {name: _columns(entry) for name, entry in TEXTS["tables"].items() if paper in entry.get("papers", ())}
    columns |= {"own-measures": [Column(f"{measure} {metric}", measure, metric) for measure, metric in own]}
    for name, its in columns.items():
        if rows := list(rows_of(results, its)):
            header = "objective", "transform", *(column.head for column in its)
            yield name, table(name, results, scale, header, rows, 2, [column.measure for column in its])


def specified_figures(paper: str, results: Results, scale: str) -> Iterator[Plot | None]:
    """The figures of a report that texts.toml specifies; None where records cannot fill one."""
    for name, entry in TEXTS["figures"].items():
        if paper in entry.get("papers", ()):
            yield specified_figure(name, _columns(entry), results, scale)


def specified_figure(name: str, columns: list[Column], results: Results, scale: str) -> Plot | None:
    """Numbers by language, a panel for each column, points with intervals for each objective.

    None without any, or with more languages or objectives than a figure can tell apart.
    """
    look, objectives = looks(results), results.objectives
    shown = [t for t in results.transforms if any(c.values(results, o, t) for c in columns for o in objectives)]
    if not shown or len(shown) > MOST or not look:
        return None
    rows, step = -(-len(columns) // ABREAST), SPREAD / len(look)
    with styled(FULL, 1.4 + 2.4 * rows, heading(name, scale)) as figure:
        for panel, column in zip(grid(figure, len(columns), min(ABREAST, len(columns))).flat, columns, strict=False):
            for i, (objective, its) in enumerate(look.items()):
                means = ((x, mean(column.values(results, objective, t))) for x, t in enumerate(shown))
                points = [(x + step * (i - (len(look) - 1) / 2), number) for x, number in means if number]
                draw_points(panel, points, its.colour, bounds=column.bounds, marker=its.marker, linestyle="")
            panel.set_xticks(range(len(shown)), [results.transform_title(t) for t in shown])
            panel.set_xlim(-0.5, len(shown) - 0.5)
            panel.set_title(column.head)
            panel.set_ylabel("percent")
        legend(figure, keys(results, look), 4)
    return plot(name, figure, results, records_of(results, columns))


def _columns(entry: dict[str, Any]) -> list[Column]:
    return [Column(**column) for column in entry["columns"]]
