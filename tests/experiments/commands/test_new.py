from pathlib import Path

import pytest

from calque.derive.pocket.language import Pocket
from calque.experiments.commands.new import KINDS, TEMPLATES
from calque.experiments.settings.catalogue import named_study
from calque.experiments.settings.override import override
from tests.experiments.conftest import TINY, calque, refused, sets

CHANGES = {
    "transform": ("random() > 0.5", "random() > 0.1", {"languages", "examples of pos"}),
    "task": ("rare = [", "rare = [*()] + [", {"floors of a_b", "a_b trans.inv/MLM/seed-0"}),
    "objective": (".square()", ".abs()", {"pretrain trans.inv/A-B/seed-0"}),
}
"""A change of the file of each kind, and steps that it affects."""
SIZE = [setting for setting in TINY if not setting.startswith(("objectives", "transforms", "tasks"))]


@pytest.mark.slow
@pytest.mark.parametrize("kind", TEMPLATES)
def test_new_files_run(kind, folder):
    assert calque("new", kind, "a_b", "--to", folder)[0] == 0
    sentences = [" ".join(sentence.words) for sentence in Pocket(types=300).sentences(600)]
    (folder / "text.txt").write_text("\n".join(sentences) + "\n")
    rows = [f"{text}\t{'long' if len(text) > 40 else 'short'}\n" for text in sentences]
    (folder / "a_b.tsv").write_text("".join(["text\tlabel\n", *rows]))
    task = "a_b" if kind == "task" else "pos"
    settings = [f"tasks={task}", f"tasks.{task}.finetune.epochs=1", *SIZE]
    settings = [setting for setting in settings if kind != "task" or not setting.startswith("source.")]
    words = sets(*settings)
    code, _, err = calque("run", folder / "a_b.py", "--runs", "runs", "--jobs", "1", *words)
    assert code == 0, err
    (report,) = Path("runs/a_b").glob("report-*")
    table = (report / "table-3.md").read_text()
    part = {"transform": "a-b", "objective": "A-B", "task": "A b", "study": "ALIGN-MLM"}[kind]
    assert part in table, table

    def unfinished():
        steps = override(named_study(str(folder / "a_b.py")), settings).steps(Path("runs"))
        return {step.title for step in steps if not step.finished}

    assert unfinished() == set()
    if kind in CHANGES:
        before, after, titles = CHANGES[kind]
        text = (folder / "a_b.py").read_text()
        (folder / "a_b.py").write_text(text.replace(before, after))
        assert text.count(before) == 1 and titles <= unfinished()


def test_every_kind_names_the_next_command(tmp_path):
    for kind in KINDS:
        _, out, _ = calque("new", kind, "a_b", "--to", tmp_path / kind)
        command = "cd a_b && calque run lesson" if kind == "lesson" else "calque plan a_b.py"
        assert out.replace(f"{tmp_path / kind}/", "").splitlines()[-1] == f"next: {command}"


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("study", "pocket"),
        ("study", "numpy"),  # an installed package
        ("task", "pos"),
        ("transform", "inv"),
        ("objective", "xlm"),
    ],
)
def test_names_of_parts_and_modules_are_taken(kind, name, tmp_path):
    assert name in refused("new", kind, name, "--to", tmp_path / "parts")


def test_imported_parts_are_known_by_name(folder):
    for kind, name in (("transform", "swap_words"), ("objective", "closer")):
        assert calque("new", kind, name, "--to", folder)[0] == 0
    lines = ["import closer", "from swap_words import swap_words"]
    lines += ["from calque.experiments.studies.pocket import pocket", "", "", "def both():"]
    (folder / "both.py").write_text("\n".join([*lines, "    return pocket().changed(name='both')"]))
    settings = ["transforms=trans.swap-words", "objectives=MLM,CLOSER-after-MLM"]
    both = override(named_study(str(folder / "both.py")), settings)
    assert [objective.name for objective in both.objectives] == ["MLM", "CLOSER-after-MLM"]
    code, out, err = calque("show", "Sara ate two apples .", "swap-words.inv", "--study", folder / "both.py")
    assert code == 0 and "swap-words.inv" in out, err
    code, _, err = calque("show", "Sara ate two apples .", "swap-word", "--study", folder / "both.py")
    assert code == 2 and "did you mean swap-words?" in err
