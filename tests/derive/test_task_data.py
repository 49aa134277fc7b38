from dataclasses import replace
from itertools import islice

import pytest

from calque.derive.files import Artefact
from calque.derive.order import Invert, Permute
from calque.derive.pocket.language import Pocket, PocketEnglish, Sizes
from calque.derive.sources.files import TaskFiles
from calque.derive.task_data import (
    KIND,
    TaskFolder,
    derive_task,
    natural_task_fingerprint,
    write_natural_task,
)
from calque.derive.transform import Account, compose, image_of_example
from calque.derive.transforms import Transliterate
from tests.refusals import refusal
from tests.treebanks import write_treebank

FEW = Sizes(40, 10, 20)
SOURCE = PocketEnglish(language=Pocket(types=300), size=2_500, pos=FEW, ner=FEW)
TRANSFORMS = (Transliterate(), compose(Transliterate(0.5), Invert()), Permute(3))


@pytest.fixture(scope="module", params=SOURCE.tasks)
def folder(request, tmp_path_factory):
    place = tmp_path_factory.mktemp("tasks")
    return derive_task(SOURCE, request.param, TRANSFORMS, place / request.param, place / "cache")


def test_every_example_has_its_image(folder):
    task = TaskFolder.open(folder)
    assert task.task == folder.name
    for split, size in zip(("train", "dev", "test"), FEW, strict=True):
        examples = list(task.examples(split))
        assert examples == SOURCE.task_data(folder.name).examples[split]
        assert len(examples) == size
        for transform in TRANSFORMS:
            images = list(task.examples(split, transform.name))
            for number, (example, image) in enumerate(zip(examples, images, strict=True)):
                assert image == image_of_example(transform, example, number, Account())


def test_splits_must_fit_in_memory():
    assert "1,000,000" in refusal(Sizes, 10**12)


def treebank(path, count, stream):
    write_treebank(path, islice(Pocket().sentences(count, stream), count))
    return path


@pytest.fixture
def files(tmp_path):
    train, dev, test = (
        treebank(tmp_path / f"{name}.conllu", 20, n) for n, name in enumerate(("train", "dev", "test"))
    )
    others = {
        "fr": (treebank(tmp_path / "fr-1.conllu", 5, 3), treebank(tmp_path / "fr-2.conllu", 4, 4)),
        "de": (test,),
    }
    return TaskFiles((train,), (test,), (dev,), limit=12), others


def test_every_split_and_test_set_is_there(files, tmp_path):
    own, others = files
    folder = TaskFolder.open(write_natural_task("pos", own, others, tmp_path / "made"))
    assert folder.task == "pos"
    sizes = {split: len(list(folder.examples(split))) for split in ("train", "dev", "test")}
    assert sizes == {"train": 12, "dev": 20, "test": 20}
    assert len(list(folder.examples("test", "fr"))) == 9
    assert list(folder.examples("test", "de")) == list(folder.examples("test"))
    facts = Artefact.open(tmp_path / "made", KIND).facts
    assert facts["splits"]["test"]["languages"]["fr"] == {"examples": 9, "left out": {}}
    assert facts["splits"]["train"] == {"languages": {}, "examples": 12, "left out": {"over the limit": 8}}
    assert facts["fingerprint"] == natural_task_fingerprint("pos", own, others)


def test_fingerprints_of_natural_tasks_depend_on_files_and_settings(files):
    own, others = files
    sets = own, replace(own, limit=13), replace(own, units="xtreme")
    cases = [(task, each, tests) for task in ("pos", "ner") for each in sets for tests in (others, {})]
    cases.append(("pos", sets[2], others, "en"))
    found = [natural_task_fingerprint(*case) for case in cases]
    others["de"][0].write_bytes(own.dev[0].read_bytes())
    found.append(natural_task_fingerprint("pos", own, others))
    assert all(found) and len({*found}) == len(found)
    assert found[-1] == natural_task_fingerprint("pos", own, others, "en")  # words have no language's rules
