"""Findings of XLM-Align: labels, alignment, then transfer."""

from analysis.papers.xlm_align.claims import xlm_align_findings
from tests.analysis.aligned import STARTS, aligned_records
from tests.analysis.toy import joined


def test_labels_and_errors_have_both_ends_and_gold_labels_are_none_of_them() -> None:
    labels, errors, transfer = xlm_align_findings(joined(aligned_records(STARTS)))
    assert labels.startswith(
        "Under Trans the precision of self-made labels ends highest with XLM-Align after ALIGN-MLM (6"
    )
    assert "lowest with XLM-Align (3" in labels and "gold" not in labels
    assert "highest with MLM (8" in errors and "lowest with XLM-Align, gold labels (5" in errors
    assert transfer.startswith("Under Trans, XLM-Align, gold labels loses least on NLI (Δ ")


def test_nothing_measured_says_nothing() -> None:
    assert list(xlm_align_findings(joined([]))) == []
