"""A task's folder: images of every example, an account of the rest, and nothing that pretraining depends on."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import pytest

from derive.build import languages_fingerprint
from derive.dictionary import DictionaryConfig
from derive.errors import BadInput
from derive.files import sha256
from derive.order import Invert, Permute
from derive.pocket.language import Pocket
from derive.preview import preview_examples
from derive.script import Transliterate
from derive.sources.pocket import PocketEnglish, Sizes
from derive.task_data import TaskFolder, derive_task, task_data_fingerprint
from derive.transform import Account, compose, image_of_example

FEW = Sizes(40, 10, 20)
SOURCE = PocketEnglish(language=Pocket(types=300), size=2_500, pos=FEW, ner=FEW, nli=FEW)
TRANSFORMS = (Transliterate(), compose(Transliterate(0.5), Invert()), Permute(3))


@pytest.fixture(scope="module", params=SOURCE.tasks)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tasks")
    return derive_task(SOURCE, request.param, TRANSFORMS, place / request.param, place / "cache")


def test_every_example_has_its_image(folder: Path) -> None:
    task = TaskFolder.open(folder)
    assert task.task == folder.name
    for split, size in zip(("train", "dev", "test"), FEW, strict=True):
        examples = list(task.examples(split))
        assert examples == SOURCE.task_data(folder.name).examples[split]
        assert len(examples) == size
        for transform in TRANSFORMS:
            images = list(task.examples(split, transform.name))
            assert images == [
                image_of_example(transform, example, number, Account()) for number, example in enumerate(examples)
            ]


def test_the_manifest_counts_what_is_there_and_what_was_torn(folder: Path) -> None:
    task = TaskFolder.open(folder)
    row = task.artefact.facts["splits"]["train"]
    assert row["examples"] == 40
    after = list(task.examples("train", "perm"))
    spans = sum(len(sentence.spans) for example in after for text in example.texts for sentence in text)
    assert row["languages"]["perm"]["spans split"] == spans - row["spans"]
    assert (row["languages"]["perm"]["spans split"] > 0) == (folder.name != "nli")  # its names have one word
    assert row["languages"]["trans"]["spans split"] == 0
    assert {language["examples without an image"] for language in row["languages"].values()} == {0}


def test_a_preview_shows_the_first_training_examples(folder: Path) -> None:
    examples = SOURCE.task_data(folder.name).examples["train"]
    text = (folder / "preview.txt").read_text(encoding="utf-8")
    assert text == preview_examples(folder.name, examples, TRANSFORMS)


def test_the_folder_is_sealed(folder: Path, tmp_path: Path) -> None:
    task = TaskFolder.open(folder)
    task.artefact.verify()
    files = {path.name: sha256(path) for path in folder.iterdir() if path.name != "manifest.json"}
    assert task.artefact.digests == files
    with pytest.raises(BadInput, match=r"no train\.inv\.jsonl is among its files"):
        task.path("train", "inv")


def test_a_task_that_the_source_lacks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no examples of the task qa; there are pos, ner, nli"):
        derive_task(SOURCE, "qa", TRANSFORMS, tmp_path / "qa", tmp_path / "cache")
    assert list(tmp_path.iterdir()) == []


def test_the_fingerprint_follows_the_task_and_its_languages_alone() -> None:
    def of(source: PocketEnglish, task: str = "pos", transforms: tuple = TRANSFORMS) -> str:
        return task_data_fingerprint(source.task_fingerprint, task, transforms)

    larger = PocketEnglish(language=Pocket(types=300), size=2_501, pos=FEW, ner=Sizes(1, 1, 1), nli=FEW)
    assert of(larger) == of(SOURCE)
    assert len({of(SOURCE), of(SOURCE, "nli"), of(larger, "ner"), of(SOURCE, "pos", TRANSFORMS[:1])}) == 4


def test_no_size_of_a_task_changes_a_language() -> None:
    other = PocketEnglish(language=Pocket(types=300), size=2_500, pos=Sizes(1, 1, 1), ner=FEW, nli=FEW)
    prints = [
        languages_fingerprint(source.corpus_fingerprint, TRANSFORMS, 600, DictionaryConfig())
        for source in (SOURCE, other)
    ]
    assert prints[0] == prints[1]


def test_images_are_written_one_at_a_time(tmp_path: Path) -> None:
    """Images are never held together: seven languages take no more memory than one.

    The first of the three only fills the caches of Pocket English, as other tests may have done.
    """
    source = PocketEnglish(language=Pocket(types=300), size=10, pos=Sizes(1_500, 1, 1), ner=FEW, nli=FEW)
    peaks = []
    for number, overlaps in enumerate(((0,), (0,), (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6))):
        gc.collect()
        tracemalloc.start()
        derive_task(source, "pos", [Transliterate(overlap) for overlap in overlaps], tmp_path / str(number), tmp_path)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.2 * peaks[1]
