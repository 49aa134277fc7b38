import json
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from transformers import AutoTokenizer

from calque.derive.build import derive_languages
from calque.derive.corpus import Corpus
from calque.derive.dictionary import DictionaryConfig
from calque.derive.languages import Languages
from calque.derive.order import Invert
from calque.derive.pocket.language import Pocket
from calque.derive.script import Transliterate
from calque.derive.sentence import Sentence
from calque.derive.sources.pocket import PocketEnglish, Sizes
from calque.derive.transform import Transform, compose
from calque.derive.types import OURS, Specials
from calque.derive.vocabulary import TOKENIZER, Vocabulary
from calque.pretrain.saved_tokenizer import TOKENIZERS, write_tokenizer, write_tokenizers

FEW = Sizes(10, 5, 5)


@dataclass(frozen=True)
class Homographs(Transform):
    """Every word is spelt as before, and is another type."""

    @property
    def name(self) -> str:
        return "homographs"

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        return sentence

    def image(self, size: int, specials: Specials = OURS) -> np.ndarray:
        return Transliterate().image(size, specials)


TRANSFORMS = (Invert(), compose(Transliterate(), Invert()), Transliterate(0.25), Homographs())


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tokenizer") / "data"
    source = PocketEnglish(Pocket(types=300), 500, FEW, FEW, FEW)
    return derive_languages(source, TRANSFORMS, 400, DictionaryConfig(), out, out.parent / "cache")


@pytest.fixture
def checkpoint(data: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    (folder / "config.json").write_text(
        json.dumps({"model_type": "roberta", "vocab_size": 800}), encoding="utf-8"
    )
    write_tokenizer(data / "vocabulary" / TOKENIZER, folder, OURS, 64)
    return folder


def test_ids_are_those_of_the_corpus(checkpoint: Path, data: Path) -> None:
    """Every sentence that the model learnt from, and many others; without a class in the config none is the
    same.
    """
    tokenizer, vocabulary = AutoTokenizer.from_pretrained(checkpoint), Vocabulary.load(data / "vocabulary")
    corpus = Corpus.open(data / "source")
    sentences = [sentence.words for sentence in islice(Pocket(types=300).sentences(500, 0), 500)]
    assert {tuple(corpus[line].tolist()) for line in range(len(corpus))} <= {
        tuple(tokenizer(" ".join(words), add_special_tokens=False).input_ids) for words in sentences
    }
    for words in islice((s.words for s in Pocket(types=300).sentences(2000, 5)), 2000):
        ids = [piece for word in words for piece in vocabulary.encode(word)]
        assert tokenizer(" ".join(words)).input_ids == [OURS.start, *ids, OURS.end]


@pytest.mark.parametrize("number", range(len(TRANSFORMS)))
def test_derived_text_gets_the_ids_of_the_derived_corpus_and_is_printed_again(
    data: Path, tmp_path: Path, number: int
) -> None:
    transform, languages = TRANSFORMS[number], Languages.open(data, [one.name for one in TRANSFORMS])
    write_tokenizers(languages, tmp_path, 64)
    tokenizer, language = (
        AutoTokenizer.from_pretrained(tmp_path / TOKENIZERS / transform.name),
        languages[transform.name],
    )
    source = PocketEnglish(Pocket(types=300), 500, FEW, FEW, FEW)
    sentences = [sentence for chunk in source.chunks() for sentence in source.sentences(chunk)[0]]
    assert len(sentences) == len(language.corpus) == 500
    for line, sentence in enumerate(sentences):
        spelt = " ".join(map(transform.spell, transform(sentence, line).words))
        ids = language.ids(language.corpus[line].astype(np.int64)).tolist()
        assert tokenizer(spelt).input_ids == [OURS.start, *ids, OURS.end]
        assert tokenizer.decode(ids).strip() == spelt
    assert tokenizer.mask_token_id == OURS.mask and tokenizer.model_max_length == 64
    assert tokenizer.decode([OURS.start, OURS.mask]) == "<s><mask>"
    same = (tmp_path / TOKENIZER).read_bytes() == (
        tmp_path / TOKENIZERS / transform.name / TOKENIZER
    ).read_bytes()
    assert same == (transform.name == "inv")
