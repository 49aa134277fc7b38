"""Tables and figures with the titles, notes and captions in texts.toml."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from calque.analysis.records.record import Floor, Published, Record
from calque.analysis.report.drawing import WIDE, Plot, small_multiples
from calque.analysis.report.table import MISSING, Table, over_seeds
from calque.analysis.results import Results
from calque.derive.files import read_toml
from calque.derive.sources.files import TAGGED

TEXTS = read_toml(Path(__file__).with_name("texts.toml"))
T = TypeVar("T")
DEFINITIONS: dict[str, str] = TEXTS["definitions"]


def table(
    name: str, results: Results, heads: Iterable[object], rows: Iterable[tuple[str, ...]], **values: Any
) -> Table | None:
    """Return a table with texts from texts.toml, filled with `values`; None without rows."""
    entry, tasks, units = TEXTS["tables"][name], values.pop("tasks", results.tasks), set[str]()
    if TAGGED in tasks:
        units = {record.units for record in results.records if record.task == TAGGED}
    values = {
        "scale": results.scale,
        "seeds": over_seeds(results.seeds, results.redrawn),
        "missing": MISSING,
        "at_floor": f"{DEFINITIONS['at_floor']} " if results.floors else "",
        "units": "".join(f"Units of POS: {TEXTS['units'][unit]}. " for unit in sorted(units)),
        **values,
    }
    title, labels = entry["title"].format(**values), entry.get("labels", ("objective", "transform"))
    header, cells, note = (*labels, *map(str, heads)), tuple(rows), _filled(entry, "note", values).rstrip()
    return Table(title, header, cells, note, len(labels)) if cells else None


def chart(
    name: str,
    results: Results,
    panels: Sequence[tuple[str, T]],
    draw: Callable[[Axes, T], None],
    grid: tuple[int, float],
    handles: Sequence[Artist],
    records: Sequence[Record],
    published: Sequence[Published] = (),
    floors: Sequence[Floor] = (),
    about: Mapping[str, Any] = {},
    **layout: Any,
) -> Plot:
    """Return a figure (see `small_multiples`) with texts.toml's texts, filled with values in `about`."""
    entry, bars = TEXTS["figures"][name], "Bars are 95 % intervals over "
    if len(about.get("seeds", results.seeds)) > 1:
        bars += f"seeds; pale ones are wider than {WIDE:g} points."
    else:
        bars += "the test items of one seed, and do not cover other seeds."
    values = {**DEFINITIONS, "bars": bars, "floors": floors, "published": published, **about}
    title = entry["title"].format(**values)
    figure = small_multiples(title, panels, draw, grid, handles, **layout)
    scale = f" Scale: {results.scale}." if results.scale else ""
    return Plot(figure, name, title, _filled(entry, "caption", values) + scale, records, published, floors)


def _filled(entry: Mapping[str, Any], key: str, values: Mapping[str, Any]) -> str:
    """Return a text with values filled in; an optional part is empty if the value of its name is."""
    parts = entry.get("parts", {}).items()
    filled = {name: part.format(**values) if values.get(name) else "" for name, part in parts}
    return str(entry[key].format(**{**values, **filled}))
