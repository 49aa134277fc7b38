"""The lesson: its study measures trained models, its notebook runs, and its checks tell right answers from wrong."""

import re
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from calque.derive.errors import BadInput
from calque.derive.order import Invert, Permute
from calque.derive.sentence import Sentence
from calque.derive.transform import Transform
from calque.experiments.lessons import FILES, HERE, checks, copy
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
        assert "Not yet" in printed[solved - 1] and "Right" in printed[solved]
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


def test_english_reversed_exists_already(capsys: pytest.CaptureFixture[str]) -> None:
    for marks in (Invert().marks, ()):
        checks.invented(Invert(marks=marks))
        assert capsys.readouterr().out.startswith("Not yet")


def test_two_models_give_no_correlation(capsys: pytest.CaptureFixture[str]) -> None:
    checks.correlations({"MLM": [1.0, 2.0], "ALIGN-MLM": [3.0, 4.0]}, {"MLM": [1.0, 2.0], "ALIGN-MLM": [5.0, 4.0]})
    whole, *groups = capsys.readouterr().out.splitlines()
    assert "+0." in whole and all("–" in line for line in groups)
