"""Records of facts: MLM knows some under Trans and carries less than half of them; LINK is a little better."""

from calque.analysis.records.record import BOTH, CARRIED, KNOWN, Record
from tests.analysis.runs import number

VALUES = {
    (KNOWN, "all"): 0.9,
    (BOTH, "all"): 0.8,
    (CARRIED, "all"): 0.4,
    (CARRIED, "seen"): 0.6,
    (CARRIED, "held-out"): 0.3,
    (CARRIED, "chance"): 0.125,
    (CARRIED, "null"): 0.13,
    (CARRIED, "null-95"): 0.2,
    (CARRIED, "seen-null-95"): 0.5,
    (CARRIED, "held-out-null-95"): 0.25,
}


def told(seeds: int) -> list[Record]:
    """Each number for both objectives, a point more with each seed."""
    return [
        number("trans", objective, seed, measure, "", metric, min(1.0, value + better + 0.01 * seed), 128, 400)
        for seed in range(seeds)
        for objective, better in (("MLM", 0.0), ("LINK", 0.05))
        for (measure, metric), value in VALUES.items()
    ]
