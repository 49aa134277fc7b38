"""The derived study: what is in its folder, that it does not depend on workers, and that it is whole or absent."""

import json
import resource
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from calque.derive.build import derive_languages, languages_fingerprint
from calque.derive.corpus import Corpus
from calque.derive.dictionary import DictionaryConfig
from calque.derive.errors import BadInput
from calque.derive.fingerprint import sha256
from calque.derive.frequency import forget_long
from calque.derive.order import Invert, Permute
from calque.derive.pocket.language import Pocket
from calque.derive.script import Transliterate
from calque.derive.sentence import Sentence
from calque.derive.source import Source, TaskData
from calque.derive.sources.pocket import PocketEnglish, Sizes
from calque.derive.transform import Transform, compose
from calque.derive.types import OURS
from calque.derive.typology import order_distance
from calque.derive.vocabulary import Vocabulary

FIRST = len(OURS.ids)  # the first id that is not special

FEW = Sizes(40, 10, 20)
SOURCE = PocketEnglish(language=Pocket(types=300), size=2_500, pos=FEW, ner=FEW, nli=FEW)
TRANSFORMS = (Transliterate(), compose(Transliterate(0.5), Invert()), Permute(3), Invert(0.5))
SIZE = 600


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studies")
    return derive_languages(SOURCE, TRANSFORMS, SIZE, DictionaryConfig(), folder / "study", folder / "cache")


def numbered(source: Source) -> Iterator[tuple[int, Sentence]]:
    """The corpus's sentences that are not empty, with the numbers that transforms draw from."""
    for index, chunk in enumerate(source.chunks()):
        for place, sentence in enumerate(source.sentences(chunk)[0]):
            if sentence.words:
                yield (index << 32) + place, sentence


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): sha256(path) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda transform: transform.name)
def test_the_derived_corpus_is_that_of_its_sentences_one_by_one(study: Path, transform: Transform) -> None:
    vocabulary = Vocabulary.load(study / "vocabulary")
    image = np.load(study / transform.name / "image.npy")
    source, derived = Corpus.open(study / "source"), Corpus.open(study / transform.name)
    assert np.array_equal(image, transform.image(SIZE))
    assert len(source) == len(derived) == 2_500
    for line, (number, sentence) in enumerate(numbered(SOURCE)):
        after = transform(sentence, number)
        assert source[line].tolist() == [i for word in sentence.words for i in vocabulary.encode(word)]
        assert derived[line].tolist() == [int(image[i]) for word in after.words for i in vocabulary.encode(word)]
        assert tuple(derived.order(line).tolist()) == after.origin
    assert np.array_equal(derived.source_line, np.arange(2_500))
    assert derived.tokens.dtype == np.uint16


def test_output_does_not_depend_on_the_number_of_workers(study: Path, tmp_path: Path) -> None:
    derive_languages(SOURCE, TRANSFORMS, SIZE, DictionaryConfig(), tmp_path / "study", tmp_path / "cache", workers=3)
    assert contents(tmp_path / "study") == contents(study)


def test_the_manifest_counts_what_went_in_and_out(study: Path) -> None:
    manifest = json.loads((study / "manifest.json").read_text())
    sentences = [sentence for _, sentence in numbered(SOURCE)]
    words = sum(map(len, sentences))
    assert set(manifest["languages"]) == {"source", *(t.name for t in TRANSFORMS)}
    for name, row in manifest["languages"].items():
        corpus = Corpus.open(study / name)
        assert row["in"] == {"sentences": 2_500, "words": words}
        assert row["out"] == {"sentences": 2_500, "words": words, "tokens": len(corpus.tokens)}
        assert row["order distance"] == order_distance([corpus.order(i).tolist() for i in range(len(corpus))])
    images = [Permute(3)(sentence, number) for number, sentence in numbered(SOURCE)]
    torn = sum(len(image.spans) for image in images) - sum(len(sentence.spans) for sentence in sentences)
    assert manifest["languages"]["perm"]["spans split"] == torn > 0
    assert manifest["languages"]["trans"]["spans split"] == 0
    vocabulary = Vocabulary.load(study / "vocabulary")
    assert manifest["vocabulary"] == {
        "size": SIZE,
        "types": len(vocabulary.types),
        "unseen types": SIZE - FIRST - len(vocabulary.types),
        "rare words not trained on": 0,
    }
    assert manifest["files"] == {k: v for k, v in contents(study).items() if k != "manifest.json"}
    assert manifest["fingerprint"] == languages_fingerprint(
        SOURCE.corpus_fingerprint, TRANSFORMS, SIZE, DictionaryConfig()
    )
    for transform in TRANSFORMS:
        alone = languages_fingerprint(SOURCE.corpus_fingerprint, [transform], SIZE, DictionaryConfig())
        assert manifest["languages"][transform.name]["fingerprint"] == alone


