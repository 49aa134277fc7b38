"""Aligners and encoders on gold sets: Table 2 of XLM-Align and the tables behind it, and findings in two sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.aligners.encoder import main_layer
from analysis.aligners.methods import BY_NAME, RELEASED
from analysis.papers.published import notes, published_layers
from analysis.papers.texts import table
from analysis.papers.xlm_align.continued import set_title
from analysis.records.record import AER, LinkCounts, Record
from analysis.report.table import MISSING, OURS, PUBLISHED, Table, hundredths, link_cells, listed, percent
from analysis.results.measured import Measured, gap
from analysis.results.results import Results

FAST_ALIGN, DIAGONAL = "fast_align", "diagonal"
HEADLINE = "grow-diag-final-and"
CHOSEN_ON = "en-fr"  # the gold set by which the default of `calque align` was chosen; the others had no say in it
SYSTEM = ("aligner", "learnt from, or encoder and layer")
RATES = ("mean of the sets’ AER", "AER of all pairs")
Layers = Mapping[str, Mapping[str, Sequence[float]]]
"""Error rates by encoder, gold set and layer, as fractions."""


@dataclass(frozen=True)
class System:
    """An aligner, or an encoder at a layer, with its records by gold set.

    `aligner` is fast_align, diagonal (each target word with the source word in the same place), or how links are read
    from an encoder's hidden states (`analysis.aligners.methods`). `learnt` is the name of what it learnt by, and
    `title` what people call that: the objective or folder of an encoder, or fast_align's text; the diagonal learns
    nothing. `symmetrisation` is that of fast_align, or its direction. `layer` is one of an encoder's `layers`, and
    `main_layer` the one that was chosen before anything was scored; `joint` says that it saw a pair as one row.
    """

    aligner: str
    learnt: str
    title: str
    symmetrisation: str
    joint: bool
    layer: int | None
    layers: int
    main_layer: int
    records: Mapping[str, Record] = field(compare=False)

    @property
    def main(self) -> bool:
        """Whether it is at the chosen layer, and links are read by a method with a name of its own."""
        return self.layer in (None, self.main_layer) and self.named

    @property
    def named(self) -> bool:
        """Whether it needs no encoder, or reads links by a method that has a name of its own."""
        return not self.layers or self.aligner in BY_NAME

    @property
    def counts(self) -> dict[str, LinkCounts]:
        """Its scores by gold set."""
        return {gold: record.links for gold, record in self.records.items() if record.links}

    @property
    def learnt_from(self) -> str:
        """What it learnt from, or its encoder and layer."""
        title = self.title or MISSING
        return f"{title}, {self.layer} of {self.layers}" if self.layers else title

    @property
    def way(self) -> str:
        """fast_align's direction or symmetrisation, or how an encoder sees a pair; the diagonal has neither."""
        return ("joint" if self.joint else "apart") if self.layers else self.symmetrisation

    def mean(self, sets: Iterable[str]) -> float | None:
        """The mean of its error rates on gold sets, as the paper's average; None where it has not all of them."""
        rates = [self.counts[gold].aer if gold in self.counts else None for gold in sets]
        measured = [rate for rate in rates if rate is not None]
        return sum(measured) / len(measured) if measured and len(measured) == len(rates) else None


@dataclass(frozen=True)
class Systems:
    """The systems of a study of word alignment in the order of its records, and the gold sets that are shown."""

    results: Results
    sets: tuple[str, ...]
    all: tuple[System, ...]

    @classmethod
    def of(cls, results: Results, sets: Sequence[str] = ()) -> Systems:
        """Every system, on all gold sets or some."""
        records = [record for record in results.records if record.measure == AER and record.links is not None]
        sets = tuple(sets) or tuple(dict.fromkeys(record.gold_set for record in records))
        found: dict[tuple[str, str, str, str, bool, int | None, int, int], dict[str, Record]] = {}
        for record in records:
            run = results.runs[record.run]
            learnt = run.objective.name if run.objective else ""
            title = results.objective_title(learnt) if learnt else ""
            facets = (record.symmetrisation, record.joint, record.layer, run.layers, run.main_layer)
            found.setdefault((record.aligner, learnt, title, *facets), {})[record.gold_set] = record
        shown = ({gold: by_set[gold] for gold in sets if gold in by_set} for by_set in found.values())
        return cls(results, sets, tuple(System(*key, its) for key, its in zip(found, shown, strict=True)))

    @property
    def main(self) -> list[System]:
        """Every system by a method with a name of its own, of encoders the chosen layer."""
        return [system for system in self.all if system.main]

    @property
    def without_encoder(self) -> list[System]:
        """The diagonal, and fast_align's headline."""
        headline = [s for s in self.all if s.aligner == FAST_ALIGN and s.symmetrisation == HEADLINE]
        return [*(system for system in self.all if system.aligner == DIAGONAL), *headline]

    def encoders(self, joint: bool) -> list[System]:
        """Each encoder and aligner at the chosen layer."""
        return [system for system in self.main if system.layers and system.joint == joint]

    @property
    def shown(self) -> list[System]:
        """The rows of Table 2: encoders with each side alone, and the released aligner's rule as it is released."""
        alone = [system for system in self.encoders(joint=False) if system.aligner != RELEASED.name]
        released = [system for system in self.encoders(joint=True) if system.aligner == RELEASED.name]
        return [*self.without_encoder, *alone, *released]

    def by_objective(self, given: bool) -> list[System]:
        """The systems of encoders that were given, or that the study pretrained."""
        return [s for s in self.all if s.layers and self.results.objective(s.learnt).given == given]

    @property
    def header(self) -> tuple[str, ...]:
        """Gold sets, the mean over them, and all pairs together."""
        return *map(set_title, self.sets), *RATES

    def rates(self, system: System) -> tuple[str, ...]:
        """AER by set, their mean, and that of all pairs; over fewer sets than there are, with their number."""
        counts = system.counts
        few = f" ({len(counts)} of {len(self.sets)})" * (len(counts) < len(self.sets))
        together = (system.mean(counts), sum(counts.values(), LinkCounts()).aer)
        by_set = (hundredths(counts[gold].aer if gold in counts else None) for gold in self.sets)
        return *by_set, *(hundredths(rate) + few for rate in together)


