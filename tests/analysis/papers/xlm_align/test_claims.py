"""XLM-Align's headlines as claims."""

from dataclasses import replace

import pytest
from scipy import stats

from calque.analysis.papers.texts import CLAIMS
from calque.analysis.papers.xlm_align.ablations import starts_table, xlm_align_tables
from calque.analysis.papers.xlm_align.claims import xlm_align_claims, xlm_align_findings
from calque.analysis.records.record import AER, ALIGNMENT, LABELS
from calque.analysis.statistics.verdicts import FAILS, HOLDS, ONE_SEED, UNDECIDED
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


def test_layers_stand_in_their_order() -> None:
    rows = [r for r in aligned_records(STARTS) if r.layer == 1 and not r.joint]
    deep = [replace(r, layer=layer, joint=joint) for r in rows for layer in (10, 2) for joint in (True, False)]
    header = starts_table(joined(deep), "toy").header
    assert [name for name in header if name.startswith("AER")] == [
        "AER layer 2",
        "AER layer 10",
        "AER layer 2, joint",
        "AER layer 10, joint",
    ]


def test_without_records_nothing_is_decided() -> None:
    results = joined([record for record in aligned_records(STARTS) if record.measure == ALIGNMENT])
    assert {claim.verdict.verdict for claim in xlm_align_claims(results)} == {UNDECIDED}
    assert xlm_align_claims(joined([])) == []


def test_the_table_of_starts_has_every_measure() -> None:
    results = joined(aligned_records(STARTS, ("trans", "trans.inv")))
    table = starts_table(results, "toy")
    assert len(table.rows) == 2 * len(STARTS)
    assert table.header[: table.labels] == ("objective", "transform")
    assert table.header[2:8] == (
        "labels right",
        "words labelled",
        "alignment@1 all",
        "alignment@1 held-out",
        "AER layer 0",
        "AER layer 1",
    )
    rows = {row[:2]: row for row in table.rows}
    assert rows["MLM", "Trans"][2] == "–" and rows["XLM-Align, gold labels", "Trans + Inv"][2].startswith("100.0")
    assert next(name for name, _ in xlm_align_tables(joined(aligned_records(ABLATIONS)), "toy")) == "starts"


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


def test_claims_say_where_the_paper_has_them() -> None:
    where = {claim.text: claim.where for claim in xlm_align_claims(joined(aligned_records((*ABLATIONS, *STARTS[1:3]))))}
    assert where["Filtering helps after ALIGN-MLM on POS, zero-shot, under Trans"] == "Table 6"
    assert where["DWA helps on POS, zero-shot, under Trans"] == "Table 3"
    assert where["TLM helps after ALIGN-MLM on POS, zero-shot, under Trans"] == "Table 3"
    assert (
        where["Most of the labels of XLM-Align are right in the end, under Trans"]
        == CLAIMS["labels-right-from-scratch"]["where"]
    )
    assert (
        where["Most of the labels of XLM-Align after ALIGN-MLM are right in the end, under Trans"]
        == CLAIMS["labels-right"]["where"]
    )


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


def test_labels_and_errors_have_both_ends_and_gold_labels_are_none_of_them() -> None:
    labels, errors, transfer = xlm_align_findings(joined(aligned_records(STARTS)))
    assert labels.startswith(
        "Under Trans the precision of self-made labels ends highest with XLM-Align after ALIGN-MLM (6"
    )
    assert "lowest with XLM-Align (3" in labels and "gold" not in labels
    assert "highest with MLM (8" in errors and "lowest with XLM-Align, gold labels (5" in errors
    assert transfer.startswith("Under Trans, XLM-Align, gold labels has the smallest Δ on NLI accuracy (Δ ")


def test_nothing_measured_says_nothing() -> None:
    assert list(xlm_align_findings(joined([]))) == []
