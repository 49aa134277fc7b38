"""Scores of aligners and encoders against gold links, as in XLM-Align's Table 2 and Figure 2."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from statistics import fmean
from typing import Any

from matplotlib.axes import Axes

from calque.analysis.aligners.methods import BY_NAME, RELEASED
from calque.analysis.papers.continued import set_title
from calque.analysis.papers.looks import Look, keys, looks
from calque.analysis.papers.published import notes
from calque.analysis.papers.texts import chart, table
from calque.analysis.records.record import AER, DIAGONAL, FAST_ALIGN, LinkCounts, Record
from calque.analysis.report.drawing import INK, Dash, Plot, key, wrapped
from calque.analysis.report.table import MISSING, OURS, PUBLISHED, Table, hundredths
from calque.analysis.results import Results
from calque.pretrain.model import main_layer

HEADLINE = "grow-diag-final-and"
TICKS = 8  # every layer gets a tick if there are fewer layers than this
DASHES: tuple[Dash, ...] = ("-.", "--", ":")
TITLES = {False: "each side encoded alone", True: "both sides in one row"}  # panel titles, by `joint`
Group = tuple[int, tuple[str, ...]]  # a number of layers, and gold sets


@dataclass(frozen=True)
class System:
    """An aligner, the encoder and layer that it uses, if any, and its records by gold set."""

    aligner: str
    learnt: str
    title: str
    symmetrisation: str
    joint: bool
    layer: int | None
    layers: int
    main_layer: int
    records: Mapping[str, Record] = field(default_factory=dict, compare=False)

    @property
    def counts(self) -> dict[str, LinkCounts]:
        """The numbers of links by gold set."""
        return {gold: record.links for gold, record in self.records.items() if record.links}

    @property
    def labels(self) -> tuple[str, str]:
        """The labels of the system's row: its method, and its encoder and layer or training corpus."""
        name = f"{self.aligner}, joint" if self.aligner == RELEASED.name else self.aligner
        title = self.title or MISSING
        return name, f"{title}, {self.layer} of {self.layers}" if self.layers else title

    def mean(self, sets: Collection[str]) -> float | None:
        """Return the unweighted mean error rate over gold sets; None if one is missing."""
        rates = [self.counts[gold].aer for gold in sets if gold in self.counts]
        defined = [rate for rate in rates if rate is not None]
        return fmean(defined) if defined and len(defined) == len(sets) else None


class Systems:
    """The systems in a word-alignment study. `encoders` contains encoders with a named method at the main
    layer, `rows` the rows of Table 2, and `released` the released aligner at every layer."""

    def __init__(self, results: Results) -> None:
        records = [record for record in results.records if record.measure == AER and record.links is not None]
        self.results, self.sets = results, list(dict.fromkeys(record.gold_set for record in records))
        by_system: dict[System, dict[str, Record]] = {}
        for record in records:
            run, learnt = results.runs[record.run], results.objective_of(record)
            facets = (record.symmetrisation, record.joint, record.layer, run.layers, run.main_layer)
            system = System(record.aligner, learnt, results.objective_title(learnt), *facets)
            by_system.setdefault(system, {})[record.gold_set] = record
        self.all = []
        for system, by_set in by_system.items():
            chosen = {gold: by_set[gold] for gold in self.sets if gold in by_set}
            self.all.append(replace(system, records=chosen))
        symmetrised = [s for s in self.all if s.aligner == FAST_ALIGN and s.symmetrisation == HEADLINE]
        self.without_encoder = [*(s for s in self.all if s.aligner == DIAGONAL), *symmetrised]
        named = [s for s in self.all if s.layers and s.aligner in BY_NAME]
        self.encoders = [s for s in named if s.layer in (None, s.main_layer)]
        self.released = [s for s in named if s.aligner == RELEASED.name]
        usual = [s for s in self.encoders if s.joint == (s.aligner == RELEASED.name)]
        self.rows = [*self.without_encoder, *sorted(usual, key=lambda s: s.joint)]

    def rates(self, system: System) -> tuple[str, ...]:
        """Format the AER on each set, its mean, and the AER over all pairs, with the number of sets if some
        are missing."""
        counts = system.counts
        few = f" ({len(counts)} of {len(self.sets)})" if len(counts) < len(self.sets) else ""
        overall = (system.mean(counts), sum(counts.values(), LinkCounts()).aer)
        by_set = (hundredths(counts[gold].aer if gold in counts else None) for gold in self.sets)
        return *by_set, *(hundredths(rate) + few for rate in overall)


def link_tables(results: Results) -> dict[str, Table]:
    """Return the table of a word-alignment study, by file name."""
    return {"table-2": _table_2(Systems(results))}


