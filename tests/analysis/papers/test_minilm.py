"""Learning curves: amounts, the line through them, and the published row and marks."""

from collections.abc import Callable, Sequence
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.lines import Line2D

from calque.analysis.papers.minilm import FITTED, ROOM, SOURCE, curve_tables, curves, examples_figure, trend
from calque.analysis.papers.published import published
from calque.analysis.papers.xlm_align.continued import LEARNT, SMALL, Continued
from calque.analysis.papers.xlm_align.continued_tables import task_table, xtreme_table
from calque.analysis.papers.xlm_align.figures import task_figure
from calque.analysis.records.record import Floor, Record
from calque.analysis.records.run import Described, Run
from calque.analysis.report.table import Table
from calque.analysis.results.results import Results
from tests.analysis.drawn import legend, legible

PUBLISHED = [*published("xlm_align"), *published("minilm")]
XNLI = [p.setting for p in published("minilm") if (p.objective, p.task) == (SMALL, "nli")]
XNLI = [name for name in XNLI if name not in ("en", "mean")]


def made(
    amounts: Sequence[int],
    score: Callable[[str, int, int], float],
    others: Sequence[str] = ("fr", "de"),
    floors: Sequence[Floor] = (),
) -> Continued:
    """A start that was fine-tuned on NLI with two seeds and some amounts: `score` by language, amount and seed."""
    start = Described("start", "the start")
    known = tuple(Described(name, name) for name in ("en", *others))
    runs = [Run(f"start/seed-{seed}", "made", seed, known, start, layers=3, main_layer=2) for seed in (0, 1)]
    records = [
        Record(
            run.id,
            "SRC" if language == "en" else "ZS",
            "accuracy",
            score(language, amount, run.seed),
            100,
            language,
            task="nli",
            examples=amount,
        )
        for run in runs
        for amount in amounts
        for language in ("en", *others)
    ]
    return Continued(Results(runs, records, PUBLISHED, floors))


def curve_of(study: Continued) -> Table:
    """The table of NLI."""
    return dict(curve_tables(study, "toy"))["curve-nli"]


def rising(language: str, amount: int, seed: int) -> float:
    return 0.3 + 0.02 * log2(amount) + 0.05 * (language == "en") + 0.01 * seed


def half_of(one: float, two: float) -> float:
    """Half the 95 % interval over two seeds: Student's t with one degree of freedom, as tables print it."""
    return 12.7062047 * abs(one - two) / 2


def test_the_largest_amount_is_what_other_tables_show() -> None:
    study = made((10, 20, 40), rising)
    assert study.amounts("nli") == [10, 20, 40] and curves(study) == ["nli"]
    for amount, asked in ((40, 0), (40, 40), (10, 10)):
        by_seed = study.scored("start", "nli", "fr", examples=asked)
        assert {seed: one.value for seed, one in by_seed.items()} == {s: rising("fr", amount, s) for s in (0, 1)}
    assert study.scored("start", "nli", "fr", examples=30) == {}
    table = task_table(study, "nli", "toy")
    assert table.rows[0][3].split()[0] == f"{100 * (rising('en', 40, 0) + 0.005):.1f}"
    plot = task_figure(study, "toy")
    assert plot is not None and {record.examples for record in plot.records} == {40}


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=6, unique=True), st.floats(0, 0.02), st.floats(0.1, 0.4))
def test_the_line_is_found_where_scores_lie_on_one_and_amounts_before_the_last_three_say_nothing(
    amounts: list[int], slope: float, low: float
) -> None:
    amounts = sorted(amounts)

    def score(language: str, amount: int, seed: int) -> float:
        return low + slope * log2(amount) if amount in amounts[-FITTED:] else 0.99

    found = trend(made(amounts, score), "start", "nli")
    assert found is not None
    for amount in (1, LEARNT["nli"]):
        assert found.at(amount).mean == pytest.approx(low + slope * log2(amount), abs=1e-6)


def test_one_amount_is_no_curve() -> None:
    study = made((0,), lambda *_: 0.5)
    assert curves(study) == [] and trend(study, "start", "nli") is None and examples_figure(study, "toy") is None


def test_a_table_has_every_amount_what_the_line_says_and_the_published_row() -> None:
    study = made((750, 1_500, 3_000), rising, XNLI)
    table = curve_of(study)
    assert [row[:3] for row in table.rows] == [
        *(("the start", f"{amount:,}", "ours") for amount in (750, 1_500, 3_000)),
        (SMALL, "392,702", "published"),
    ]
    theirs = dict(zip(table.header, table.rows[-1], strict=True))
    assert (theirs["en"], theirs["sw"], theirs["mean of the others"], theirs["mean of all"]) == (
        "81.5",
        "63.3",
        "70.3",
        "71.1",
    )
    ahead = 100 * (0.305 + 0.05 / 15 + 0.02 * log2(392_702))
    half = 100 * half_of(0.0, 0.01)  # seeds are a hundredth apart, at every amount
    assert "each doubling adds 2.0 points to the mean of all" in table.note
    said = f"at 392,702 examples, the same line is at {ahead:.1f} [{ahead - half:.1f}, {ahead + half:.1f}]"
    assert said in table.note
    assert "7.0 doublings further" in table.note and "bends before" not in table.note


