from dataclasses import replace

import pytest

from tests.analysis.runs import number
from tests.analysis.toy import joined

SCORE = number("trans.inv", "MLM", 0, "ZS", "pos", "accuracy", 0.5, 100, 9)


def test_scores_are_those_of_the_last_step():
    records = [replace(SCORE, step=step, value=step / 10) for step in (3, 1, 2)]
    assert joined(records).scores("ZS", "MLM", "trans.inv", "pos", "accuracy")[0].value == 0.3
    assert joined(records).last("ZS", "MLM", "trans.inv", "pos", "accuracy")[0].step == 3


def test_columns_and_deltas_by_seed():
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
