"""Findings of a study of word alignment, in two sentences."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.papers.xlm_align.link_tables import PAPERS_NAMES, without_encoder
from analysis.papers.xlm_align.systems import DIAGONAL, System, Systems, macro
from analysis.report.table import percent
from analysis.report.verdicts import listed
from analysis.results.measured import Measured
from analysis.results.together import gap


def link_findings(systems: Systems) -> Iterator[str]:
    """The best aligner without an encoder and the best with one, by mean AER over the sets that all of them have."""
    statistical, encoders = without_encoder(systems), systems.encoders(joint=False)
    sets = [name for name in systems.sets if all(name in systems.by_set(system) for system in encoders)]
    learnt = _rates(systems, [system for system in statistical if system.aligner != DIAGONAL], sets)
    read = _rates(systems, encoders, sets)
    over = f"over {listed([PAPERS_NAMES.get(name, name) for name in sets])}"
    if learnt:
        yield f"Mean AER {over}: {_lead(systems, learnt, sets)} of aligners without an encoder."
    if read:
        floor = _rates(systems, [system for system in statistical if system.aligner == DIAGONAL], sets)
        beside = f"; linking each word to the one in the same place has {percent(floor[0][1])} %" if floor else ""
        yield f"Mean AER {over}: {_lead(systems, read, sets)} of encoders{beside}."


def _lead(systems: Systems, rates: list[tuple[System, float]], sets: list[str]) -> str:
    """The system with the lowest rate, if it is below every other by more than the draw of sentences explains."""
    (best, rate), *others = sorted(rates, key=lambda pair: pair[1])
    first = f"{_called(systems, best)} {percent(rate)} %"
    if not others:
        return f"{first}, the only one"
    if all(_below(systems, best, other, sets) for other, _ in others):
        return f"{first}, the lowest"
    following, next_rate = others[0]
    return f"{first} and {_called(systems, following)} {percent(next_rate)} %, no lead beyond the draw of sentences,"


def _below(systems: Systems, ours: System, theirs: System, sets: list[str]) -> bool:
    found = [{record.gold_set: Measured.of(record) for record in systems.records([one])} for one in (ours, theirs)]
    difference = gap(*([{0: by_set[name]} for name in sets] for by_set in found))
    return difference is not None and difference.high is not None and difference.high < 0


def _rates(systems: Systems, some: list[System], sets: list[str]) -> list[tuple[System, float]]:
    """The mean AER of each system that has all the sets."""
    rates = []
    for system in some:
        by_set = systems.by_set(system)
        if sets and all(name in by_set for name in sets) and (rate := macro(by_set[name] for name in sets)) is not None:
            rates.append((system, rate))
    return rates


def _called(systems: Systems, system: System) -> str:
    if system.layers:
        return f"{systems.title(system)} by {system.aligner}"
    return f"{system.aligner} ({systems.title(system)})" if system.learnt else system.aligner
