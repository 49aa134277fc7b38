"""Findings of a study of word alignment, in two sentences."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.papers.xlm_align.link_tables import PAPERS_NAMES, without_encoder
from analysis.papers.xlm_align.systems import DIAGONAL, System, Systems, macro
from analysis.report.table import percent
from analysis.report.verdicts import listed


def link_findings(systems: Systems) -> Iterator[str]:
    """The best aligner without an encoder and the best with one, by mean AER over the sets that all of them have."""
    statistical, encoders = without_encoder(systems), systems.encoders(joint=False)
    sets = [name for name in systems.sets if all(name in systems.by_set(system) for system in encoders)]
    learnt = _rates(systems, [system for system in statistical if system.aligner != DIAGONAL], sets)
    read = _rates(systems, encoders, sets)
    over = f"over {listed([PAPERS_NAMES.get(name, name) for name in sets])}"
    if learnt:
        best, rate = min(learnt, key=lambda pair: pair[1])
        name = _called(systems, best)
        yield f"Of aligners without an encoder, {name} has the lowest mean AER {over}: {percent(rate)} %."
    if read:
        best, rate = min(read, key=lambda pair: pair[1])
        floor = _rates(systems, [system for system in statistical if system.aligner == DIAGONAL], sets)
        beside = f"; linking each word to the one in the same place has {percent(floor[0][1])} %" if floor else ""
        yield f"Of encoders, {_called(systems, best)} has the lowest: {percent(rate)} %{beside}."


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
