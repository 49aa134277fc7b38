from dataclasses import replace

import pytest

from calque.analysis.results.results import Results
from calque.derive.errors import BadInput
from tests.analysis.runs import number, run, runs
from tests.analysis.toy import joined

SCORE = number("trans.inv", "MLM", 0, "ZS", "pos", "accuracy", 0.5, 100, 9)


def test_each_seeds_number_is_that_of_its_last_step() -> None:
    records = [replace(SCORE, step=step, value=step / 10) for step in (3, 1, 2)]
    assert joined(records).scores("ZS", "MLM", "trans.inv", "pos", "accuracy")[0].value == 0.3
    assert joined(records).last("ZS", "MLM", "trans.inv", "pos", "accuracy")[0].step == 3


def test_records_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(BadInput, match=r"two records of one number, from run trans\.inv MLM 0"):
        joined([SCORE, replace(SCORE, value=0.6)])
    twin = replace(run("trans.inv", "MLM", 0), id="twin")
    with pytest.raises(BadInput, match=r"trans\.inv MLM 0 and run twin"):
        Results([*runs([SCORE]), twin], [SCORE, replace(SCORE, run="twin")])
    with pytest.raises(BadInput, match="several studies: other, toy"):
        Results([*runs([SCORE]), replace(twin, study="other")], [SCORE])
    with pytest.raises(BadInput, match="not among the 0 runs"):
        Results([], [SCORE])
    with pytest.raises(BadInput, match="perm, which is not a language of the run"):
        joined([replace(SCORE, language="perm")])


def test_columns_are_each_number_by_seed_with_deltas_of_the_same_seeds() -> None:
    scores = [("SUP", 0, 0.9), ("SUP", 1, 0.8), ("ZS", 1, 0.5), ("ZS", 2, 0.4)]
    records = [
        number("trans", "MLM", seed, measure, "pos", "accuracy", v, 100, 3) for measure, seed, v in scores
    ]
    records.append(number("trans", "MLM", 1, "DELTA", "pos", "accuracy", 0.123, 100, 3))
    records.append(replace(records[0], step=1, value=0.1))
    results = joined(records)
    found = {
        record.measure: {seed: one.value for seed, one in values.items()}
        for record, values in results.columns()
    }
    assert found == {"SUP": {0: 0.9, 1: 0.8}, "ZS": {1: 0.5, 2: 0.4}, "DELTA": {1: pytest.approx(0.3)}}
    assert results.deltas("MLM", "trans", "pos", "accuracy")[1].value == found["DELTA"][1]
