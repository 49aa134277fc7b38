import json
from itertools import islice

import pytest
from transformers import AutoTokenizer

from calque.derive.corpus import Corpus
from calque.derive.order import Invert
from calque.derive.pocket.language import Pocket
from calque.derive.script import Transliterate
from calque.derive.transform import compose
from calque.derive.types import OURS
from calque.derive.vocabulary import TOKENIZER, Vocabulary
from calque.pretrain.saved_tokenizer import write_tokenizer
from tests.pocket import derive_pocket

TRANSFORMS = (Invert(), compose(Transliterate(), Invert()), Transliterate(0.25))


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return derive_pocket(tmp_path_factory.mktemp("tokenizer"), *TRANSFORMS, sentences=500, types=400)


@pytest.fixture
def checkpoint(data, tmp_path):
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "roberta", "vocab_size": 800}))
    write_tokenizer(data / "vocabulary" / TOKENIZER, folder, OURS, 64)
    return folder


def test_saved_tokenizer_gives_the_corpus_ids(checkpoint, data):
    tokenizer, vocabulary = AutoTokenizer.from_pretrained(checkpoint), Vocabulary.load(data / "vocabulary")
    corpus = Corpus.open(data / "source")
    sentences = [sentence.words for sentence in islice(Pocket(types=300).sentences(500, 0), 500)]
    assert {tuple(corpus[line].tolist()) for line in range(len(corpus))} <= {
        tuple(tokenizer(" ".join(words), add_special_tokens=False).input_ids) for words in sentences
    }
    for words in islice((s.words for s in Pocket(types=300).sentences(2000, 5)), 2000):
        ids = [piece for word in words for piece in vocabulary.encode(word)]
        assert tokenizer(" ".join(words)).input_ids == [OURS.start, *ids, OURS.end]
