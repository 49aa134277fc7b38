"""Scores of aligners and encoders against gold links, as in XLM-Align's Table 2 and Figure 2."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from statistics import fmean
from typing import Any

from matplotlib.axes import Axes

from calque.analysis.aligners.methods import BY_NAME, RELEASED
from calque.analysis.papers.columns import printed_rows
from calque.analysis.papers.continued import set_title
from calque.analysis.papers.looks import PUBLISHED as PUBLISHED_LOOKS
from calque.analysis.papers.looks import Look, keys, looks
from calque.analysis.papers.published import notes, published_layers
from calque.analysis.papers.texts import chart, table
from calque.analysis.records.record import AER, DIAGONAL, FAST_ALIGN, LinkCounts, Record
from calque.analysis.report.drawing import INK, SOFT, Dash, Plot, key, wrapped
from calque.analysis.report.table import MISSING, OURS, PUBLISHED, Table, hundredths
from calque.analysis.results import Results
from calque.derive.fingerprint import total
from calque.pretrain.architecture import main_layer

HEADLINE = "grow-diag-final-and"
CHOSEN_ON = "en-fr"  # the gold set for choosing the default method of `calque align`
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

    @property
    def way(self) -> str:
        """Whether the two sides are encoded in one row or separately, in a word."""
        return "joint" if self.joint else "apart"

    def mean(self, sets: Collection[str]) -> float | None:
        """Return the unweighted mean error rate over gold sets; None if one is missing."""
        rates = [self.counts[gold].aer for gold in sets if gold in self.counts]
        defined = [rate for rate in rates if rate is not None]
        return fmean(defined) if defined and len(defined) == len(sets) else None


class Systems:
    """The systems in a word-alignment study. `encoders` contains encoders with a named method at the main
    layer, `rows` the rows of Table 2, and `released` the released aligner at every layer."""

    def __init__(self, results: Results, sets: Sequence[str] = ()) -> None:
        records = [record for record in results.records if record.measure == AER and record.links is not None]
        self.results, self.sets = results, list(sets or dict.fromkeys(record.gold_set for record in records))
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

    def by_objective(self, given: bool) -> list[System]:
        """Return the systems whose encoders are given models or, without `given`, pretrained by the study."""
        return [s for s in self.all if s.layers and self.results.objective(s.learnt).given == given]

    @property
    def heads(self) -> tuple[str, ...]:
        """The headings of the columns that `rates` fills."""
        return *map(set_title, self.sets), "mean of the sets’ AER", "AER of all pairs"

    def rates(self, system: System) -> tuple[str, ...]:
        """Format the AER on each set, its mean, and the AER over all pairs, with the number of sets if some
        are missing."""
        counts = system.counts
        few = f" ({len(counts)} of {len(self.sets)})" if len(counts) < len(self.sets) else ""
        overall = (system.mean(counts), sum(counts.values(), LinkCounts()).aer)
        by_set = (hundredths(counts[gold].aer if gold in counts else None) for gold in self.sets)
        return *by_set, *(hundredths(rate) + few for rate in overall)


def link_tables(results: Results) -> dict[str, Table | None]:
    """Return the tables of a word-alignment study, by file name."""
    systems = Systems(results)
    given_encoders, encoders = systems.by_objective(given=True), any(system.layers for system in systems.all)
    return {
        "table-2": _table_2(systems),
        "layers": _layers_table(systems, bool(given_encoders)) if encoders else None,
        "choices": choices_table(systems) if given_encoders and CHOSEN_ON in systems.sets else None,
    }


def _table_2(systems: Systems) -> Table:
    """Tabulate the AER of every system on each gold set, and the paper's."""
    rows = [(*system.labels, OURS, *systems.rates(system)) for system in systems.rows]
    published = [number for number in systems.results.published if number.table == 2]
    names = [*map(set_title, systems.sets), "average"]
    for labels, values in printed_rows(published, ["setting", "objective"], "task").items():
        rows.append((*labels, PUBLISHED, *map(hundredths, map(values.get, names)), MISSING))
    pretrained, given_encoders = (systems.by_objective(given=kind) for kind in (False, True))
    sizes = _sizes(systems)
    parts = {
        "pretrained": pretrained,
        "encoders": pretrained or given_encoders,
        "alone": sizes,
        "none": not given_encoders,
    }
    about: dict[str, Any] = {"parts": parts, "sizes": sizes, "published": notes("xlm_align").get(2, "")}
    about |= {"layers": pretrained[0].layers, "layer": main_layer(pretrained[0].layers)} if pretrained else {}
    labels = ("aligner", "learnt from, or encoder and layer", "source")
    return table("table-2", systems.results, labels, systems.heads, rows, **about)


def _sizes(systems: Systems) -> str:
    """Name the gold sets that lack a training corpus, each with its number of sentence pairs."""
    by_set: dict[str, dict[str, int]] = {}
    for system in systems.without_encoder:
        for gold, counts in system.counts.items() if system.learnt else ():
            by_set.setdefault(gold, {})[system.learnt] = counts.pairs
    return ", ".join(f"{gold} {sum(sizes.values())}" for gold, sizes in by_set.items() if len(sizes) == 1)


