"""The lesson: its study measures trained models, its notebook runs, and its checks tell right answers from wrong."""

import re
import shutil
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stdout
from importlib.util import find_spec
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calque.derive.errors import BadInput
from calque.derive.order import Invert, Permute
from calque.derive.pocket.language import Pocket
from calque.derive.sentence import Sentence
from calque.derive.transform import Transform
from calque.experiments.lessons import FILES, HERE, checks, copy
from calque.experiments.lessons.__main__ import main
from calque.experiments.lessons.notebook import cells, ipynb
from calque.experiments.names import study

SOURCE = (HERE / "lesson.py").read_text(encoding="utf-8")
SMALL = ("source.pos.train=100", "source.pos.dev=20", "source.pos.test=50", "tasks.pos.finetune.epochs=1")
EXERCISE = re.compile(r"# Exercise (\d)")


def solutions() -> dict[str, str]:
    """The cells of the solutions, by the number of the exercise."""
    blocks = re.findall(r"```python\n(.*?)```", (HERE / "solutions.md").read_text(encoding="utf-8"), re.S)
    return {EXERCISE.match(block)[1]: block for block in blocks}  # type: ignore[index]


def test_the_models_of_the_study_are_shipped() -> None:
    lesson = study("lesson")
    runs = [step.config for step in lesson.trained()]
    assert len(runs) == len(lesson.seeds) * len(lesson.objectives) == 8
    assert all(run.shipped for run in runs)


def test_the_files_are_copied_once(tmp_path: Path) -> None:
    to = tmp_path / "class" / "lesson"
    assert [place.name for place in copy(to)] == [*FILES]
    assert all((to / name).read_bytes() == (HERE / name).read_bytes() for name in FILES)
    with pytest.raises(BadInput):
        copy(to)


def test_the_notebook_is_that_of_its_source() -> None:
    assert (HERE / "lesson.ipynb").read_text(encoding="utf-8") == ipynb(SOURCE)


def test_the_notebook_is_as_jupytext_reads_it() -> None:
    jupytext, nbformat = pytest.importorskip("jupytext"), pytest.importorskip("nbformat")
    notebook = nbformat.reads(ipynb(SOURCE), 4)
    nbformat.validate(notebook)
    theirs = jupytext.reads(SOURCE, "py:percent").cells
    assert [(cell.cell_type, cell.source) for cell in theirs] == cells(SOURCE)


def test_the_generated_files_are_those_of_their_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Path(shutil.copytree(HERE, tmp_path / "lessons", ignore=shutil.ignore_patterns("*.ipynb", "*.pdf")))
    monkeypatch.setattr("calque.experiments.lessons.__main__.HERE", made)
    monkeypatch.setattr("sys.argv", ["experiments.lessons"])
    printed = shutil.which("chromium") or shutil.which("google-chrome")
    with nullcontext() if printed else pytest.raises(SystemExit, match="no Chromium"):
        main()
    assert (made / "lesson.ipynb").read_bytes() == (HERE / "lesson.ipynb").read_bytes()
    if not printed:
        pytest.skip("no Chromium is installed, which prints the lab sheet")
    sheets = [(folder / "sheet.pdf").read_bytes() for folder in (made, HERE)]
    assert len({len(re.findall(rb"/Type\s*/Page\b", sheet)) for sheet in sheets} - {0}) == 1


def run(code: Sequence[str], folder: Path) -> list[str]:
    """What each cell prints, in a kernel of Jupyter if nbclient is installed, or else in this process."""
    if not find_spec("nbclient"):
        names: dict[str, Any] = {}
        printed = []
        for text in code:
            with redirect_stdout(StringIO()) as out:
                exec(text, names)
            printed.append(out.getvalue())
        return printed
    from nbclient import NotebookClient
    from nbformat import v4

    notebook = v4.new_notebook(cells=list(map(v4.new_code_cell, code)))
    NotebookClient(notebook, resources={"metadata": {"path": str(folder)}}).execute()
    outputs = [[output for output in cell.outputs if output.get("name") == "stdout"] for cell in notebook.cells]
    return ["".join(output.text for output in each) for each in outputs]


