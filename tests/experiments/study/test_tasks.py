from dataclasses import replace
from pathlib import Path

from calque.analysis.tasks.finetune import FinetuneConfig
from calque.derive.sources.files import TaskFiles
from calque.experiments.study.tasks import CrossLingualTask, task_mistakes

FILE = (Path("a"),)
FILES = TaskFiles(train=FILE, dev=FILE, test=FILE)
TASK = CrossLingualTask(FinetuneConfig(), files=FILES, tests={"fr": FILE})


def test_natural_tasks_need_files_and_other_languages():
    assert task_mistakes({"pos": TASK}, "en") == []
    (said,) = task_mistakes({"pos": CrossLingualTask(FinetuneConfig())}, "en")
    assert "tasks.pos.files" in said
    (said,) = task_mistakes({"pos": replace(TASK, tests={"en": FILE})}, "en")
    assert said.startswith("tasks.pos.tests: en is the source")
    (said,) = task_mistakes({"pso": TASK}, "en")
    assert said.startswith("tasks: there is no 'pso'")
