"""A plot that must be there, on disk."""

from dataclasses import dataclass
from pathlib import Path

from calque.analysis.report.plot import Plot


@dataclass(frozen=True)
class Drawing:
    """A figure on disk: its files, a caption of two or three sentences, details, and the runs that it shows."""

    name: str
    title: str
    caption: str
    details: tuple[str, ...]
    png: Path
    svg: Path
    records: Path
    runs: tuple[str, ...]


def saved(plot: Plot | None, folder: Path) -> Drawing:
    """The drawing of a plot that the records must have filled."""
    assert plot is not None
    plot.save(folder)
    files = (folder / f"{plot.name}.{end}" for end in ("png", "svg", "jsonl"))
    runs = tuple(sorted({record.run for record in plot.records}))
    return Drawing(plot.name, plot.title, plot.caption, tuple(plot.details), *files, runs)
