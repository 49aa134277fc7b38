import json
from itertools import islice

import pytest
from transformers import AutoTokenizer

from calque.derive.corpus import Corpus
from calque.derive.pocket.language import Pocket
from calque.derive.types import OURS
from calque.derive.vocabulary import TOKENIZER, Vocabulary
from calque.pretrain.saved_tokenizer import write_tokenizer


@pytest.fixture
def checkpoint(several, tmp_path):
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "roberta", "vocab_size": 800}))
    write_tokenizer(several / "vocabulary" / TOKENIZER, folder, OURS, 64)
    return folder


def test_saved_tokenizer_gives_the_corpus_ids(checkpoint, several):
    tokenizer, vocabulary = AutoTokenizer.from_pretrained(checkpoint), Vocabulary.load(several / "vocabulary")
    corpus = Corpus.open(several / "source")
    sentences = [sentence.words for sentence in islice(Pocket(types=300).sentences(400, 0), 400)]
    assert {tuple(corpus[line].tolist()) for line in range(len(corpus))} <= {
        tuple(tokenizer(" ".join(words), add_special_tokens=False).input_ids) for words in sentences
    }
    for words in islice((s.words for s in Pocket(types=300).sentences(2000, 5)), 2000):
        ids = [piece for word in words for piece in vocabulary.encode(word)]
        assert tokenizer(" ".join(words)).input_ids == [OURS.start, *ids, OURS.end]
