"""Findings say what the records say, and no more than seeds allow."""

from __future__ import annotations

from dataclasses import replace

from analysis.papers.align_mlm.findings import align_mlm_findings, hardest
from analysis.records.record import ALIGNMENT, Record
from tests.analysis.runs import number
from tests.analysis.toy import joined

ZS = {"MLM": (0.8, 0.2), "ALIGN-MLM": (0.85, 0.6)}
"""Under Trans and under Trans + Inv, of a SUP of 90."""


def records(*noise: float) -> list[Record]:
    return [
        number(t, o, seed, measure, task, metric, value, 500, 9)
        for seed, more in enumerate(noise)
        for o, scores in ZS.items()
        for t, zs in zip(("trans", "trans.inv"), scores, strict=True)
        for measure, task, metric, value in (
            ("SUP", "pos", "accuracy", 0.9),
            ("ZS", "pos", "accuracy", zs + more * (o == "MLM")),
            (ALIGNMENT, "", "held-out", zs / 2),
            (ALIGNMENT, "", "all", zs / 2),
        )
    ]


def test_one_seed_decides_nothing() -> None:
    transfer, alignment = align_mlm_findings(joined(records(0.0)))
    assert transfer == (
        "Most transfer is lost under Trans + Inv. There ALIGN-MLM loses least on POS (Δ 30.0 points; next MLM, 70.0); "
        "one seed decides no such lead."
    )
    assert alignment == (
        "Under Trans + Inv ALIGN-MLM aligns the most held-out types: 30.0 % (next MLM, 10.0 %), which one seed does "
        "not decide; over all cells, ρ between alignment and −Δ is 1.00 (POS)."
    )


def test_of_one_transform_nothing_is_said_to_be_the_most() -> None:
    one = [record for record in records(0.0) if record.language == "trans"]
    assert next(align_mlm_findings(joined(one))).startswith("Under Trans, ALIGN-MLM loses least on POS (Δ 5.0 points; ")


def test_who_loses_as_little_as_another_does_not_lose_least() -> None:
    tied = [
        replace(record, value=0.6) if (record.measure, record.language) == ("ZS", "trans.inv") else record
        for record in records(0.0)
    ]
    assert "There MLM loses no more than any other on POS (Δ 30.0 points; next ALIGN-MLM, 30.0)" in next(
        align_mlm_findings(joined(tied))
    )


def test_seeds_that_agree_decide_and_seeds_that_do_not_leave_it_open() -> None:
    (steady, _), (noisy, _) = (align_mlm_findings(joined(records(*n))) for n in ((-0.005, 0.005), (-0.2, 0.2)))
    assert steady.endswith("the lead is beyond the noise between seeds on POS.")
    assert noisy.endswith("the lead is within the noise between seeds on POS.")


def test_a_lead_in_alignment_says_whether_seeds_decide_it() -> None:
    def aligned(*shares: float) -> str:
        rows = records(*(0.0 for _ in shares))
        for i, row in enumerate(rows):
            if row.measure == ALIGNMENT and " MLM " in row.run and row.language == "trans.inv":
                rows[i] = replace(row, value=shares[joined(rows).runs[row.run].seed])
        return list(align_mlm_findings(joined(rows)))[1]

    assert "(next MLM, 10.0 %), a lead beyond the noise between seeds; over all" in aligned(0.099, 0.101)
    assert "(next MLM, 20.0 %), a lead within the noise between seeds; over all" in aligned(0.0, 0.4)


def test_worse_transfer_of_what_is_aligned_better_is_a_negative_rho() -> None:
    rows = [replace(r, value=1 - r.value) if r.measure == ALIGNMENT else r for r in records(0.0)]
    assert list(align_mlm_findings(joined(rows)))[1].endswith("ρ between alignment and −Δ is −1.00 (POS).")


def test_the_hardest_transform_is_that_of_the_largest_loss() -> None:
    assert hardest(joined(records(0.0))) == "trans.inv"
    assert hardest(joined([r for r in records(0.0) if r.language == "trans"])) == "trans"
    assert hardest(joined([r for r in records(0.0) if r.measure == ALIGNMENT])) is None


def test_nothing_measured_or_one_objective_says_nothing_of_a_lead() -> None:
    assert list(align_mlm_findings(joined([]))) == []
    assert list(align_mlm_findings(joined([r for r in records(0.0) if " MLM " in r.run]))) == []
