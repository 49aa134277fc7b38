from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from calque.analysis.papers.sweep import (
    SweepResults,
    differences,
    differences_table,
    sweep_question,
    sweep_table,
)
from calque.analysis.records.record import ALIGNMENT
from calque.analysis.results import Results
from calque.analysis.statistics import CONFIDENCE
from tests.analysis.runs import number, runs


def results(zs, values="", sup=0.8):
    """Zero-shot accuracies of each objective by seed in one language; only MLM's models ignore the values."""
    records = []
    for objective, scores in zs.items():
        for seed, score in enumerate(scores):
            records += [
                number("inv", objective, seed, m, "pos", "accuracy", v, 100, 9)
                for m, v in (("SUP", sup), ("ZS", score))
            ]
            records += [
                number("inv", objective, seed, ALIGNMENT, "", "held-out", score * step, 50, step)
                for step in (0, 1)
            ]

    def named(run):
        return f"{run}{'' if ' MLM ' in run else values}@{values}"

    own = [replace(run, id=named(run.id)) for run in runs(records)]
    return Results(own, [replace(record, run=named(record.run)) for record in records])


def rows(sweep):
    table = sweep_table(sweep, "toy scale")
    return [dict(zip(table.header, row, strict=True)) for row in table.rows]


@pytest.fixture
def two():
    variants = {}
    for by, more in (("uniform", 0), ("frequency", 0.003)):
        for place, share in enumerate(("0.01", "0.1", "1")):
            base = 0.4 + 0.1 * place + (0.05 if more else 0)
            scores = [base, base + 0.02, base + 0.01 + 0.002 * place + more]
            scores = {"MLM": [0.3, 0.32, 0.31], "ALIGN-MLM": scores}
            variants[by, share] = results(scores, f"{share},{by}")
    return SweepResults(("dictionary.by", "dictionary.fraction"), variants)


def test_rows_are_means_and_a_baseline_has_one_row(two):
    share, by = "share of types in the dictionary", "choice of the dictionary’s types"
    first, *others = rows(two)
    heads = "objective", share, by, "POS accuracy, ZS"
    assert [first[head] for head in heads] == ["MLM", "any", "any", "31.0 ± 2.5"]
    expected = [("ALIGN-MLM", b, s) for b in ("uniform", "frequency") for s in ("0.01", "0.1", "1")]
    assert [(row["objective"], row[by], row[share]) for row in others] == expected
    assert [row["POS accuracy, ZS"].split()[0] for row in others[:3]] == ["41.0", "51.1", "61.1"]
    assert [row["POS accuracy, Δ"].split()[0] for row in others[:3]] == ["39.0", "28.9", "18.9"]
    assert share in sweep_question(two) and by in sweep_question(two)


@pytest.mark.parametrize(("gain", "expected"), [(0.0, ["XLM"]), (0.01, [])])
def test_retrained_models_with_equal_scores_are_baselines(gain, expected):
    variants = {}
    for place, value in enumerate("12"):
        scores = {"XLM": [0.3 + gain * place, 0.4], "ALIGN-MLM": [0.3 + 0.1 * place, 0.4]}
        variants[(value,)] = results(scores, value)
    assert SweepResults(("a",), variants).baselines == expected


def test_baselines_are_found_without_tasks():
    variants = {}
    for place, value in enumerate("12"):
        found = results({"MLM": [0.3, 0.4], "ALIGN-MLM": [0.3 + 0.1 * place, 0.4]}, value)
        records = [record for record in found.records if not record.task]
        variants[(value,)] = Results(found.runs.values(), records)
    assert SweepResults(("a",), variants).baselines == ["MLM"]


def test_settings_with_the_same_title_are_named_by_their_keys(two):
    keys = ("train.warmup", "head.warmup")
    table = differences_table(replace(two, keys=keys))
    assert table and {row[2].split(" ")[0] for row in table.rows} == {*keys, "minus"}
    assert "train.warmup frequency minus uniform" in {row[2] for row in table.rows}


def test_differences_are_paired_by_seed_and_corrected(two):
    found = differences(two)["POS accuracy, ZS"]
    assert len(found) == 3 * 1 + 2 * 3 + 6, "choices at each share, shares at each choice, and all minus MLM"
    column = two.by_seed["POS accuracy, ZS"]
    ps = []
    for pair, (estimate, corrected) in found.items():
        ours, theirs = ([column[row][seed].value for seed in range(3)] for row in pair[1:])
        gap = np.subtract(ours, theirs)
        assert estimate.mean == pytest.approx(gap.mean())
        if gap.std() > 1e-9:
            ps.append((estimate, corrected, stats.ttest_rel(ours, theirs).pvalue))
    ps.sort(key=lambda triple: triple[2])
    worst = 0.0
    for rank, (estimate, corrected, p) in enumerate(ps):
        worst = max(worst, min(1, (len(ps) - rank) * p))
        assert corrected == pytest.approx(worst)
        low, high = estimate.interval or (0, 0)
        assert (low > 0 or high < 0) == (corrected < 1 - CONFIDENCE)
    table = differences_table(two)
    assert table and len(table.rows) == len(found) and "Holm" in table.note


def test_null_sweeps_differ_in_five_percent():
    random, rejected, sweeps = np.random.default_rng(3), 0, 300
    for _ in range(sweeps):
        table = random.normal(0.5, 0.05, (4, 1)) + random.normal(0, 0.02, (4, 3))
        scores = random.permuted(table, axis=1).T
        variants = {(str(k),): results({"ALIGN-MLM": list(of)}, str(k)) for k, of in enumerate(scores)}
        found = differences(SweepResults(("steps",), variants))["POS accuracy, ZS"]
        rejected += any(p is not None and p < 1 - CONFIDENCE for _, p in found.values())
    assert stats.binomtest(rejected, sweeps, 0.05, "greater").pvalue > 0.01 and rejected > 0
