"""Table 2 of XLM-Align and the tables behind it, with the published numbers beside ours and marked as published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.aligners.methods import RELEASED
from analysis.papers.xlm_align.systems import DIAGONAL, FAST_ALIGN, System, Systems, macro, micro
from analysis.records.link_counts import LinkCounts
from analysis.records.record import Published
from analysis.report.table import MISSING, OURS, PUBLISHED, Table

PAPERS_NAMES = {"de-en": "en-de", "ro-en": "en-ro"}
"""Of gold sets whose source the paper names second."""
CHOSEN_ON = "en-fr"
"""The gold set by which the default of `calque align` was chosen; the others had no say in it."""
HEADLINE = "grow-diag-final-and"
Layers = Mapping[str, Mapping[str, Sequence[float]]]
"""Error rates by encoder, gold set and layer, as fractions."""
RATES = ("mean of the sets’ AER", "AER of all pairs")


def table_2(systems: Systems, published: Sequence[Published], scale: str, about: str) -> Table:
    """AER in percent by aligner and encoder, at the layer chosen beforehand."""
    rows, marked = [], set[int]()
    for system in _shown(systems):
        rows.append((_aligner(system), _learnt(systems, system), OURS, *_rates(systems, system)))
    for aligner, encoder in dict.fromkeys((number.setting, number.objective) for number in published):
        values = {
            number.task: number.value
            for number in published
            if (number.setting, number.objective) == (aligner, encoder)
        }
        names = [*(PAPERS_NAMES.get(name, name) for name in systems.sets), "average"]
        marked.add(len(rows))
        rows.append((aligner, encoder, PUBLISHED, *(_percent(values.get(name)) for name in names), MISSING))
    return Table(
        f"Table 2: alignment error rate, percent, lower is better; {scale}",
        ("aligner", "learnt from, or encoder and layer", "source", *_header(systems)),
        tuple(rows),
        about,
        frozenset(marked),
        systems.runs(systems.main()),
        labels=3,
    )


def ways_table(systems: Systems, scale: str) -> Table:
    """AER of fast_align's directions and symmetrisations, and of encoders with sides apart and joint."""
    rows = tuple(
        (system.aligner, _learnt(systems, system), _way(system), *_rates(systems, system)) for system in systems.main()
    )
    return Table(
        f"Every direction, symmetrisation and way to encode: alignment error rate, percent; {scale}",
        ("aligner", "learnt from, or encoder and layer", "way", *_header(systems)),
        rows,
        "apart: the encoder sees each side alone, as in SimAlign; joint: both sides in one row, as in XLM-Align’s "
        "pretraining and its released aligner, but not in XLM’s and MLM’s pretraining.",
        labels=3,
    )


def layers_table(systems: Systems, aligner: str, published: Layers, scale: str) -> Table:
    """AER of each layer, what Figure 2 draws; `published` are of the released aligner, joint."""
    shown = [system for system in systems.systems(aligner=aligner) if system.layers]
    shown.sort(key=lambda system: (system.layers, system.learnt, system.joint, system.layer or 0))
    rows = [
        (systems.title(system), str(system.layer), _way(system), OURS, *_rates(systems, system)) for system in shown
    ]
    marked = set[int]()
    for encoder, by_set in published.items():
        if not all(name in by_set for name in systems.sets):
            continue
        for layer, rates in enumerate(zip(*(by_set[name] for name in systems.sets), strict=True)):
            marked.add(len(rows))
            mean = _percent(sum(rates) / len(rates))
            rows.append((encoder, str(layer), "joint", PUBLISHED, *map(_percent, rates), mean, MISSING))
    return Table(
        f"Figure 2 in numbers: alignment error rate by layer ({aligner}), percent; {scale}",
        ("encoder", "layer", "way", "source", *_header(systems)),
        tuple(rows),
        "Layer 0 are the embeddings. Published numbers are those of the released aligner, with models of 12 layers and "
        "width 768.",
        frozenset(marked),
        labels=4,
    )


