"""WEAM's and PPA's tables, and XLM-Align's of XTREME: their numbers and their averages."""

import pytest

from calque.analysis.papers.published import notes, published
from calque.analysis.records.record import Published

Row = dict[str, float]


def by_language(paper: str, table: int, metric: str) -> dict[tuple[str, str], Row]:
    """Model and what is not zero-shot of it, to language to number, in percent."""
    found: dict[tuple[str, str], Row] = {}
    for p in published(paper, table):
        if p.metric == metric:
            found.setdefault((p.objective, p.setting), {})[p.language] = round(100 * p.value, 1)
    return found


def odd_means(rows: dict[tuple[str, str], Row], mean: str, leaving_out: tuple[str, ...] = ()) -> dict[str, float]:
    """The means that are not those of their languages, up to the rounding of both, and what those languages have."""
    odd = {}
    for (model, what), row in rows.items():
        values = [v for language, v in row.items() if "mean" not in language and language not in leaving_out]
        if mean in row and abs(sum(values) / len(values) - row[mean]) > 0.1 + 1e-9:
            odd[f"{model}, {what}"] = round(sum(values) / len(values), 1)
    return odd


@pytest.mark.parametrize(("table", "metric"), [(1, "f1"), (1, "exact"), (2, "accuracy")])
def test_weams_means_are_those_of_its_languages_but_for_what_a_note_says(table: int, metric: str) -> None:
    rows = by_language("weam", table, metric)
    assert len(rows) == 5
    assert odd_means(rows, "mean") == ({"WEAM, ": 51.9} if metric == "exact" else {})
    others = odd_means(rows, "mean of the others", ("en",))
    if table == 2:
        assert others == {}
        return
    assert len(others) == 5
    assert all(str(value) in notes("weam")[1] for value in (51.9, *others.values()))
    for row in rows.values():  # the mean of all was taken for a language more
        odd = (row["es"] + row["de"] + row["zh"] + row["mean"]) / 4
        assert abs(odd - row["mean of the others"]) <= 0.05 + 1e-9


@pytest.mark.parametrize(("table", "metric", "size"), [(2, "accuracy", 15), (4, "f1", 13), (5, "accuracy", 21)])
def test_ppas_means_are_those_of_its_languages(table: int, metric: str, size: int) -> None:
    rows = by_language("ppa", table, metric)
    assert len(rows) == size
    assert odd_means(rows, "mean") == {}


@pytest.mark.parametrize(
    ("paper", "table", "name", "language", "metric", "value"),
    [
        ("weam", 1, ("WEAM", ""), "de", "f1", 64.3),
        ("weam", 1, ("WEAM", ""), "de", "exact", 49.7),
        ("weam", 1, ("mBERT", "translate-train"), "zh", "exact", 42.8),
        ("weam", 2, ("Word-aligned", ""), "es", "accuracy", 75.5),
        ("ppa", 2, ("PPA", "2M"), "mean", "accuracy", 74.3),
        ("ppa", 2, ("PPA", "translate-train, 250k"), "hi", "accuracy", 69.6),
        ("ppa", 4, ("XLM-R", ""), "hi", "f1", 59.4),
        ("ppa", 5, ("PPA", "translate-train, 600k, without code-switching"), "bg", "accuracy", 77.0),
    ],
)
def test_numbers_as_printed(
    paper: str, table: int, name: tuple[str, str], language: str, metric: str, value: float
) -> None:
    assert by_language(paper, table, metric)[name][language] == value


def one(task: str, metric: str) -> dict[str, float]:
    """A column of Table 1, by model."""
    rows: list[Published] = [p for p in published("xlm_align", 1) if (p.task, p.metric) == (task, metric)]
    return {p.objective: round(100 * p.value, 1) for p in rows}


@pytest.mark.parametrize("model", ["mBERT", "XLM", "XLM-R", "XLM-Align"])
def test_the_average_of_xtreme_is_that_of_seven_tasks_with_questions_by_both_metrics(model: str) -> None:
    plain = [one(task, metric)[model] for task, metric in (("pos", "f1_bare_tags"), ("ner", "f1"), ("nli", "accuracy"))]
    plain.append(one("paraphrase", "accuracy")[model])
    both = [(one(task, "f1")[model] + one(task, "exact")[model]) / 2 for task in ("xquad", "mlqa", "tydiqa")]
    assert abs(sum(plain + both) / 7 - one("average", "mean")[model]) <= 0.05 + 1e-9
    if model == "XLM-Align":
        assert round(sum(plain + both) / 7 + 1e-9, 1) == one("average", "mean")[model] == 68.9


@pytest.mark.parametrize(
    ("table", "task", "metric", "languages"),
    [
        (13, "pos", "f1_bare_tags", 33),
        (14, "ner", "f1", 40),
        (15, "xquad", "f1", 11),
        (15, "xquad", "exact", 11),
        (16, "mlqa", "f1", 7),
        (16, "mlqa", "exact", 7),
        (17, "tydiqa", "f1", 9),
        (17, "tydiqa", "exact", 9),
        (18, "nli", "accuracy", 15),
        (19, "paraphrase", "accuracy", 7),
    ],
)
def test_tables_by_language_have_the_means_of_table_1(table: int, task: str, metric: str, languages: int) -> None:
    values = [100 * p.value for p in published("xlm_align", table) if (p.task, p.metric) == (task, metric)]
    assert len(values) == languages
    assert abs(sum(values) / languages - one(task, metric)["XLM-Align"]) <= 0.1 + 1e-9