def records_of(systems: Iterable[System]) -> list[Record]:
    """The records behind systems, each once."""
    return [record for system in dict.fromkeys(systems) for record in system.records.values()]


def link_tables(results: Results, scale: str) -> Iterator[tuple[str, Table]]:
    """Every table of a study of word alignment, by the name of its file."""
    systems = Systems.of(results)
    given = systems.by_objective(given=True)
    yield "table-2", table_2(systems, scale)
    yield "measures", measures_table(systems, scale)
    yield "ways", ways_table(systems, scale)
    if any(system.layers for system in systems.all):
        layers = published_layers("xlm_align") if given else {}
        yield "layers", layers_table(systems, RELEASED.name, layers, scale)
    if given and CHOSEN_ON in systems.sets:
        yield "choices", choices_table(systems)


def table_2(systems: Systems, scale: str) -> Table:
    """AER in percent by aligner and encoder, at the layer chosen beforehand."""
    rows = []
    for system in systems.shown:
        aligner = f"{system.aligner}, joint" if system.aligner == RELEASED.name else system.aligner
        rows.append((aligner, system.learnt_from, OURS, *systems.rates(system)))
    published = [number for number in systems.results.published if number.table == 2]
    for setting, encoder in dict.fromkeys((number.setting, number.objective) for number in published):
        values = {p.task: p.value for p in published if (p.setting, p.objective) == (setting, encoder)}
        names = [*map(set_title, systems.sets), "average"]
        rows.append((setting, encoder, PUBLISHED, *(hundredths(values.get(name)) for name in names), MISSING))
    return table("table-2", systems.results, scale, (*SYSTEM, "source", *systems.header), rows, 3, **_about(systems))


def _about(systems: Systems) -> dict[str, Any]:
    """What must be known to read Table 2: parts of its note, and their values."""
    pretrained, given = (systems.by_objective(given=one) for one in (False, True))
    texts = [(gold, s.learnt, s.counts[gold].pairs) for s in systems.without_encoder for gold in s.counts if s.learnt]
    several = {gold for gold, _, _ in texts if len({learnt for other, learnt, _ in texts if other == gold}) > 1}
    sizes = ", ".join(f"{gold} {pairs}" for gold, _, pairs in texts if gold not in several)
    parts = {"pretrained": pretrained, "encoders": pretrained or given, "alone": sizes, "none": not given}
    about: dict[str, Any] = {"parts": [name for name, present in parts.items() if present], "sizes": sizes}
    about |= {"layers": pretrained[0].layers, "layer": main_layer(pretrained[0].layers)} if pretrained else {}
    return about | {"published": notes("xlm_align").get(2, "")}


def ways_table(systems: Systems, scale: str) -> Table:
    """AER of fast_align's directions and symmetrisations, and of encoders with sides apart and joint."""
    rows = ((s.aligner, s.learnt_from, s.way, *systems.rates(s)) for s in systems.main)
    return table("ways", systems.results, scale, (*SYSTEM, "way", *systems.header), rows, 3)


