"""Compute retained transfer: the zero-shot score's gain over the floor, as a share of the supervised score's
gain."""

from collections.abc import Iterable
from dataclasses import dataclass

from calque.analysis.records.record import Floor
from calque.analysis.results.measured import BySeed, Measured, mean, over_parts
from calque.analysis.results.results import Results
from calque.analysis.statistics.intervals import Estimate, per_item, ratio_over_items, ratio_over_seeds
from calque.analysis.statistics.verdicts import AT_FLOOR, NO_RECORDS, Verdict, points


@dataclass(frozen=True)
class Retained:
    """Retained transfer, (ZS - floor) / (SUP - floor). `zs`, `sup` and `over_surface` are differences from
    floors. `share` is None if SUP's interval includes the floor, because the ratio could then be any
    number."""

    floor: Floor
    zs: Estimate
    sup: Estimate
    share: Estimate | None
    over_surface: Estimate | None = None

    @property
    def at_floor(self) -> bool:
        return not beyond_floor(self.zs)

    @property
    def remark(self) -> str:
        """A remark that qualifies the share or explains why it is None; "" if none is needed."""
        if self.share is None:
            return "SUP at the floor" if self.sup.mean > 0 else "SUP below the floor"
        if self.zs.mean < 0:
            return "ZS below the floor"
        if self.at_floor:
            return "ZS at the floor"
        beyond = self.over_surface is None or beyond_floor(self.over_surface)
        return "" if beyond else "ZS not beyond overlaps"


def beyond_floor(above: Estimate) -> bool:
    """Whether a difference from a floor, including any interval, is above 0."""
    return above.mean > 0 if above.low is None else above.low > 0


def retained(results: Results, objective: str, transform: str, task: str, metric: str) -> Retained | None:
    """Compute retained transfer with Fieller's interval over the seeds with both scores; None if there are no
    such seeds, or no floor."""
    score = task, metric, transform, results.source
    floor, surface = (results.floors.highest(*score, surface) for surface in (False, True))
    sup, zs = (results.scores(measure, objective, transform, task, metric) for measure in ("SUP", "ZS"))
    seeds = sorted(sup.keys() & zs.keys())
    if floor is None or not seeds:
        return None
    upper, lower = ({seed: scores[seed] - _measured(floor) for seed in seeds} for scores in (zs, sup))
    gained, whole = mean(upper), mean(lower)
    assert gained and whole
    over = mean({seed: zs[seed] - _measured(surface) for seed in seeds}) if surface else None
    return Retained(floor, gained, whole, _ratio(upper, lower) if beyond_floor(whole) else None, over)


def _measured(floor: Floor) -> Measured:
    if floor.items is None:
        return Measured(floor.value, None)
    return over_parts(floor.value, per_item(*floor.items.numbers), (floor.task, floor.language, ""))


def _ratio(upper: BySeed, lower: BySeed) -> Estimate | None:
    if len(upper) == 1:
        ((_, a),), ((_, b),) = upper.items(), lower.items()
        if a.parts is not None and b.parts is not None and (a.test, len(a.parts)) == (b.test, len(b.parts)):
            return ratio_over_items((a.value, b.value), a.parts, b.parts)
    return ratio_over_seeds([m.value for m in upper.values()], [m.value for m in lower.values()])


def unless_at_floor(
    verdict: Verdict, results: Results, cells: Iterable[tuple[str, str]], task: str, metric: str
) -> Verdict:
    """Return the verdict on a claim about Delta, or AT_FLOOR if ZS is at the floor in all `cells` (pairs of
    an objective and a transform)."""
    if verdict.because == NO_RECORDS:
        return verdict
    found = {cell: kept for cell in cells if (kept := retained(results, *cell, task, metric))}
    if not found or not all(kept.at_floor for kept in found.values()):
        return verdict
    (objective, _), best = max(found.items(), key=lambda item: item[1].zs.mean)
    of = f", the largest of {len(found)}" if len(found) > 1 else ""
    floor = f"ZS − {best.floor.title} floor{of}: {objective}, {points(best.zs)}"
    return Verdict(AT_FLOOR, "; ".join(filter(None, (verdict.because, floor))))
