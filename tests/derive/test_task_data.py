"""A task's folder, derived or natural: every example and an account of the rest."""

import gc
import tracemalloc
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from calque.derive.artefact import Artefact
from calque.derive.build import languages_fingerprint
from calque.derive.dictionary import DictionaryConfig
from calque.derive.errors import BadInput
from calque.derive.fingerprint import sha256
from calque.derive.order import Invert, Permute
from calque.derive.pocket.language import Pocket
from calque.derive.script import Transliterate
from calque.derive.sources.files import TaskFiles
from calque.derive.sources.pocket import PocketEnglish, Sizes
from calque.derive.task_data import (
    KIND,
    TaskFolder,
    derive_task,
    natural_task_fingerprint,
    task_data_fingerprint,
    write_natural_task,
)
from calque.derive.transform import Account, compose, image_of_example
from tests.derive.readers.test_conllu import row
from tests.treebanks import write_treebank

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


def test_the_folder_is_sealed(folder: Path, tmp_path: Path) -> None:
    task = TaskFolder.open(folder)
    task.artefact.verify()
    files = {path.name: sha256(path) for path in folder.iterdir() if path.name != "manifest.json"}
    assert task.artefact.digests == files
    with pytest.raises(BadInput, match=r"lists no file train\.inv\.jsonl"):
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
    """Images are never held together: seven languages take no more memory than one. The first of the three only fills
    the caches of Pocket English, as other tests may have done."""
    source = PocketEnglish(language=Pocket(types=300), size=10, pos=Sizes(1_500, 1, 1), ner=FEW, nli=FEW)
    peaks = []
    for number, overlaps in enumerate(((0,), (0,), (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6))):
        gc.collect()
        tracemalloc.start()
        derive_task(source, "pos", [Transliterate(overlap) for overlap in overlaps], tmp_path / str(number), tmp_path)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.2 * peaks[1]


def treebank(path: Path, count: int, stream: int) -> Path:
    """Sentences of Pocket English."""
    write_treebank(path, islice(Pocket().sentences(count, stream), count))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[TaskFiles, dict[str, tuple[Path, ...]]]:
    train, dev, test = (treebank(tmp_path / f"{name}.conllu", 20, n) for n, name in enumerate(("train", "dev", "test")))
    others = {"fr": (treebank(tmp_path / "fr-1.conllu", 5, 3), treebank(tmp_path / "fr-2.conllu", 4, 4)), "de": (test,)}
    return TaskFiles((train,), (test,), (dev,), limit=12), others


def test_every_split_and_test_set_is_there(
    files: tuple[TaskFiles, dict[str, tuple[Path, ...]]], tmp_path: Path
) -> None:
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


def test_a_treebank_may_be_read_in_xtremes_units(tmp_path: Path) -> None:
    rows = (row("1-2", "du", "_", "_", "_"), row("1", "de", "ADP", "3"), row("2", "le", "DET", "3"), row("3", "pain"))
    path = tmp_path / "a.conllu"
    path.write_text("\n".join(rows) + "\n\n", encoding="utf-8")
    words = TaskFiles((path,), (path,), (path,))
    whole = replace(words, units="xtreme")
    made = [
        TaskFolder.open(write_natural_task("pos", its, {"fr": (path,)}, tmp_path / its.units)) for its in (words, whole)
    ]
    assert [[len(example.texts[0][0]) for example in folder.examples("test", "fr")] for folder in made] == [[3], [2]]
    facts = made[1].artefact.facts["splits"]["test"]["languages"]["fr"]
    assert facts["left out"] == {"multiword tokens": 1, "words merged into multiword tokens": 2}
    prints = {
        natural_task_fingerprint("pos", its, {"fr": (path,)}, source=name) for its in (words, whole) for name in "ab"
    }
    assert len(prints) == 3  # the ranking of tags depends on the language, words do not


def test_the_fingerprint_is_that_of_what_files_hold(
    files: tuple[TaskFiles, dict[str, tuple[Path, ...]]], tmp_path: Path
) -> None:
    own, others = files
    before = natural_task_fingerprint("pos", own, others)
    moved = tmp_path / "elsewhere.conllu"
    moved.write_bytes(others["de"][0].read_bytes())
    assert natural_task_fingerprint("pos", own, others | {"de": (moved,)}) == before
    treebank(moved, 7, 9)
    assert natural_task_fingerprint("pos", own, others | {"de": (moved,)}) != before
    with pytest.raises(BadInput, match="nowhere"):
        natural_task_fingerprint("pos", own, others | {"de": (tmp_path / "nowhere.conllu",)})


def test_what_cannot_be_read_is_refused_and_nothing_is_left(
    files: tuple[TaskFiles, dict[str, tuple[Path, ...]]], tmp_path: Path
) -> None:
    own, others = files
    with pytest.raises(BadInput, match="the task tydiqa"):
        write_natural_task("tydiqa", own, others, tmp_path / "made")
    with pytest.raises(BadInput, match="no example of pos for hi"):
        write_natural_task("pos", own, {"hi": ()}, tmp_path / "made")
    assert not (tmp_path / "made").exists()


