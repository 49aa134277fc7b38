"""Save figures together with the records that they show."""

import dataclasses
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from calque.analysis.records import json_rows
from calque.analysis.records.record import Floor, Published, Record
from calque.analysis.report.drawing import STYLE
from calque.analysis.report.table import visible
from calque.derive.files import whole_file


@dataclass(frozen=True)
class Plot:
    """A figure, its caption, and the records, published numbers and floors that it shows."""

    figure: Figure
    name: str
    title: str
    caption: str
    records: Sequence[Record]
    published: Sequence[Published] = ()
    floors: Sequence[Floor] = ()

    def save(self, folder: Path, pdf: bool = False) -> None:
        """Write `name`.png, `name`.svg, with `pdf` also `name`.pdf, and `name`.jsonl with all numbers."""
        save_figure(self.figure, folder, self.name)
        if pdf:
            save_pdf(self.figure, folder / f"{self.name}.pdf")
        records = (dataclasses.replace(record, items=None) for record in self.records)
        floors = (dataclasses.replace(floor, items=None) for floor in self.floors)
        json_rows.write(folder / f"{self.name}.jsonl", [*records, *floors, *self.published])


def save_figure(figure: Figure, folder: Path, name: str) -> Path:
    """Write a figure as PNG and SVG with reproducible bytes, and return the PNG's path."""
    png, svg = (folder / f"{name}.{kind}" for kind in ("png", "svg"))
    with mpl.rc_context(STYLE), whole_file(png) as part:
        figure.savefig(part, format="png", dpi=200, metadata={"Software": None})
    with whole_file(svg) as part:
        part.write_text(svg_of(figure), encoding="utf-8")
    return png


def save_pdf(figure: Figure, path: Path) -> None:
    """Write a figure as PDF with reproducible bytes."""
    with mpl.rc_context(STYLE), whole_file(path) as part:
        figure.savefig(part, format="pdf", metadata={"CreationDate": None, "Creator": None})


def svg_of(figure: Figure) -> str:
    """Return a figure as SVG, the same for the same figure."""
    text = io.StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return visible(text.getvalue())  # Matplotlib keeps control characters, which XML forbids
