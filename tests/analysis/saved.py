"""A plot that must be there, on disk."""

from pathlib import Path

from calque.analysis.report.plot import Drawing, Plot


def saved(plot: Plot | None, folder: Path) -> Drawing:
    """The drawing of a plot that the records must have filled."""
    assert plot is not None
    return plot.save(folder)
