import json
import re
from contextlib import redirect_stdout
from io import StringIO
from itertools import count

import pytest

from calque.derive.order import Invert, Permute
from calque.derive.transform import Transform
from calque.experiments.commands.new import lesson_notebook
from calque.experiments.lessons import checks
from tests.experiments.conftest import ROOT

SMALL = ("source.pos.train=100", "source.pos.dev=20", "source.pos.test=50", "tasks.pos.finetune.epochs=1")
EXERCISE = re.compile(r"# Exercise (\d)")


def code_cells():
    return [cell["source"] for cell in json.loads(lesson_notebook())["cells"] if cell["cell_type"] == "code"]


def printed(function, *arguments):
    with redirect_stdout(StringIO()) as out:
        function(*arguments)
    return out.getvalue()


def test_code_cells_are_the_lessons_blocks_of_python():
    lesson = (ROOT / "calque/experiments/lessons/lesson.md").read_text()
    assert code_cells() == [block.strip() for block in re.findall(r"```python\n(.*?)```", lesson, re.S)]


@pytest.mark.slow
def test_notebook_runs_and_its_solutions_are_right(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = ", ".join(map(repr, SMALL))
    small = {
        'SEEDS = "0,1,2,3"': 'SEEDS = "0,1"',
        '{SEEDS}")': f'{{SEEDS}}", {settings})',
        ".run()": ".run(jobs=1)",
    }
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/lesson-solutions.md").read_text(), re.S)
    solutions = {found[1]: block for block in blocks if (found := EXERCISE.match(block))}
    names = {}
    solved = []
    for cell in code_cells():
        for before, after in small.items():
            cell = cell.replace(before, after)
        out = printed(exec, cell, names)
        if exercise := EXERCISE.match(cell):
            assert "Not yet" in out and "Right" in printed(exec, solutions[exercise[1]], names)
            solved.append(exercise[1])
    assert solved == [*solutions] and len(solved) == 6
    assert {name: len(scores) for name, scores in names["zero_shot"].items()} == {"MLM": 2, "ALIGN-MLM": 2}
    (report,) = tmp_path.glob("runs/lesson/report-*/report.html")
    assert report.read_text().count("weights of models.safetensors, SHA-256 ") == 1


class Order(Transform):
    name = "order"

    def __init__(self, order):
        self.order = order

    def __call__(self, sentence, number=0):
        return sentence.reorder(self.order(len(sentence)))


SHIFTS = count(1)
SCORES = {"MLM": [40.0, 43.0], "ALIGN-MLM": [45.0, 50.0]}
ANSWERS = [
    (checks.first_word, "rooms", "two", ("the farmer warms two rooms .",)),
    (checks.invented, Permute(), Invert(), ()),
    (checks.invented, Order(lambda n: [*range(1, n), 0]), Order(range), ()),
    (checks.invented, Order(lambda n: [*range(1, n), 0]), Order(lambda n: [0] * n), ()),
    (checks.invented, Order(lambda n: [*range(1, n), 0]), Order(lambda n: [*range(1, n + 1)]), ()),
    (checks.invented, Permute(), Order(lambda n: [(place + next(SHIFTS)) % n for place in range(n)]), ()),
    (checks.predicted, {"MLM": 0, "ALIGN-MLM": 100}, {"MLM": "30", "ALIGN-MLM": 50}, ()),
    (checks.predicted, {"MLM": 0, "ALIGN-MLM": 100}, {"MLM": 101, "ALIGN-MLM": 50}, ()),
    (checks.explanation, "b", "a", ()),
    (checks.smallest_and_largest, (2.05, 9.95), (10.0, 2.0), (SCORES,)),
    (checks.smallest_and_largest, (2.0, 10.0), (None, 10.0), (SCORES,)),
]


@pytest.mark.parametrize(("check", "right", "wrong", "more"), ANSWERS)
def test_checks_accept_only_right_answers(check, right, wrong, more):
    assert printed(check, right, *more).startswith("Right: ")
    assert printed(check, wrong, *more).startswith("Not yet: ")