XNLI = "language\tgold_label\tsentence1\tsentence2\n{0}\tneutral\tOne came.\tTwo came.\n{0}\tentailment\tA b.\tA.\n"
PANX = "{0}:Anton\tB-PER\n{0}:came\tO\n\n{0}:Berta\tB-PER\n{0}:came\tO\n\n"


@pytest.mark.parametrize(
    ("task", "form", "expected"), [("nli", XNLI, "expected pairs of"), ("ner", PANX, "the study lists it for")]
)
def test_a_file_that_says_another_language_than_the_study_is_refused(
    task: str, form: str, expected: str, tmp_path: Path
) -> None:
    """XNLI's column and PAN-X's mark tell what a file is of, and a list that has them the wrong way round is one."""
    files = {language: tmp_path / f"{language}.tsv" for language in ("en", "de", "fr")}
    for language, path in files.items():
        path.write_text(form.format(language), encoding="utf-8")
    own = TaskFiles((files["en"],), (files["en"],), (files["en"],))
    names = dict.fromkeys(("de-at", "de_at", "german", "deu", "web-de"), (files["de"],))
    write_natural_task(task, own, names, tmp_path / "right", source="en")
    with pytest.raises(BadInput, match=rf"en\.tsv: (?:is marked as|has pairs of) 'en'; {expected} 'fr'"):
        write_natural_task(task, own, {}, tmp_path / "source", source="fr")
    with pytest.raises(BadInput, match=rf"de\.tsv: (?:is marked as|has pairs of) 'de'; {expected} 'fr'"):
        write_natural_task(task, own, {"fr": (files["de"],), "de": (files["fr"],)}, tmp_path / "swapped")
    with pytest.raises(BadInput, match=r"fr\.tsv: (?:is marked as|has pairs of) 'fr'; .*en\.tsv is marked as 'en'"):
        write_natural_task(task, TaskFiles((files["en"], files["fr"]), own.test, own.dev), {}, tmp_path / "mixed")
    with pytest.raises(BadInput, match=r"fr\.tsv: (?:is marked as|has pairs of) 'fr'"):
        write_natural_task(task, own, {"de": (files["de"], files["fr"])}, tmp_path / "mixed")
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["right"]


def test_of_a_file_in_several_languages_the_one_that_it_is_listed_for_is_read(tmp_path: Path) -> None:
    """As XNLI's own files have fifteen languages, and XTREME's training set may be cut from one of them."""
    whole, head = tmp_path / "xnli.tsv", "language\tgold_label\tsentence1\tsentence2\n"
    rows = [f"{name}\t{label}\t{name} A.\tB.\n" for label in ("neutral", "entailment") for name in ("ar", "de", "en")]
    whole.write_text(head + "".join(rows), encoding="utf-8")
    own, every = TaskFiles((whole,), (whole,), (whole,)), {"ar": (whole,), "de-at": (whole,)}
    folder = TaskFolder.open(
        write_natural_task("nli", own, every, tmp_path / "made", translations={"de": (whole,)}, source="en")
    )
    read = {"en": folder.examples("train"), "ar": folder.examples("test", "ar"), "de": folder.examples("train", "de")}
    for name, examples in read.items():
        found = [(example.texts[0][0].words[0], example.label) for example in examples]
        assert found == [(name, "neutral"), (name, "entailment")]
    facts = Artefact.open(tmp_path / "made", KIND).facts
    assert facts["splits"]["test"]["languages"]["de-at"] == {"examples": 2, "left out": {"pairs of other languages": 4}}
    assert facts["splits"]["train"]["left out"] == {"pairs of other languages": 4}
    with pytest.raises(BadInput, match=r"xnli\.tsv: has pairs of 'ar', 'de', 'en'; expected pairs of 'sw'"):
        write_natural_task("nli", own, {"sw": (whole,)}, tmp_path / "none", source="en")
    with pytest.raises(BadInput, match=r"language 'de' after 'ar'.* or name the language by its code"):
        write_natural_task("nli", own, {"german": (whole,)}, tmp_path / "none", source="en")
    prints = {natural_task_fingerprint("nli", own, every, source=name) for name in ("en", "de", "ar")}
    assert len(prints) == 3 and not (tmp_path / "none").exists()


def test_files_that_do_not_say_their_language_are_read_under_any_name(tmp_path: Path) -> None:
    path = tmp_path / "plain.tsv"
    path.write_text("Anton\tB-PER\ncame\tO\n\n", encoding="utf-8")
    tests = dict.fromkeys(("de", "fr"), (path,))
    folder = TaskFolder.open(write_natural_task("ner", TaskFiles((path,), (path,), (path,)), tests, tmp_path / "made"))
    for name in tests:
        (example,) = folder.examples("test", name)
        assert example.texts[0][0].words == ("Anton", "came")