def _layers_table(systems: Systems, published: bool) -> Table:
    """Tabulate the released aligner's AER at each layer; the published rates are for both sides in one
    row."""
    rows = []
    for system in sorted(systems.released, key=lambda s: (s.layers, s.learnt, s.joint, s.layer or 0)):
        rows.append((system.title, str(system.layer), system.way, OURS, *systems.rates(system)))
    for encoder, by_set in published_layers("xlm_align").items() if published else ():
        if all(name in by_set for name in systems.sets):
            for layer, rates in enumerate(zip(*(by_set[name] for name in systems.sets), strict=True)):
                cells = map(hundredths, (*rates, total(rates) / len(rates)))
                rows.append((encoder, str(layer), "joint", PUBLISHED, *cells, MISSING))
    labels = ("encoder", "layer", "way", "source")
    return table("link-layers", systems.results, labels, systems.heads, rows, aligner=RELEASED.name)


def choices_table(systems: Systems, on: str = CHOSEN_ON) -> Table:
    """Tabulate every combination of similarity, plan and rule at the main layer and, in brackets, at the
    layer with the lowest AER on the gold set `on`; rows are sorted by that AER."""
    by_layer: dict[tuple[str, str, bool], list[System]] = {}
    for system in systems.all:
        by_layer.setdefault((system.learnt, system.aligner, system.joint), []).append(system)
    tried = {system.learnt for system in systems.all if system.layers and system.aligner not in BY_NAME}
    rows = []
    for (learnt, aligner, joint), choices in by_layer.items():
        for main in (s for s in choices if learnt in tried and s.layer == s.main_layer):
            best = min(choices, key=lambda system: system.counts[on].aer or 0.0)
            rates = ([hundredths(s.counts[name].aer) for name in systems.sets] for s in (main, best))
            cells = (f"{rate} ({lowest})" for rate, lowest in zip(*rates, strict=True))
            row = (main.title, aligner, main.way, f"{main.layer} ({best.layer})", *cells)
            rows.append((joint, main.counts[on].aer or 0.0, row))
    labels, heads = ("encoder", "aligner", "way", "layer"), map(set_title, systems.sets)
    return table("choices", systems.results, labels, heads, [row for *_, row in sorted(rows)], on=on)


def link_figure(results: Results) -> Plot | None:
    """Plot the released aligner's mean AER by layer, with one line per encoder. Encoders with the same number
    of layers and the same gold sets share a row of two panels, one for each value of `joint`."""
    systems = Systems(results)
    groups: dict[Group, list[System]] = {}
    for system in systems.released:
        groups.setdefault((system.layers, tuple(system.counts)), []).append(system)
    learnt = list(dict.fromkeys(system.learnt for system in systems.released))
    if not learnt or not (look := looks(results, learnt)):
        return None
    levels = list(zip(systems.without_encoder, DASHES, strict=False))
    published = {group: _published(*group) for group in groups}
    hollow = {
        name: PUBLISHED_LOOKS.get(name, Look(SOFT, "")) for rates in published.values() for name in rates
    }

    def draw(panel: Axes, content: tuple[Group, bool]) -> None:
        group, joint = content
        layers, sets = group
        for name, style in look.items():
            _draw_encoder(panel, [s for s in groups[group] if (s.joint, s.learnt) == (joint, name)], style)
        for system, dash in levels:
            if (rate := system.mean(sets)) is not None:
                panel.axhline(100 * rate, color=INK, linestyle=dash, linewidth=1)
        for name, rates in published[group].items() if joint else ():
            colour, marker, _ = hollow[name]
            panel.plot(range(layers + 1), rates, ":", color=colour, marker=marker, fillstyle="none")
        panel.set_xticks(range(0, layers + 1, 1 + layers // TICKS))
        panel.set_xlabel("layer")
        if not joint:
            panel.set_ylabel(wrapped(f"mean AER, %\n{', '.join(map(set_title, sets))}", 1.6))

    panels, drawn = [], list[System]()
    for group, (joint, title) in product(groups, TITLES.items()):
        panels.append((f"{group[0]} layers, {title}" if len(groups) > 1 else title, (group, joint)))
        drawn += [system for system in groups[group] if system.joint == joint]
        drawn += [system for system, _ in levels if system.mean(group[1]) is not None]
    handles = keys(results, look, line=None)
    for system, dash in levels:
        handles.append(key(", ".join(filter(None, (system.aligner, system.title))), INK, line=dash))
    for name, (colour, marker, _) in hollow.items():
        handles.append(key(f"{name}, published", colour, marker, "none", ":"))
    records = [record for system in dict.fromkeys(drawn) for record in system.records.values()]
    layout: dict[str, Any] = {"sharey": "row", "legend": {"handlelength": 2.5}}
    layout["about"] = {"aligner": RELEASED.name}
    return chart("figure-2-layers", results, panels, draw, (2, 2.2), handles, records, **layout)


def _draw_encoder(panel: Axes, systems: Sequence[System], look: Look) -> None:
    points = []
    for system in sorted(systems, key=lambda system: system.layer or 0):
        if (rate := system.mean(system.counts)) is not None:
            points.append((system.layer, 100 * rate))
    if points:
        style: dict[str, Any] = {"color": look.colour, "marker": look.marker, "markersize": 5}
        panel.plot(*zip(*points, strict=True), look.dash, **style)


def _published(layers: int, sets: Sequence[str]) -> dict[str, list[float]]:
    """Return the mean error rates by layer of the published encoders of this depth."""
    means = {}
    for name, by_set in published_layers("xlm_align").items():
        if all(len(by_set.get(gold, ())) == layers + 1 for gold in sets):
            by_layer = zip(*(by_set[gold] for gold in sets), strict=True)
            means[name] = [100 * fmean(rates) for rates in by_layer]
    return means
