"""Rankings: the first, the next, and whether seeds tell them apart."""

from __future__ import annotations

import pytest

from analysis.papers.align_mlm.findings import Ranking, ranked
from analysis.records.record import ALIGNMENT
from tests.analysis.runs import number
from tests.analysis.toy import joined


def ranking(side: int, **shares: list[float]) -> Ranking | None:
    results = joined(
        [
            number("trans", name.replace("_", "-"), seed, ALIGNMENT, "", "all", share, 1000, 9)
            for name, by_seed in shares.items()
            for seed, share in enumerate(by_seed)
        ]
    )
    return ranked({name: results.alignments(name, "trans", "all") for name in results.objectives}, side)


def test_the_largest_or_the_smallest_comes_first() -> None:
    found = ranking(+1, MLM=[0.1, 0.2], XLM=[0.5, 0.6], DICT_MLM=[0.3, 0.4])
    assert found and (found.best, found.next) == ("XLM", "DICT-MLM")
    assert (found.value, found.next_value) == (pytest.approx(0.55), pytest.approx(0.35))
    found = ranking(-1, MLM=[0.1, 0.2], XLM=[0.5, 0.6], DICT_MLM=[0.3, 0.4])
    assert found and (found.best, found.next) == ("MLM", "DICT-MLM")


def test_seeds_decide_by_their_paired_interval() -> None:
    steady = ranking(+1, MLM=[0.1, 0.5, 0.9], XLM=[0.05, 0.44, 0.85])  # each seed by 5 or 6 points
    noisy = ranking(+1, MLM=[0.1, 0.5, 0.9], XLM=[0.5, 0.1, 0.8])
    one = ranking(+1, MLM=[0.9], XLM=[0.1])
    assert steady and noisy and one
    assert (steady.leads, noisy.leads, one.leads) == (True, False, False)
    down = ranking(-1, MLM=[0.1, 0.5, 0.9], XLM=[0.05, 0.44, 0.85])
    assert down and down.leads and down.best == "XLM"


def test_a_leader_is_beyond_every_other_and_not_tied() -> None:
    wide = ranking(+1, MLM=[0.50, 0.51, 0.52], XLM=[0.40, 0.411, 0.42], DICT_MLM=[0.9, 0.1, 0.1])
    assert wide and (wide.best, wide.next, wide.leads) == ("MLM", "XLM", False)
    tied = ranking(+1, MLM=[0.0090, 0.0091, 0.0092], XLM=[0.00895, 0.00903, 0.00914])  # 0.9 % and 0.9 %
    assert tied and not tied.leads


def test_one_objective_has_no_rank() -> None:
    assert ranking(+1, MLM=[0.1]) is None
