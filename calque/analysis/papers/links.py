"""Scores of aligners and encoders against gold links, as in XLM-Align's Table 2 and Figure 2."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from matplotlib.axes import Axes

from calque.analysis.aligners import BY_NAME, RELEASED
from calque.analysis.papers.colours import keys, looks
from calque.analysis.papers.continued import set_title
from calque.analysis.papers.published import notes
from calque.analysis.papers.texts import chart, table
from calque.analysis.records.aer import LinkCounts
from calque.analysis.records.record import AER, DIAGONAL, FAST_ALIGN, Record
from calque.analysis.report.drawing import INK, Dash, Plot, key, wrapped
from calque.analysis.report.table import MISSING, OURS, PUBLISHED, Table, hundredths
from calque.analysis.results import Results, mean_of_all

HEADLINE = "grow-diag-final-and"
FORMER = "match"  # a method in committed records only
TICKS = 8  # every layer gets a tick if there are fewer layers than this
DASHES: tuple[Dash, ...] = ("-.", "--", ":")
TITLES = {False: "each side encoded alone", True: "both sides in one row"}  # panel titles, by `joint`


@dataclass(frozen=True)
class System:
    """An aligner, its objective, corpus or encoder, and its records, one per gold set."""

    aligner: str
    learnt: str
    symmetrisation: str
    joint: bool
    layer: int | None
    layers: int
    main_layer: int
    records: list[Record] = field(default_factory=list, compare=False)

    @property
    def counts(self) -> dict[str, LinkCounts]:
        """The numbers of links by gold set."""
        return {record.gold_set: record.links for record in self.records if record.links}

    @property
    def is_shown(self) -> bool:
        """Whether Table 2 has a row for it: systems read sentences alone, except the released aligner."""
        if not self.layers:
            return self.aligner == DIAGONAL or (self.aligner, self.symmetrisation) == (FAST_ALIGN, HEADLINE)
        named = self.aligner in BY_NAME or self.aligner == FORMER
        released = self.aligner == RELEASED.name
        return named and self.layer in (None, self.main_layer) and self.joint == released

    def mean(self, sets: Iterable[str]) -> float | None:
        """Return the mean error rate over gold sets; None if one is missing."""
        return mean_of_all([self.counts[gold].aer if gold in self.counts else None for gold in sets])


def systems(results: Results) -> list[System]:
    """Return a study's systems, those without an encoder first."""
    found: dict[System, System] = {}
    for record in results.records:
        if record.measure == AER and record.links is not None:
            run, facets = results.runs[record.run], (record.symmetrisation, record.joint, record.layer)
            learnt = results.objective_of(record)
            system = System(record.aligner, learnt, *facets, run.layers, run.main_layer)
            found.setdefault(system, system).records.append(record)
    return sorted(found.values(), key=lambda system: (system.layers > 0, system.aligner != DIAGONAL))


def link_tables(results: Results) -> dict[str, Table | None]:
    """Return the table, by file name, of every system's AER on each gold set, and the paper's."""
    shown = filter(lambda system: system.is_shown, systems(results))
    sets = list(dict.fromkeys(record.gold_set for record in results.records if record.links))
    titles, rows = list(map(set_title, sets)), list[tuple[str, ...]]()
    for system in sorted(shown, key=lambda system: system.joint):
        learnt, counts = results.objective_title(system.learnt) or MISSING, system.counts
        if system.layers:
            learnt += f", {system.layer} of {system.layers}"
        rates = [hundredths(counts[gold].aer if gold in counts else None) for gold in sets]
        few = f" ({len(counts)} of {len(sets)})" if len(counts) < len(sets) else ""
        overall = system.mean(counts), sum(counts.values(), LinkCounts()).aer
        name = f"{system.aligner}, joint" if system.joint else system.aligner
        rows.append((name, learnt, OURS, *rates, *(hundredths(rate) + few for rate in overall)))
    published: dict[tuple[str, str], dict[str, float]] = {}
    for p in results.published:
        if p.table == 2:
            published.setdefault((p.setting, p.objective), {})[p.task] = p.value
    for labels, values in published.items():
        rows.append((*labels, PUBLISHED, *map(hundredths, map(values.get, [*titles, "average"])), MISSING))
    heads, note = [*titles, "mean of the sets’ AER", "AER of all pairs"], notes("xlm_align")[2]
    return {"table-2": table("table-2", results, heads, rows, published=note)}


def link_figures(results: Results) -> Iterator[Plot]:
    """Plot the released aligner's mean AER by layer; encoders of equal depth share a row of two panels."""
    every = systems(results)
    released = [system for system in every if system.layers and system.aligner == RELEASED.name]
    names = list(dict.fromkeys(system.learnt for system in released))
    if not (look := looks(results, names) if released else {}):
        return
    groups = list(dict.fromkeys((system.layers, tuple(system.counts)) for system in released))
    shown = (system for system in every if system.is_shown and not system.layers)
    levels, panels, drawn = list(zip(shown, DASHES, strict=False)), [], dict[System, None]()
    for (layers, sets), joint in product(groups, TITLES):
        members = [s for s in released if (s.layers, tuple(s.counts), s.joint) == (layers, sets, joint)]
        title = f"{layers} layers, {TITLES[joint]}" if len(groups) > 1 else TITLES[joint]
        panels.append((title, members))
        drawn |= dict.fromkeys([*members, *(system for system, _ in levels if system.mean(sets) is not None)])

    def draw(panel: Axes, members: Sequence[System]) -> None:
        first = members[0]
        for name, (colour, marker, dash) in look.items():
            line = sorted((s for s in members if s.learnt == name), key=lambda s: s.layer or 0)
            rates = [(s.layer, 100 * rate) for s in line if (rate := s.mean(first.counts)) is not None]
            if rates:
                style: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 5}
                panel.plot(*zip(*rates, strict=True), dash, **style)
        panel.set(xticks=range(0, first.layers + 1, 1 + first.layers // TICKS), xlabel="layer")
        if not first.joint:
            panel.set_ylabel(wrapped(f"mean AER, %\n{', '.join(map(set_title, first.counts))}", 1.6))
        for system, dash in levels:
            if (rate := system.mean(first.counts)) is not None:
                panel.axhline(100 * rate, color=INK, linestyle=dash, linewidth=1)

    handles = keys(results, look, line=None)
    for system, dash in levels:
        titles = system.aligner, results.objective_title(system.learnt)
        handles.append(key(", ".join(filter(None, titles)), INK, line=dash))
    layout: dict[str, Any] = {"sharey": "row", "legend": {"handlelength": 2.5}}
    layout["about"] = {"aligner": RELEASED.name}
    records = [record for system in drawn for record in system.records]
    yield chart("figure-2-layers", results, panels, draw, (2, 2.2), handles, records, **layout)