def layers_table(systems: Systems, aligner: str, published: Layers, scale: str) -> Table:
    """AER of each layer, what Figure 2 draws; `published` are of the released aligner, joint."""
    shown = [system for system in systems.all if system.layers and system.aligner == aligner]
    shown.sort(key=lambda system: (system.layers, system.learnt, system.joint, system.layer or 0))
    rows = [(system.title, str(system.layer), system.way, OURS, *systems.rates(system)) for system in shown]
    for encoder, by_set in published.items():
        if all(name in by_set for name in systems.sets):
            for layer, rates in enumerate(zip(*(by_set[name] for name in systems.sets), strict=True)):
                cells = map(hundredths, (*rates, sum(rates) / len(rates)))
                rows.append((encoder, str(layer), "joint", PUBLISHED, *cells, MISSING))
    header = ("encoder", "layer", "way", "source", *systems.header)
    return table("link-layers", systems.results, scale, header, rows, 4, aligner=aligner)


def choices_table(systems: Systems, on: str = CHOSEN_ON) -> Table:
    """AER of every choice of similarity, plan and rule, best first on the set `on`.

    Each at the encoder's main layer, and in brackets at the layer that is the best on that set.
    """
    every = {system.learnt for system in systems.all if not system.named}
    by_choice: dict[tuple[str, str, bool], list[System]] = {}
    for system in systems.all:
        if system.layers and system.learnt in every:
            by_choice.setdefault((system.learnt, system.aligner, system.joint), []).append(system)

    def on_chosen(system: System) -> float:
        return system.counts[on].aer or 0.0

    rows = []
    for layers in by_choice.values():
        main = next(system for system in layers if system.layer in (None, system.main_layer))
        best = min(layers, key=on_chosen)
        rates = ([hundredths(system.counts[name].aer) for name in systems.sets] for system in (main, best))
        cells = (f"{at_main} ({at_best})" for at_main, at_best in zip(*rates, strict=True))
        row = (main.title, main.aligner, main.way, f"{main.layer} ({best.layer})", *cells)
        rows.append((main.joint, on_chosen(main), row))
    header = ("encoder", "aligner", "way", "layer", *map(set_title, systems.sets))
    return table("choices", systems.results, "", header, (row for *_, row in sorted(rows)), 4, on=on)


def measures_table(systems: Systems, scale: str) -> Table:
    """Precision, recall and F1 beside AER, for what Table 2 shows."""
    rows = []
    for system in systems.shown:
        counts = system.counts
        counts |= {"all pairs": sum(counts.values(), LinkCounts())} if len(counts) > 1 else {}
        aligner = f"{system.aligner}, joint" if system.aligner == RELEASED.name else system.aligner
        rows += [(aligner, system.learnt_from, gold, *link_cells(its)) for gold, its in counts.items()]
    header = (*SYSTEM, "gold set", "AER", "precision", "recall", "F1", "links", "sure")
    return table("measures", systems.results, scale, header, rows, 3)


def link_findings(results: Results) -> Iterator[str]:
    """The best aligner without an encoder and the best with one, by mean AER over the sets that all of them have."""
    systems = Systems.of(results)
    encoders = systems.encoders(joint=False)
    sets = [name for name in systems.sets if all(name in system.counts for system in encoders)]
    over = f"over {listed(list(map(set_title, sets)))}"
    statistical = _means([system for system in systems.without_encoder if system.aligner != DIAGONAL], sets)
    if statistical:
        yield f"Mean AER {over}: {_lead(statistical, sets)} of aligners without an encoder."
    if read := _means(encoders, sets):
        floor = _means([system for system in systems.without_encoder if system.aligner == DIAGONAL], sets)
        beside = f"; linking each word to the one in the same place has {percent(floor[0][1])} %" if floor else ""
        yield f"Mean AER {over}: {_lead(read, sets)} of encoders{beside}."


def _means(systems: Sequence[System], sets: Sequence[str]) -> list[tuple[System, float]]:
    """The mean AER of each system that has all the sets."""
    rates = [(system, system.mean(sets)) for system in systems]
    return [(system, rate) for system, rate in rates if rate is not None]


def _lead(rates: list[tuple[System, float]], sets: Sequence[str]) -> str:
    """The system with the lowest rate, if it is below every other by more than the draw of sentences explains."""
    (best, rate), *others = sorted(rates, key=lambda pair: pair[1])
    first = f"{_name(best)} {percent(rate)} %"
    if not others:
        return f"{first}, the only one"
    if all(_below(best, other, sets) for other, _ in others):
        return f"{first}, the lowest"
    following, next_rate = others[0]
    return f"{first} and {_name(following)} {percent(next_rate)} %, no lead beyond the draw of sentences,"


def _below(ours: System, theirs: System, sets: Sequence[str]) -> bool:
    rates = ([{0: Measured.of(system.records[name])} for name in sets] for system in (ours, theirs))
    difference = gap(*rates)
    return difference is not None and difference.high is not None and difference.high < 0


def _name(system: System) -> str:
    if system.layers:
        return f"{system.title} by {system.aligner}"
    return f"{system.aligner} ({system.title})" if system.learnt else system.aligner
