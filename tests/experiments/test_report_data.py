"""What a report shows besides records: the question, a sentence in every language, and training curves."""

import shutil
from dataclasses import replace
from pathlib import Path

from calque.analysis.results.results import Results
from calque.derive.sources.files import Files
from calque.derive.transforms import transform
from calque.experiments.report_data import WORDS, example_of, question, training_curves
from tests.experiments.conftest import Done


def test_a_study_of_calque_asks_its_question_and_a_changed_one_nothing_else() -> None:
    asked = question("pocket", changed=True)
    assert asked.endswith("?") and question("pocket", changed=False).startswith(asked)
    assert question("my_own", changed=False) == ""


def test_the_sentence_is_short_and_its_images_are_aligned(done: Done) -> None:
    found = example_of([done.study], done.root)
    assert found and found.images and len(found.classes) in WORDS
    assert [image.language for image in found.images] == [each.title for each in done.study.languages.transforms]
    for image in found.images:
        assert len(image.source) == len(found.classes) and sorted(image.origin) == [*range(len(image.source))]
    assert found.images[0].origin[0] != 0, "this one is inverted"


def test_an_unknown_word_of_the_sentence_is_shown(done: Done, tmp_path: Path) -> None:
    path = tmp_path / "wiki.tokens"
    path.write_text(" The <unk> cat sat there . \n", encoding="utf-8")
    languages = replace(done.study.languages, source=Files((path,)), transforms=(transform("trans"), transform("inv")))
    found = example_of([replace(done.study, languages=languages, tasks=())], tmp_path)
    assert found and [image.words.index("<unk>") for image in found.images] == [1, 3]
    assert all(image.source == ("The", "<unk>", "cat", "sat", "there", ".") for image in found.images)


def test_every_model_has_curves_of_all_its_rows(done: Done) -> None:
    results = Results([model.run for model in done.models()], [])
    curves = list(training_curves(done.study, done.root, results, ", x=1"))
    assert [each.group for each in curves] == ["MLM, x=1", "ALIGN-MLM, x=1"]
    assert [each.run for each in curves] == ["MLM, x=1, Trans + Inv, seed 0", "ALIGN-MLM, x=1, Trans + Inv, seed 0"]
    for each, model in zip(curves, done.models(), strict=True):
        lines = (model.step.folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        assert len(each.rows) == len(lines) and each.rows[-1]["step"] == done.study.train.steps


def test_a_model_without_metrics_has_no_curve(done: Done, tmp_path: Path) -> None:
    results = Results([model.run for model in done.models()], [])
    root = tmp_path / "runs"
    shutil.copytree(done.root, root)
    for path in root.rglob("metrics.jsonl"):
        path.unlink()
    assert not list(training_curves(done.study, root, results))