def choices_table(systems: Systems, on: str = CHOSEN_ON) -> Table:
    """AER of every choice of similarity, plan and rule, best first on the set `on`.

    Each at the encoder's main layer, and in brackets at the layer that is the best on that set.
    """
    by_choice: dict[tuple[str, str, bool], list[System]] = {}
    for system in systems.chosen_among():
        by_choice.setdefault((system.learnt, system.aligner, system.joint), []).append(system)

    def chosen(system: System) -> float:
        return systems.by_set(system)[on].aer or 0.0

    rows = []
    for layers in by_choice.values():
        main, best = next(system for system in layers if system.main), min(layers, key=chosen)
        cells = [f"{_aer(systems.by_set(main)[name])} ({_aer(systems.by_set(best)[name])})" for name in systems.sets]
        row = (systems.title(main), main.aligner, _way(main), f"{main.layer} ({best.layer})", *cells)
        rows.append((main.joint, chosen(main), row))
    return Table(
        "Every choice of similarity, plan and rule: alignment error rate, percent",
        ("encoder", "aligner", "way", "layer", *(PAPERS_NAMES.get(name, name) for name in systems.sets)),
        tuple(row for *_, row in sorted(rows)),
        f"At the layer that is two thirds of the way up; in brackets at that with the lowest error on {on}, by "
        "which the default, argmax-centred, was chosen: the other sets had no say in it. argmax, itermax and match "
        "read links from cosines, ot from optimal transport of products; names tell what differs from that.",
        labels=4,
    )


def measures_table(systems: Systems, scale: str) -> Table:
    """Precision, recall and F1 beside AER, for what Table 2 shows."""
    rows = []
    for system in _shown(systems):
        by_set = systems.by_set(system)
        shown = by_set | ({"all pairs": micro(by_set.values())} if len(by_set) > 1 else {})
        for gold, score in shown.items():
            measures = (score.aer, score.precision, score.recall, score.f1)
            cells = (*map(_percent, measures), f"{score.predicted:,}", f"{score.sure:,}")
            rows.append((_aligner(system), _learnt(systems, system), gold, *cells))
    return Table(
        f"Table 2 with precision, recall and F1, percent; {scale}",
        ("aligner", "learnt from, or encoder and layer", "gold set", *"AER precision recall F1 links".split(), "sure"),
        tuple(rows),
        labels=3,
    )


def without_encoder(systems: Systems) -> list[System]:
    """The diagonal, and fast_align's headline."""
    return [*systems.systems(aligner=DIAGONAL), *systems.systems(aligner=FAST_ALIGN, symmetrisation=HEADLINE)]


def _shown(systems: Systems) -> list[System]:
    """What Table 2 shows: encoders with each side alone, and the released aligner's rule as it is released."""
    apart = [system for system in systems.encoders(joint=False) if system.aligner != RELEASED.name]
    released = [system for system in systems.encoders(joint=True) if system.aligner == RELEASED.name]
    return [*without_encoder(systems), *apart, *released]


def _aligner(system: System) -> str:
    return f"{system.aligner}, joint" if system.aligner == RELEASED.name else system.aligner


def _learnt(systems: Systems, system: System) -> str:
    title = systems.title(system) or MISSING
    return f"{title}, {system.layer} of {system.layers}" if system.layers else title


def _way(system: System) -> str:
    """fast_align's direction or symmetrisation, or how an encoder sees a pair; the diagonal has neither."""
    return ("joint" if system.joint else "apart") if system.layers else system.symmetrisation


def _header(systems: Systems) -> tuple[str, ...]:
    return *(PAPERS_NAMES.get(name, name) for name in systems.sets), *RATES


def _rates(systems: Systems, system: System) -> tuple[str, ...]:
    """AER by set, their mean, and that of all pairs together; over fewer sets than there are, with their number."""
    by_set = systems.by_set(system)
    few = f" ({len(by_set)} of {len(systems.sets)})" * (len(by_set) < len(systems.sets))
    together = (macro(by_set.values()), micro(by_set.values()).aer)
    return *(_aer(by_set.get(gold)) for gold in systems.sets), *(_percent(rate) + few for rate in together)


def _aer(score: LinkCounts | None) -> str:
    return _percent(score.aer if score else None)


def _percent(fraction: float | None) -> str:
    return MISSING if fraction is None else f"{100 * fraction:.2f}"
