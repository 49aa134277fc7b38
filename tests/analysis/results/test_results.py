"""Runs and records joined: numbers, titles, and what does not belong together."""

from dataclasses import replace

import pytest

from calque.analysis.records.record import AER, ALIGNMENT, LABELS, ORDER, Record
from calque.analysis.results.results import Results
from calque.derive.errors import BadInput
from tests.analysis.runs import number, run, runs
from tests.analysis.toy import joined

SCORE = number("trans.inv", "MLM", 0, "ZS", "pos", "accuracy", 0.5, 100, 9)


def test_distances_are_those_of_the_order_not_of_its_alignment() -> None:
    records = [
        number("trans.inv", "MLM", seed, measure, "", metric, value, 10_000)
        for seed in (0, 1)
        for measure, metric, value in ((ORDER, "kendall", 0.9), ("alignment", "all", 0.2))
    ]
    found = joined(records).scores(ORDER, "MLM", "trans.inv", "", "kendall")
    assert {seed: measured.value for seed, measured in found.items()} == {0: 0.9, 1: 0.9}
    assert joined(records).scores(ORDER, "MLM", "trans", "", "kendall") == {}


def test_each_seeds_number_is_that_of_its_last_step() -> None:
    records = [replace(SCORE, step=step, value=step / 10) for step in (3, 1, 2)]
    assert joined(records).scores("ZS", "MLM", "trans.inv", "pos", "accuracy")[0].value == 0.3
    assert joined(records).last("ZS", "MLM", "trans.inv", "pos", "accuracy")[0].step == 3


def test_layers_and_joint_rows_are_numbers_of_their_own() -> None:
    records = [
        replace(number("trans", "MLM", 0, AER, "", "aer", layer / 10 + joint / 100, 9), layer=layer, joint=joint)
        for layer in (2, 10, 0)
        for joint in (False, True)
    ]
    results = joined(records)
    assert results.layers(AER) == [0, 2, 10]
    found = results.scores(AER, "MLM", "trans", "", "aer", layer=10, joint=True)
    assert found[0].value == pytest.approx(1.01)


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


def test_deltas_are_of_seeds_that_have_both() -> None:
    records = [
        number("trans", "MLM", seed, measure, "pos", "accuracy", value, 100)
        for seed, measure, value in ((0, "SUP", 0.75), (0, "ZS", 0.5), (1, "SUP", 0.9), (2, "ZS", 0.1))
    ]
    found = joined(records).deltas("MLM", "trans", "pos", "accuracy")
    assert {seed: delta.value for seed, delta in found.items()} == {0: 0.25}


def test_growth_has_each_seed_at_each_step() -> None:
    records = [
        number("trans", "MLM", seed, ALIGNMENT, "", "all", step / 1000 + seed / 100, 60, step)
        for step in (300, 100)
        for seed in (1, 0)
    ]
    records.append(number("trans", "MLM", 0, LABELS, "", "precision", 0.5, 60, 200))
    results = joined(records)
    curves = results.curves(ALIGNMENT, "MLM", "trans", "", "all")
    found = {seed: {step: record.value for step, record in curve.items()} for seed, curve in curves.items()}
    assert found == {0: {100: 0.1, 300: 0.3}, 1: {100: 0.11, 300: 0.31}}
    assert list(found) == [0, 1] and list(found[0]) == [100, 300]
    assert {seed: one.value for seed, one in results.alignments("MLM", "trans", "all").items()} == {0: 0.3, 1: 0.31}
    assert results.curves(ALIGNMENT, "MLM", "trans.inv", "", "all") == {}


def test_a_point_is_a_cell_with_an_alignment_and_a_delta() -> None:
    def cell(transform: str, objective: str, **values: float) -> list[Record]:
        return [
            number(
                transform,
                objective,
                0,
                measure,
                *(("", "all") if measure == ALIGNMENT else ("pos", "accuracy")),
                value,
                9,
            )
            for measure, value in values.items()
        ]

    results = joined(
        cell("trans", "MLM", SUP=0.75, ZS=0.5, alignment=0.3)
        + cell("trans", "ALIGN-MLM", SUP=0.75, ZS=0.5)
        + cell("trans.inv", "MLM", alignment=0.1)
    )
    (point,) = results.points("pos", "accuracy")
    assert (point.objective, point.transform, point.alignment.mean, point.delta.mean) == ("MLM", "trans", 0.3, 0.25)


def test_columns_are_each_number_by_seed_with_deltas_of_the_same_seeds() -> None:
    scores = [("SUP", 0, 0.9), ("SUP", 1, 0.8), ("ZS", 1, 0.5), ("ZS", 2, 0.4)]
    records = [number("trans", "MLM", seed, measure, "pos", "accuracy", v, 100, 3) for measure, seed, v in scores]
    records.append(number("trans", "MLM", 1, "DELTA", "pos", "accuracy", 0.123, 100, 3))
    records.append(replace(records[0], step=1, value=0.1))
    results = joined(records)
    found = {record.measure: {seed: one.value for seed, one in values.items()} for record, values in results.columns()}
    assert found == {"SUP": {0: 0.9, 1: 0.8}, "ZS": {1: 0.5, 2: 0.4}, "DELTA": {1: pytest.approx(0.3)}}
    assert results.deltas("MLM", "trans", "pos", "accuracy")[1].value == found["DELTA"][1]
