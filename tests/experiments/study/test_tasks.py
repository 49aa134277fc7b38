from dataclasses import replace
from pathlib import Path

import pytest

from calque.analysis.tasks.finetune import FinetuneConfig
from calque.derive.sources.files import TaskFiles
from calque.experiments.study.tasks import CrossLingualTask, language_mistakes, task_mistakes

FILE = (Path("a"),)
FILES = TaskFiles(train=FILE, dev=FILE, test=FILE)
TASK = CrossLingualTask(FinetuneConfig(), files=FILES, tests={"fr": FILE})


@pytest.mark.parametrize(
    "name", ["", "a" * 33, "source", "train", "dev", "test", "a b", "-a", "a-", "a--b", "../a", 3]
)
def test_what_cannot_name_a_language(name: object) -> None:
    (said,) = language_mistakes("tests", name)
    assert said.startswith("tests: ") and "cannot name a language" in said


def test_natural_tasks_have_files_and_other_languages_than_the_source() -> None:
    assert task_mistakes({"pos": TASK}, "en") == []
    (said,) = task_mistakes({"pos": CrossLingualTask(FinetuneConfig())}, "en")
    assert "tasks.pos.files" in said
    (said,) = task_mistakes({"pos": replace(TASK, tests={"en": FILE})}, "en")
    assert said.startswith("tasks.pos: en is the source")
    (said,) = task_mistakes({"pso": TASK}, "en")
    assert said.startswith("tasks: there is no 'pso'")