def _table_2(systems: Systems) -> Table:
    """Tabulate the AER of every system on each gold set, and the paper's."""
    rows = [(*system.labels, OURS, *systems.rates(system)) for system in systems.rows]
    sets = list(map(set_title, systems.sets))
    published: dict[tuple[str, str], dict[str, float]] = {}
    for p in systems.results.published:
        if p.table == 2:
            published.setdefault((p.setting, p.objective), {})[p.task] = p.value
    for (setting, objective), values in published.items():
        rates = map(hundredths, map(values.get, [*sets, "average"]))
        rows.append((setting, objective, PUBLISHED, *rates, MISSING))
    encoders, sizes = [system for system in systems.all if system.layers], _sizes(systems)
    pretrained = [system for system in encoders if not systems.results.objective(system.learnt).given]
    none_given = len(pretrained) == len(encoders)
    parts = {"pretrained": pretrained, "encoders": encoders, "alone": sizes, "none": none_given}
    about: dict[str, Any] = {"parts": parts, "sizes": sizes, "published": notes("xlm_align").get(2, "")}
    about |= {"layers": pretrained[0].layers, "layer": main_layer(pretrained[0].layers)} if pretrained else {}
    labels = ("aligner", "learnt from, or encoder and layer", "source")
    heads = [*sets, "mean of the sets’ AER", "AER of all pairs"]
    return table("table-2", systems.results, labels, heads, rows, **about)


def _sizes(systems: Systems) -> str:
    """Name the gold sets that lack a training corpus, each with its number of sentence pairs."""
    by_set: dict[str, dict[str, int]] = {}
    for system in systems.without_encoder:
        for gold, counts in system.counts.items() if system.learnt else ():
            by_set.setdefault(gold, {})[system.learnt] = counts.pairs
    return ", ".join(f"{gold} {sum(sizes.values())}" for gold, sizes in by_set.items() if len(sizes) == 1)


def link_figure(results: Results) -> Plot | None:
    """Plot the released aligner's mean AER by layer, with one line per encoder. Encoders with the same number
    of layers and the same gold sets share a row of two panels, one for each value of `joint`."""
    systems = Systems(results)
    learnt = list(dict.fromkeys(system.learnt for system in systems.released))
    if not learnt or not (look := looks(results, learnt)):
        return None
    groups: dict[Group, list[System]] = {}
    for system in systems.released:
        groups.setdefault((system.layers, tuple(system.counts)), []).append(system)
    levels = list(zip(systems.without_encoder, DASHES, strict=False))
    panels, drawn = [], list[System]()
    for group, (joint, title) in product(groups, TITLES.items()):
        panels.append((f"{group[0]} layers, {title}" if len(groups) > 1 else title, (group, joint)))
        drawn += [system for system in groups[group] if system.joint == joint]
        drawn += [system for system, _ in levels if system.mean(group[1]) is not None]

    def draw(panel: Axes, content: tuple[Group, bool]) -> None:
        group, joint = content
        _draw_encoders(panel, [system for system in groups[group] if system.joint == joint], look)
        for system, dash in levels:
            if (rate := system.mean(group[1])) is not None:
                panel.axhline(100 * rate, color=INK, linestyle=dash, linewidth=1)
        _label_axes(panel, *content)

    handles = keys(results, look, line=None)
    for system, dash in levels:
        handles.append(key(", ".join(filter(None, (system.aligner, system.title))), INK, line=dash))
    records = [record for system in dict.fromkeys(drawn) for record in system.records.values()]
    layout: dict[str, Any] = {"sharey": "row", "legend": {"handlelength": 2.5}}
    layout["about"] = {"aligner": RELEASED.name}
    return chart("figure-2-layers", results, panels, draw, (2, 2.2), handles, records, **layout)


def _draw_encoders(panel: Axes, systems: Sequence[System], look: Mapping[str, Look]) -> None:
    """Draw one line of mean error rates by layer for each encoder."""
    for name, (colour, marker, dash) in look.items():
        points = []
        for system in sorted((s for s in systems if s.learnt == name), key=lambda s: s.layer or 0):
            if (rate := system.mean(system.counts)) is not None:
                points.append((system.layer, 100 * rate))
        if points:
            style: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 5}
            panel.plot(*zip(*points, strict=True), dash, **style)


def _label_axes(panel: Axes, group: Group, joint: bool) -> None:
    layers, sets = group
    panel.set_xticks(range(0, layers + 1, 1 + layers // TICKS))
    panel.set_xlabel("layer")
    if not joint:
        panel.set_ylabel(wrapped(f"mean AER, %\n{', '.join(map(set_title, sets))}", 1.6))