@pytest.mark.slow
def test_the_notebook_runs_and_its_solutions_are_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With two seeds and few examples; every exercise is run as students find it, and then solved."""
    monkeypatch.chdir(tmp_path)
    settings = ", ".join(map(repr, SMALL))
    small = {'SEEDS = "0,1,2,3"': 'SEEDS = "0,1"', '{SEEDS}")': f'{{SEEDS}}", {settings})', ".run()": ".run(jobs=1)"}
    code, exercises, answers = list[str](), dict[str, int](), solutions()
    for text in (text for kind, text in cells(SOURCE) if kind == "code"):
        for before, after in small.items():
            text = text.replace(before, after)
        code.append(text)
        if exercise := EXERCISE.match(text):
            exercises[exercise[1]] = len(code)
            code.append(answers[exercise[1]])
    printed = run([*code, "print({name: len(scores) for name, scores in zero_shot.items()}, report)"], tmp_path)
    assert [*exercises] == [*answers] and len(exercises) == 6
    for solved in exercises.values():
        assert printed[solved - 2] and "Not yet" in printed[solved - 1] and "Right" in printed[solved]
    assert printed[-1].startswith("{'MLM': 2, 'ALIGN-MLM': 2}")
    assert [*tmp_path.glob("runs/lesson/report-*/report.html")]


class Last(Transform):
    """The places of the words by a function of their number."""

    name = "last"

    def __init__(self, order: Any) -> None:
        self.order = order

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        return sentence.reorder(self.order(len(sentence)))


def test_a_language_is_one_if_its_words_move_and_none_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    right = (Permute(), Last(lambda n: [*range(1, n), 0]))
    wrong = (Invert(), Last(lambda n: range(n)), Last(lambda n: [0] * n), Last(lambda n: [*range(1, n + 1)]))
    for language in (*right, *wrong):
        checks.invented(language)
        assert capsys.readouterr().out.startswith("Right" if language in right else "Not yet")


def test_predictions_are_numbers_in_percent(capsys: pytest.CaptureFixture[str]) -> None:
    checks.predicted({"MLM": 0, "ALIGN-MLM": 100})
    assert capsys.readouterr().out.startswith("Right")
    for wrong in (None, 101, -1):
        checks.predicted({"MLM": wrong, "ALIGN-MLM": 100})
        assert capsys.readouterr().out.startswith("Not yet") and "ALIGN-MLM" not in capsys.readouterr().out


@pytest.mark.parametrize("wrong", ["30", -1, 130, None])
def test_a_prediction_is_a_number_of_percent_for_both(wrong: Any, capsys: pytest.CaptureFixture[str]) -> None:
    for given in ({"MLM": wrong, "ALIGN-MLM": 50}, {"ALIGN-MLM": 50}):
        checks.predicted(given)
        assert capsys.readouterr().out.startswith("Not yet")
    checks.predicted({"MLM": 30, "ALIGN-MLM": 50.5})
    assert capsys.readouterr().out.startswith("Right")


def right(capsys: pytest.CaptureFixture[str]) -> bool:
    """Whether the check that was called last printed that the answer is right."""
    out = capsys.readouterr().out
    assert out.startswith(("Right: ", "Not yet: "))
    return out.startswith("Right")


def test_the_first_word_reversed_is_the_last_before_the_full_stop(capsys: pytest.CaptureFixture[str]) -> None:
    for answer in ("", "two", "rooms", "."):
        checks.first_word(answer, "the farmer warms two rooms .")
        assert right(capsys) == (answer == "rooms")


def test_only_one_conclusion_follows_from_correlations(capsys: pytest.CaptureFixture[str]) -> None:
    for answer in ("", "a", "b", "c", "d"):
        checks.explanation(answer)
        assert right(capsys) == (answer == "b")


@pytest.mark.parametrize("changing", [49, 50])
def test_half_of_the_sentences_have_to_change(changing: int, capsys: pytest.CaptureFixture[str]) -> None:
    class Some(Transform):
        name = "some"

        def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
            return Last(lambda n: [*range(1, n), 0])(sentence) if number < changing else sentence

    checks.invented(Some())
    assert right(capsys) == (changing == 50)


def test_a_language_is_the_same_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    shifts = count(1)
    checks.invented(Last(lambda n: [(place + shift) % n for shift in [next(shifts)] for place in range(n)]))
    assert not right(capsys)


def test_neighbours_that_stay_neighbours_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    checks.invented(Last(lambda n: [*range(0, n, 2), *range(1, n, 2)]))
    out = capsys.readouterr().out
    assert int(re.findall(r"(\d+) % in yours", out)[0]) < int(re.findall(r"(\d+) % in `inv`", out)[0]) < 100
    lengths = [len(sentence) for sentence in Pocket(types=300).sentences(checks.SENTENCES)]
    for order, lost in ((lambda n: [*range(1, n), 0], 1), (lambda n: [*range(2, n), 0, 1], 1)):
        checks.invented(Last(order))
        kept = 100 * (1 - lost * len(lengths) / (sum(lengths) - len(lengths)))
        assert f"{kept:.0f} % in yours" in capsys.readouterr().out


def test_the_extremes_of_all_pairs_of_models(capsys: pytest.CaptureFixture[str]) -> None:
    scores = {"MLM": [40.0, 43.0], "ALIGN-MLM": [45.0, 50.0]}
    answers = [(2.0, 10.0), (2.05, 9.95), (10.0, 2.0), (2.0, 7.0), (2.2, 10.0), (None, 10.0), (2.0, None)]
    for place, answer in enumerate(answers):
        checks.smallest_and_largest(answer, scores)
        assert right(capsys) == (place < 2), answer
    for mlm, always in ((43.0, True), (45.0, False), (46.0, False)):
        checks.smallest_and_largest((45 - mlm, 50 - mlm), {"MLM": [mlm], "ALIGN-MLM": [45.0, 50.0]})
        out = capsys.readouterr().out
        assert f"from {45 - mlm:.1f} to {50 - mlm:.1f}" in out and ("not always" in out) != always


def test_scores_are_those_of_the_last_step_in_percent(capsys: pytest.CaptureFixture[str]) -> None:
    first = {"measure": "ZS", "metric": "f1", "language": checks.LANGUAGE, "step": 9, "objective": "MLM", "value": 0.5}
    others = [{"measure": "SUP"}, {"metric": "accuracy"}, {"language": "trans"}, {"step": 8}]
    rows = [first, *(first | other for other in others), first | {"value": 0.62045}]
    scores = checks.per_seed([*rows, first | {"objective": "ALIGN-MLM"}], "ZS", "f1")
    assert scores == {"MLM": [50.0, 62.0], "ALIGN-MLM": [50.0]}
    checks.compare({"MLM": 40, "ALIGN-MLM": None}, scores)
    mlm, align = capsys.readouterr().out.splitlines()
    assert mlm.split()[2] == "40," and "56.0 (seeds: 50.0, 62.0)" in mlm and align.split()[2] == "–,"
    checks.losses({"MLM": [90.0, 92.4]}, scores)
    assert re.findall(r"\d+\.\d", capsys.readouterr().out) == ["91.2", "35.2"]


def test_english_reversed_exists_already(capsys: pytest.CaptureFixture[str]) -> None:
    for marks in (Invert().marks, ()):
        checks.invented(Invert(marks=marks))
        assert capsys.readouterr().out.startswith("Not yet")


def test_correlations_are_of_all_models_and_of_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    alignment, scores = (
        {"MLM": [1, 2, 3, 4], "ALIGN-MLM": [7, 8, 9, 6]},
        {"MLM": [4, 3, 2, 1], "ALIGN-MLM": [7, 9, 8, 6]},
    )
    checks.correlations(alignment, scores)
    rows = [line.rsplit(maxsplit=3) for line in capsys.readouterr().out.splitlines()]
    rho = np.corrcoef([1, 2, 3, 4, 7, 8, 9, 6], [4, 3, 2, 1, 7, 9, 8, 6])[0, 1]
    assert [row[1] for row in rows] == [f"{rho:+.2f}", "-1.00", "+0.80"]
    assert [row[2:] for row in rows] == [["(8", "models)"], ["(4", "models)"], ["(4", "models)"]]


@pytest.mark.parametrize("models", [2, 3])
def test_fewer_than_four_models_give_no_correlation(models: int, capsys: pytest.CaptureFixture[str]) -> None:
    alignment = {"MLM": [1.0, 2.0, 3.0], "ALIGN-MLM": [4.0, 5.0, 6.0]}
    scores = {"MLM": [1.0, 2.0, 4.0], "ALIGN-MLM": [5.0, 4.0, 7.0]}
    checks.correlations(*({name: its[:models] for name, its in each.items()} for each in (alignment, scores)))
    whole, *groups = capsys.readouterr().out.splitlines()
    assert "+0." in whole and all("–" in line for line in groups)
