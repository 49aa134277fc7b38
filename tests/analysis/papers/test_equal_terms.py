"""Objectives on equal terms: their table, figure and claims hold what records say."""

import pytest

from calque.analysis.papers.equal_terms import (
    equal_terms_claims,
    objectives_table,
    over_tasks,
)
from calque.analysis.records.record import ALIGNMENT, Floor, Record
from calque.analysis.results.results import Results
from calque.analysis.statistics.verdicts import FAILS, HOLDS, ONE_SEED
from tests.analysis.runs import number, runs
from tests.analysis.toy import joined

GAINS = {"MLM": 0.0, "XLM": -0.1, "ALIGN-MLM": 0.2}


def scores(seeds: int = 3) -> list[Record]:
    """ZS of objectives that gain so much over MLM, on two tasks, and their alignment."""
    made = []
    for seed in range(seeds):
        for place, (objective, gain) in enumerate(GAINS.items()):
            noise = 0.001 * seed * (place + 1)
            for task, metric in (("pos", "accuracy"), ("ner", "f1")):
                for measure, value in (("ZS", 0.5 + gain + noise), ("SUP", 0.9)):
                    made.append(number("trans", objective, seed, measure, task, metric, value, 500))
            made.append(number("trans", objective, seed, ALIGNMENT, "", "held-out", 0.4 - gain + noise, 300, 400))
    return made


def test_the_mean_of_tasks_needs_every_task() -> None:
    records = scores()
    results = joined(records)
    mean = over_tasks(results, "XLM", "trans")
    assert {seed: one.value for seed, one in mean.items()} == {s: pytest.approx(0.4 + 0.002 * s) for s in range(3)}
    gone = [r for r in records if not (r.task == "ner" and r.run == "trans XLM 1")]
    assert over_tasks(joined(gone), "XLM", "trans").keys() == {0, 2}


def test_each_objective_is_held_against_mlm_by_transfer_and_by_alignment() -> None:
    results = joined(scores())
    claims = equal_terms_claims(results)
    found = {(claim.family, claim.text.split()[0]): claim.verdict.verdict for claim in claims}
    assert found["transfer", "ALIGN-MLM"] == HOLDS and found["transfer", "XLM"] == FAILS
    assert found["alignment", "ALIGN-MLM"] == FAILS and found["alignment", "XLM"] == HOLDS
    one = joined(scores(1))
    assert {claim.verdict.verdict for claim in equal_terms_claims(one) if claim.family == "transfer"} == {ONE_SEED}
    without = joined([r for r in scores() if " MLM " not in r.run])
    assert not [c for c in equal_terms_claims(without) if c.family == "transfer"]


def test_a_task_that_shallow_features_learn_in_the_derived_language_is_said_to_be_one() -> None:
    records = scores()

    def note(value: float) -> str:
        shallow = Floor("shallow", "shallow features", "pos", "accuracy", value, 500, "trans", "trans", surface=True)
        return objectives_table(Results(runs(records), records, (), [shallow]), "toy").note

    assert "shallow" not in note(0.89)
    assert "shallow features that learn it there reach 93.0, and SUP of 3 of 3 objectives no more" in note(0.93)