def test_the_fingerprint_changes_with_each_input() -> None:
    base = (SOURCE, TRANSFORMS, SIZE, DictionaryConfig())
    others = [
        (PocketEnglish(language=Pocket(types=300, seed=1), size=2_500, pos=FEW, ner=FEW, nli=FEW), *base[1:]),
        (SOURCE, TRANSFORMS[:2], SIZE, DictionaryConfig()),
        (SOURCE, TRANSFORMS, SIZE + 1, DictionaryConfig()),
        (SOURCE, TRANSFORMS, SIZE, DictionaryConfig(seed=1)),
    ]
    prints = {languages_fingerprint(source.corpus_fingerprint, *inputs) for source, *inputs in [base, *others]}
    assert len(prints) == 5


@dataclass(frozen=True)
class Lines(Source):
    """Lines as sentences of words, one chunk, no tasks."""

    lines: tuple[str, ...]
    title = "lines"

    def chunks(self) -> list[int]:
        return [0]

    def sentences(self, chunk: int) -> tuple[list[Sentence], Counter[str]]:
        return [Sentence(tuple(line.split())) for line in self.lines], Counter({"tables": 2})

    tasks = ()

    def task_data(self, task: str) -> TaskData:
        raise KeyError(task)

    def corpus_fingerprint(self, trees: bool = False) -> str:
        return " ".join(self.lines)

    def task_fingerprint(self, task: str, trees: bool = False) -> str:
        raise KeyError(task)


@dataclass(frozen=True)
class Twice(Lines):
    """The lines as two chunks."""

    def chunks(self) -> list[int]:
        return [0, 1]


@dataclass(frozen=True)
class Named(Transform):
    """A transform of any name."""

    given: str

    @property
    def name(self) -> str:
        return self.given

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        return sentence


@pytest.mark.parametrize(
    ("lines", "size", "transforms", "what"),
    [
        (("a b",), 1_000, (Invert(),), "ask for at most"),
        (("",), 300, (Invert(),), "no words"),
        (("a b",), 261, (Transliterate(), Transliterate(seed=1)), "different names"),
        (("a b",), 261, (Named("preview.txt"),), "none of them source or vocabulary or .* or preview.txt"),
        (("a b",), 261, (Named("vocabulary"),), "none of them source or vocabulary"),
        (("a b",), 261, (Named("../b"),), "'../b'; expected letters, digits, dashes, dots and underscores"),
        (("a b",), 261, (compose(Transliterate(), Transliterate()),), "trans.trans changes the script twice"),
        (("a " * 70_000,), 261, (Invert(),), "a sentence of 70,000 words"),
        (("a b", "é" * 70_000), 261, (Invert(),), "a word of 140,001 sub-words"),
    ],
)
def test_unusable_input_leaves_nothing(
    tmp_path: Path, lines: tuple[str, ...], size: int, transforms: tuple[Transform, ...], what: str
) -> None:
    with pytest.raises(BadInput, match=what):
        derive_languages(Lines(lines), transforms, size, DictionaryConfig(), tmp_path / "study", tmp_path / "cache")
    assert list(tmp_path.iterdir()) == []


def test_long_words_are_forgotten() -> None:
    words = Counter({"a" * 1_001: 2, "b" * 1_000: 3, "c": 1})
    assert forget_long(words) == 2
    assert words == {"b" * 1_000: 3, "c": 1}


@dataclass(frozen=True)
class Many(Lines):
    """The lines again and again, in many chunks."""

    times: int = 1

    def chunks(self) -> list[int]:
        return list(range(self.times))


def test_memory_does_not_grow_with_the_text(tmp_path: Path) -> None:
    lines, peaks = tuple(f"w{i} x{i % 7} y{i % 90}" for i in range(300)), []
    for times in (5, 5, 30):  # the first loads what is loaded once
        tracemalloc.start()
        derive_languages(
            Many(lines, times), (Invert(),), 300, DictionaryConfig(), tmp_path / "study", tmp_path / "cache"
        )
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.05 * peaks[1]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk_leaves_the_study_before_it_untouched(study: Path, tmp_path: Path, workers: int) -> None:
    folder = derive_languages(
        Lines(("a b",)), (Invert(),), 262, DictionaryConfig(), tmp_path / "study", tmp_path / "cache"
    )
    before = contents(folder)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            derive_languages(SOURCE, TRANSFORMS, SIZE, DictionaryConfig(), folder, tmp_path / "cache", workers)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert contents(folder) == before
    assert list(tmp_path.iterdir()) == [folder]


class HalfAlone(Twice):
    """Only the second chunk has images."""

    def has_images(self, chunk: object) -> bool:
        return chunk == 1


def test_sentences_of_the_source_alone_are_counted_and_have_no_line_in_other_languages(tmp_path: Path) -> None:
    source = HalfAlone(("a b", "c d e"))
    folder = derive_languages(source, (Invert(),), 262, DictionaryConfig(), tmp_path / "study", tmp_path)
    rows = json.loads((folder / "manifest.json").read_text())["languages"]
    assert rows["source"]["out"]["sentences"] == 4 and rows["inv"]["out"]["sentences"] == 2
    assert rows["inv"]["left out"]["sentences of the source alone"] == 2
    assert Corpus.open(folder / "inv").source_line.tolist() == [2, 3]
