from collections import Counter
from dataclasses import dataclass

import numpy as np
import pytest

from calque.derive.build import ChunkEncoder, Derivation, derive_languages
from calque.derive.corpus import Corpus
from calque.derive.dictionary import DictionaryConfig
from calque.derive.errors import BadInput
from calque.derive.files import Artefact
from calque.derive.fingerprint import sha256
from calque.derive.languages import KIND
from calque.derive.order import Invert, Permute
from calque.derive.pocket.language import Pocket, PocketEnglish, Sizes
from calque.derive.sentence import Sentence
from calque.derive.source import Source
from calque.derive.sources.files import Files
from calque.derive.transform import Transform, compose
from calque.derive.transforms import Transliterate
from calque.derive.vocabulary import Vocabulary

FEW = Sizes(40, 10, 20)
SOURCE = PocketEnglish(language=Pocket(types=300), size=2_500, pos=FEW, ner=FEW)
TRANSFORMS = (Transliterate(), compose(Transliterate(0.5), Invert()), Permute(3), Invert(0.5))
SIZE = 600


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studies")
    return derive_languages(Derivation(SOURCE, TRANSFORMS, SIZE), folder / "study", folder / "cache")


def numbered(source):
    for index, chunk in enumerate(source.chunks()):
        for place, sentence in enumerate(source.sentences(chunk)[0]):
            if sentence.words:
                yield (index << 32) + place, sentence


def contents(folder):
    return {str(path.relative_to(folder)): sha256(path) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("transform", TRANSFORMS, ids=lambda x: x.name)
def test_derived_corpus_equals_its_sentences(study, transform):
    vocabulary = Vocabulary.load(study / "vocabulary")
    image = np.load(study / transform.name / "image.npy")
    source, derived = Corpus.open(study / "source"), Corpus.open(study / transform.name)
    assert np.array_equal(image, transform.image(SIZE))
    assert len(source) == len(derived) == 2_500
    for line, (number, sentence) in enumerate(numbered(SOURCE)):
        after = transform(sentence, number)
        assert source[line].tolist() == [i for word in sentence.words for i in vocabulary.encode(word)]
        assert derived[line].tolist() == [
            int(image[i]) for word in after.words for i in vocabulary.encode(word)
        ]
        assert tuple(derived.origin[line].tolist()) == after.origin
    assert np.array_equal(derived.source_line, np.arange(2_500))
    assert derived.tokens.values.dtype == np.uint16


def test_output_does_not_depend_on_the_number_of_workers(study, tmp_path):
    derive_languages(Derivation(SOURCE, TRANSFORMS, SIZE), tmp_path / "study", tmp_path / "cache", workers=3)
    assert contents(tmp_path / "study") == contents(study)


@dataclass(frozen=True)
class Lines(Source):
    lines: tuple[str, ...]
    title = "lines"

    def chunks(self):
        return [0]

    def sentences(self, chunk):
        return [Sentence(tuple(line.split())) for line in self.lines], Counter({"tables": 2})

    tasks = ()

    def task_data(self, task):
        raise KeyError(task)

    def corpus_fingerprint(self, trees=False):
        return " ".join(self.lines)

    def task_fingerprint(self, task, trees=False):
        raise KeyError(task)


@dataclass(frozen=True)
class Named(Transform):
    given: str

    @property
    def name(self):
        return self.given

    def __call__(self, sentence, number=0):
        return sentence


@pytest.mark.parametrize(
    ("lines", "size", "transforms", "what"),
    [
        (("a b",), 1_000, (Invert(),), "reduce the size to at most"),
        (("",), 300, (Invert(),), "no words"),
        (
            ("a b",),
            261,
            (Transliterate(), Transliterate(seed=1)),
            "the transform trans is reserved or used twice",
        ),
        (("a b",), 261, (Named("preview.txt"),), "preview.txt is reserved or used twice"),
        (("a b",), 261, (Named("vocabulary"),), "vocabulary is reserved or used twice"),
        (("a b",), 261, (Named("../b"),), "'../b' is invalid; use only letters"),
        (("a b",), 261, (compose(Transliterate(), Transliterate()),), "trans.trans changes the script twice"),
        (("a " * 70_000,), 261, (Invert(),), "a sentence contains 70,000 words"),
        (("a b", "é" * 70_000), 261, (Invert(),), "a word consists of 140,001 sub-words"),
    ],
)
def test_unusable_input_leaves_nothing(tmp_path, lines, size, transforms, what):
    with pytest.raises(BadInput, match=what):
        derive_languages(Derivation(Lines(lines), transforms, size), tmp_path / "study", tmp_path / "cache")
    assert list(tmp_path.iterdir()) == []


def test_workers_refuse_users_code_that_has_changed(tmp_path):
    encoder = ChunkEncoder(SOURCE, (), tmp_path, {"my_study.py": "digest"})
    with pytest.raises(BadInput, match=r"my_study\.py: this file changed"):
        encoder.encode(next(iter(encoder.chunks())))


def test_fingerprints_belong_to_the_files_at_the_start(tmp_path):
    path = tmp_path / "text"
    path.write_text("The cat sleeps.\n")
    inputs = Files((path,)), (Invert(),), 270, DictionaryConfig()
    expected = Derivation(*inputs).fingerprint("source")

    def edit(what, done, total):
        if what == "encoding" and done == total:
            path.write_text("The dog sleeps.\n")

    folder = derive_languages(Derivation(*inputs), tmp_path / "study", tmp_path, progress=edit)
    assert Artefact.open(folder, KIND).facts["languages"]["source"]["fingerprint"] == expected
