"""Runs and records joined: numbers, titles, and what does not belong together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.records.record import AER, ORDER, Published, Record
from analysis.results.results import Results
from derive.errors import BadInput
from tests.analysis.runs import number, run, runs
from tests.analysis.toy import joined

SCORE = number("trans.inv", "MLM", 0, "ZS", "pos", "accuracy", 0.5, 100, 9)


def test_distances_are_those_of_the_order_not_of_its_alignment() -> None:
    records = [
        number("trans.inv", "MLM", seed, measure, "", metric, value, 10_000)
        for seed in (0, 1)
        for measure, metric, value in ((ORDER, "kendall", 0.9), ("alignment", "all", 0.2))
    ]
    found = joined(records).distances("MLM", "trans.inv")
    assert {seed: measured.value for seed, measured in found.items()} == {0: 0.9, 1: 0.9}
    assert joined(records).distances("MLM", "trans") == {}


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


def test_titles_are_what_the_objects_say_of_themselves() -> None:
    objective = "XLM-ALIGN-gold-after-ALIGN-MLM-for-25"
    records = [number("trans-12.5.inv-25", objective, 0, "ZS", "pos", "accuracy", 0.5, 9)]
    theirs = [Published("P", 3, "MLM", "trans.syn-fr", "ZS", "pos", "accuracy", 0.5, title="Trans + Syn (fr)")]
    results = joined(records, theirs)
    assert results.transform_title("trans-12.5.inv-25") == "Trans 12.5 % shared + Inv 25 %"
    assert results.objective_title(objective) == "XLM-Align, gold labels after ALIGN-MLM (25 % of the steps)"
    assert (results.transform_title("trans.syn-fr"), results.transform_title("swap")) == ("Trans + Syn (fr)", "swap")
    assert results.objective_title("XLM") == "XLM"


def test_a_start_is_known_with_its_fraction() -> None:
    results = joined([number("trans", "MLM-after-ALIGN-MLM-for-25", 0, "ZS", "pos", "accuracy", 0.5, 9), SCORE])
    start = results.start("MLM-after-ALIGN-MLM-for-25")
    assert start is not None and (start.objective.name, start.fraction) == ("ALIGN-MLM", 0.25)
    assert results.start("MLM") is None


def test_records_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(BadInput, match=r"two records of one number, from run trans\.inv MLM 0"):
        joined([SCORE, replace(SCORE, value=0.6)])
    twin = replace(run("trans.inv", "MLM", 0), id="twin")
    with pytest.raises(BadInput, match=r"trans\.inv MLM 0 and run twin"):
        Results([*runs([SCORE]), twin], [SCORE, replace(SCORE, run="twin")])
    with pytest.raises(BadInput, match="several studies: other, toy"):
        Results([*runs([SCORE]), replace(twin, study="other")], [SCORE])
    with pytest.raises(BadInput, match="no such run among 0"):
        Results([], [SCORE])
    with pytest.raises(BadInput, match="perm, which is no language of the run"):
        joined([replace(SCORE, language="perm")])


def test_objectives_and_transforms_are_those_with_records_in_the_order_of_the_runs() -> None:
    other = number("trans", "ALIGN-MLM", 0, "ZS", "pos", "accuracy", 0.5, 9)
    results = Results([run("trans", "XLM", 0), *runs([other, SCORE])], [other, SCORE])
    assert (results.objectives, results.transforms) == (["ALIGN-MLM", "MLM"], ["trans", "trans.inv"])
    assert results.run_ids() == ("trans ALIGN-MLM 0", "trans.inv MLM 0")
    assert results.run_ids(["SUP"]) == ()
    assert Results([], []).objectives == []


def test_a_record_needs_no_language() -> None:
    made = run("trans", "MLM", 0)
    assert Results([made], [Record(made.id, AER, "aer", 0.5, 9, gold_set="en-fr")]).transforms == []
