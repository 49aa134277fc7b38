import pytest

from calque.analysis.papers.growth.curves import NEVER, onset
from calque.analysis.records.record import Null, Record

STEPS = (0, 8, 16, 32, 64, 128)


def curve(*values):
    return {
        step: Record("run", "loss", "nats", value, 10, step=step, null=Null(0.0, -1.0, 1.0, 40))
        for step, value in zip(STEPS, values, strict=False)
    }


@pytest.mark.parametrize(
    ("values", "side", "expected"),
    [
        ((0, 2, 0, 2, 2, 2), 1, 32),  # a single probe may be chance
        ((2, 2, 0, 0), 1, 0),
        ((0, 0, 0, 2), 1, NEVER),  # the last probe cannot be confirmed
        ((0, -2, -2), 1, NEVER),
        ((0, -2, -2), -1, 8),
        ((1, 1, 1), 1, NEVER),
    ],
)
def test_onset_needs_two_probes_in_a_row(values, side, expected):
    assert onset(curve(*values), side) == expected
