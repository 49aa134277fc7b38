"""XLM-Align's headlines as claims."""

import pytest
from scipy import stats

from calque.analysis.papers.xlm_align.claims import xlm_align_claims
from calque.analysis.records.record import AER, LABELS
from calque.analysis.statistics.verdicts import FAILS, HOLDS, ONE_SEED
from tests.analysis.aligned import ABLATIONS, END, STARTS, aligned_records
from tests.analysis.toy import joined


def verdicts(objectives: tuple[str, ...], seeds: int = 3) -> dict[str, str]:
    results = joined(aligned_records(objectives, seeds=seeds))
    return {claim.text: claim.verdict.verdict for claim in xlm_align_claims(results)}


def test_every_start_is_asked_for_its_labels() -> None:
    found = verdicts(STARTS)
    assert found["Most of the labels of XLM-Align are right in the end, under Trans"] == FAILS  # 2 of 6 by the toy
    assert found["Most of the labels of XLM-Align after ALIGN-MLM are right in the end, under Trans"] == HOLDS
    assert found["XLM-Align after ALIGN-MLM has a lower AER than XLM-Align, under Trans"] == HOLDS
    assert found["More of the labels of XLM-Align after ALIGN-MLM are right than of XLM-Align, under Trans"] == HOLDS
    assert found["XLM-Align, gold labels has a lower AER than XLM-Align after ALIGN-MLM, under Trans"] == HOLDS
    assert found["With DWA the AER is lower than without, under Trans"] == FAILS  # the toy's later objective is better


def test_one_seed_decides_nothing() -> None:
    assert set(verdicts(STARTS, seeds=1).values()) == {ONE_SEED}


def test_parts_are_held_against_what_lacks_them() -> None:
    found = verdicts(tuple(reversed(ABLATIONS)))
    assert found["Filtering helps after ALIGN-MLM on POS, zero-shot, under Trans"] == HOLDS
    assert found["TLM helps after ALIGN-MLM on NLI, zero-shot, under Trans"] == HOLDS
    assert verdicts(ABLATIONS)["DWA helps after ALIGN-MLM on NER, zero-shot, under Trans"] == FAILS


def test_gold_labels_are_held_against_those_of_the_same_start() -> None:
    found = verdicts(("ALIGN-MLM", "XLM-ALIGN-after-ALIGN-MLM", "XLM-ALIGN-gold-after-ALIGN-MLM"))
    assert any("gold labels after ALIGN-MLM has a lower AER than XLM-Align after" in text for text in found)


def test_p_is_that_of_paired_seeds_or_of_a_bound() -> None:
    results = joined(aligned_records(STARTS))
    found = {claim.text: claim for claim in xlm_align_claims(results)}
    after, cold = "XLM-ALIGN-after-ALIGN-MLM", "XLM-ALIGN"

    def values(measure: str, objective: str, task: str, metric: str, layer: int | None = None) -> list[float]:
        return [m.value for m in results.scores(measure, objective, "trans", task, metric, layer=layer).values()]

    labels = {name: values(LABELS, name, "", "precision") for name in (after, cold)}
    rates = {name: values(AER, name, "", "aer", 2) for name in (after, cold)}
    expected = {
        "Most of the labels of XLM-Align after ALIGN-MLM are right in the end, under Trans": stats.ttest_1samp(
            labels[after], 0.5
        ),
        "More of the labels of XLM-Align after ALIGN-MLM are right than of XLM-Align, under Trans": stats.ttest_rel(
            labels[after], labels[cold]
        ),
        "XLM-Align after ALIGN-MLM has a lower AER than XLM-Align, under Trans": stats.ttest_rel(
            rates[after], rates[cold]
        ),
        "DWA helps on NER, zero-shot, under Trans": stats.ttest_rel(
            values("ZS", cold, "ner", "f1"), values("ZS", f"{cold}-no-dwa", "ner", "f1")
        ),
    }
    for text, test in expected.items():
        assert found[text].verdict.p == pytest.approx(test.pvalue), text


def test_nothing_is_held_against_itself() -> None:
    """From the start, from another objective's model with and without that objective, and with gold labels of each."""
    for objectives in (STARTS, ("ALIGN-MLM", *STARTS), (*STARTS, f"XLM-ALIGN-gold{END}"), (f"XLM-ALIGN{END}",)):
        texts = [claim.text for claim in xlm_align_claims(joined(aligned_records(objectives)))]
        assert len(set(texts)) == len(texts)
        lower = [text.partition(",")[0].split(" has a lower AER than ") for text in texts if "lower AER" in text]
        assert not any(len(names) > 1 and names[0] == names[1] for names in lower)
    assert "XLM-Align after ALIGN-MLM has a lower AER than ALIGN-MLM, under Trans" in [
        claim.text for claim in xlm_align_claims(joined(aligned_records(("ALIGN-MLM", *STARTS))))
    ]