def test_a_line_has_the_interval_of_the_lines_of_its_seeds_and_does_not_hide_that_it_must_bend() -> None:
    """Slopes of 2 and 14 points: what they say of 392,702 examples is next to nothing, and more than all."""

    def score(language: str, amount: int, seed: int) -> float:
        return 0.4 + (0.02 + 0.12 * seed) * log2(amount / 750)

    study = made((750, 1_500, 3_000), score)
    fitted = trend(study, "start", "nli")
    assert fitted is not None
    for examples in (3_000, LEARNT["nli"]):
        expected = [score("en", examples, seed) for seed in (0, 1)]
        assert fitted.at(examples).mean == pytest.approx(sum(expected) / 2)
        assert fitted.at(examples).half == pytest.approx(half_of(*expected))
    assert (fitted.slope.mean, fitted.slope.half) == (pytest.approx(0.08), pytest.approx(half_of(0.02, 0.14)))
    note = curve_of(study).note
    assert "where no score can be, so it bends before" in note
    plot = examples_figure(study, "toy")
    assert plot is not None
    ours, theirs = plot.figure.axes
    (dotted,) = (one for one in ours.lines if one.get_linestyle() == ":")
    assert max(np.asarray(dotted.get_ydata(), float)) == pytest.approx(56)
    assert not [one for one in theirs.lines if one.get_linestyle() == ":" and len(one.get_xdata())], "beyond 100 %"


def test_seeds_that_lack_an_amount_have_no_line() -> None:
    study = made((750, 1_500), rising)
    kept = [record for record in study.results.records if (record.run, record.examples) != ("start/seed-1", 750)]
    part = Continued(Results(list(study.results.runs.values()), kept, PUBLISHED))
    fitted = trend(part, "start", "nli")
    assert fitted is not None and len(fitted.fits) == 1 and fitted.slope.half is None
    assert fitted.at(1).mean == pytest.approx(0.3 + 0.05 / 3)  # seed 0's line; seed 1's is 0.01 higher


def test_the_published_mean_is_that_of_our_languages() -> None:
    few = curve_of(made((750, 1_500), rising))
    theirs = dict(zip(few.header, few.rows[-1], strict=True))
    assert (theirs["mean of the others"], theirs["mean of all"]) == ("73.8", "76.4")  # of fr and de, and en
    unknown = curve_of(made((750, 1_500), rising, ("fr", "xx")))
    assert unknown.rows[-1][-2:] == ("–", "–")


def test_a_curve_that_is_not_above_the_floor_is_not_continued() -> None:
    for floor, drawn in ((0.2, True), (0.55, False)):
        floors = [
            Floor("majority", "majority", "nli", "accuracy", floor, 100, name, "en") for name in ("en", "fr", "de")
        ]
        study = made((750, 1_500, 3_000), rising, floors=floors)
        assert (trend(study, "start", "nli") is not None) == drawn
        plot = examples_figure(study, "toy")
        assert plot is not None and ("dotted line" in plot.caption) == drawn
        assert any(one.get_linestyle() == ":" for one in plot.figure.axes[0].lines) == drawn
        dashes = {one.get_linestyle() for one in legend(plot.figure).values() if isinstance(one, Line2D)}
        assert (":" in dashes) == drawn
        note = curve_of(study).note
        assert ("each doubling adds" in note) == drawn and ("no line: not yet above" in note) != drawn


def test_the_figure_shows_its_records_and_the_published_scores() -> None:
    study = made((750, 1_500, 3_000), rising)
    plot = examples_figure(study, "toy")
    assert plot is not None
    panel, theirs = plot.figure.axes
    legible(plot.figure)
    drawn = next(one for one in panel.lines if one.get_color() == SOURCE[0] and len(one.get_xdata()) == 3)
    assert list(drawn.get_xdata()) == [750, 1_500, 3_000]
    expected = [100 * (rising("en", amount, 0) + 0.005) for amount in (750, 1_500, 3_000)]
    assert np.allclose(np.asarray(drawn.get_ydata(), float), expected)
    marks = [(one.get_xdata()[0], one.get_ydata()[0]) for one in theirs.lines if one.get_marker() == "P"]
    assert marks == [(392_702, pytest.approx(81.5)), (392_702, pytest.approx((81.5 + 74.8 + 72.9) / 3))]
    assert panel.get_position().width > 2 * theirs.get_position().width
    assert panel.get_xlim() == pytest.approx((750 / ROOM, 3_000 * ROOM)), "ours fill their panel"
    assert {record.examples for record in plot.records} == {750, 1_500, 3_000}
    assert {one.paper for one in plot.published} == {"MiniLM"}


def test_an_encoder_of_the_size_of_ours_stands_in_tables_of_tasks_and_of_their_means() -> None:
    study = made((0,), lambda *_: 0.5, XNLI)
    means = {row[0]: row for row in xtreme_table(study, "toy").rows}
    assert means[SMALL][1:] == ("published", "71.1", "–") and "width 384" in xtreme_table(study, "toy").note
    table = task_table(study, "nli", "toy")
    theirs = next(row for row in table.rows if row[0] == SMALL)
    assert theirs[:4] == (SMALL, "accuracy", "published", "81.5") and theirs[-1] == "71.1"
    assert "Table 18" in table.note and "width 384" in table.note
