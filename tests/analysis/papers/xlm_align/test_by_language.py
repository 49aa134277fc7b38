"""A task by language beside what WEAM and PPA print of it."""

from statistics import fmean

import pytest

from analysis.papers.xlm_align.continued_tables import by_language
from tests.analysis.papers.xlm_align.test_task_tables import made, score

XNLI = ["fr", "es", "de", "bg", "ar", "zh", "hi", "sw"]


@pytest.mark.parametrize(
    ("paper", "task", "languages", "rows"),
    [
        ("WEAM", "mlqa", ["en", "es", "de", "zh"], 5 + 5),
        ("WEAM", "nli", ["en", "es", "de", "zh"], 5),
        ("PPA", "mlqa", ["en", "de", "es", "hi", "zh"], 13),
        ("PPA", "nli", ["en", "fr", "es", "de", "bg", "ar", "zh", "hi"], 15 + 15),
    ],
)
def test_ours_stands_beside_the_papers_in_its_languages(paper: str, task: str, languages: list[str], rows: int) -> None:
    """Table 5 repeats six rows of Table 2, which stand once."""
    tested = XNLI if task == "nli" else ["de", "es", "hi", "vi", "zh"]
    table = by_language(made({task: tested}, paper=paper.lower()), task, paper, "toy")
    assert set(table.header[4:-2]) == {*languages} and table.header[4] == "en"
    assert len(table.published) == rows and len({*table.rows}) == len(table.rows)
    metrics = ["f1", "exact"] if task == "mlqa" and paper == "WEAM" else ["accuracy" if task == "nli" else "f1"]
    ours = table.rows[: len(table.rows) - rows]
    for metric, row in zip(metrics, ours, strict=True):
        others = table.header[5:-2]
        mean = fmean(score(task, metric, language, seed) for language in others for seed in (0, 1))
        assert row[-2].split()[0] == f"{100 * mean:.1f}"


@pytest.mark.parametrize(
    ("task", "tested", "name", "printed"),
    [
        ("mlqa", ["es", "de", "zh"], ("WEAM", "zero-shot", "F1"), ["79.7", "67.8", "64.3", "63.7", "65.3", "68.9"]),
        ("nli", ["es", "zh"], ("Word-aligned", "zero-shot", "accuracy"), ["80.1", "75.5"]),
    ],
)
def test_numbers_are_as_printed_and_means_over_the_languages_of_the_table(
    task: str, tested: list[str], name: tuple[str, ...], printed: list[str]
) -> None:
    table = by_language(made({task: tested}, paper="weam"), task, "WEAM", "toy")
    (row,) = (row for row in table.rows if row[:3] == name)
    assert list(row[4 : 4 + len(printed)]) == printed
    if task == "nli":
        assert row[-2:] == ("–", "–")  # no Chinese in that row


def test_a_task_that_a_paper_does_not_have_is_in_all_its_languages() -> None:
    table = by_language(made({"paraphrase": ["de", "zh"]}, paper="ppa"), "paraphrase", "PPA", "toy")
    assert table.header[4:] == ("en", "de", "zh", "mean of the others", "mean of all")
    assert not table.published and "Published" not in table.note and len(table.rows) == 1
