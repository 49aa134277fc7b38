"""Rankings, and the findings of a study."""

from dataclasses import replace

import pytest

from analysis.papers.align_mlm.claims import Ranking, align_mlm_findings, hardest, ranked
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


def leaders(*noise: float, metric: str = "transfer") -> str:
    """The finding about transfer or alignment with seeds that differ by so much."""
    return dict(zip(("transfer", "alignment"), align_mlm_findings(joined(records(*noise))), strict=True))[metric]


def test_one_seed_names_no_leader() -> None:
    transfer, alignment = leaders(0.0), leaders(0.0, metric="alignment")
    assert "no objective leads on POS (Δ 30.0 with ALIGN-MLM, 70.0 with MLM)" in transfer and "one seed" in transfer
    assert "no objective leads" in alignment and "(ALIGN-MLM 30.0 %, MLM 10.0 %)" in alignment
    assert alignment.endswith("ρ between alignment and −Δ is 1.00 (POS).")


def test_the_hardest_transform_is_named_where_there_are_several() -> None:
    one = [record for record in records(0.0) if record.language == "trans"]
    assert next(align_mlm_findings(joined(one))).startswith("Under Trans, no objective leads")
    assert "largest under Trans + Inv" in leaders(0.0)


def test_a_tie_has_no_leader() -> None:
    tied = [
        replace(record, value=0.6) if (record.measure, record.language) == ("ZS", "trans.inv") else record
        for record in records(-0.001, 0.001)
    ]
    said = next(align_mlm_findings(joined(tied)))
    assert "least" not in said and "no objective leads on POS (Δ 30.0 with MLM, 30.0 with ALIGN-MLM)" in said


def test_seeds_that_agree_decide_and_seeds_that_do_not_leave_it_open() -> None:
    assert "ALIGN-MLM loses least on POS (Δ 30.0 points; next MLM, 70.0), beyond" in leaders(-0.005, 0.005)
    assert "no objective leads on POS" in leaders(-0.2, 0.2)


def test_a_leader_in_alignment_is_named_if_seeds_decide_it() -> None:
    def aligned(*shares: float) -> str:
        rows = records(*(0.0 for _ in shares))
        for i, row in enumerate(rows):
            if row.measure == ALIGNMENT and " MLM " in row.run and row.language == "trans.inv":
                rows[i] = replace(row, value=shares[joined(rows).runs[row.run].seed])
        return list(align_mlm_findings(joined(rows)))[1]

    assert "ALIGN-MLM aligns the most held-out types: 30.0 % (next MLM, 10.0 %), beyond" in aligned(0.099, 0.101)
    assert "the most" not in aligned(0.0, 0.4) and "(ALIGN-MLM 30.0 %, MLM 20.0 %)" in aligned(0.0, 0.4)


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
