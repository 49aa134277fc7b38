import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from calque.derive.errors import BadInput
from calque.derive.pocket.language import Pocket
from calque.derive.vocabulary import SPECIALS, Specials, open_vocabulary
from tests.vocabularies import learn

SIZE = 600
LINES = [list(s.words) for s in Pocket().sentences(2_000)] + [["naïve", "日本", "<s>", "it's", "a<mask>b"]]


@pytest.fixture(scope="module")
def vocabulary():
    return learn(LINES, SIZE)


@pytest.fixture(scope="module")
def saved(vocabulary, tmp_path_factory):
    folder = tmp_path_factory.mktemp("vocabulary")
    vocabulary.save(folder)
    return folder


words = st.text(min_size=1, max_size=8).filter(lambda word: word.split() == [word])


def test_merges_equal_training_on_the_lines(saved):
    reference = Tokenizer(models.BPE())
    reference.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE,
        special_tokens=list(SPECIALS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    reference.train_from_iterator([" ".join(line) for line in LINES], trainer)
    ours = json.loads((saved / "tokenizer.json").read_text())["model"]
    assert ours["merges"] == json.loads(reference.to_str())["model"]["merges"]


def test_transformers_gives_the_same_ids(vocabulary, saved):
    fast = PreTrainedTokenizerFast(tokenizer_file=str(saved / "tokenizer.json"))
    for line in LINES[:200]:
        ids = [i for word in line for i in vocabulary.encode(word)]
        assert fast(" ".join(line), add_special_tokens=False).input_ids == ids
        assert fast(" ".join(line)).input_ids == [0, *ids, 2]
    a, b = vocabulary.encode("the"), vocabulary.encode("dog")
    assert fast("the", "dog").input_ids == [0, *a, 2, 2, *b, 2]
    assert fast.decode(fast("the dog").input_ids, skip_special_tokens=True).split() == ["the", "dog"]
    assert vocabulary.text([0, *a, 2]).split() == ["<s>", "the</s>"]


@settings(max_examples=300)
@given(st.lists(words, min_size=1, max_size=5))
def test_encoding_round_trips(vocabulary, line):
    assert vocabulary.text(i for word in line for i in vocabulary.encode(word)) == " ".join(line)


def test_special_types_of_given_tokenizers(tmp_path):
    """BERT's pieces may include RoBERTa's special names, and a tokenizer may contain both kinds."""
    berts = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    names = [*berts, "<s>", "</s>", "<pad>", "<unk>", "<mask>", "a"]
    tokenizer = Tokenizer(models.WordPiece({name: i for i, name in enumerate(names)}, unk_token="[UNK]"))

    def given(*special):
        tokenizer.add_special_tokens(list(special))
        tokenizer.save(str(tmp_path / "tokenizer.json"))
        return open_vocabulary(tmp_path)

    roberta = given()
    assert roberta.specials == Specials(start=5, pad=7, end=6, unknown=8, mask=9)
    bert = given(*berts, "<s>")
    assert bert.specials == Specials(start=2, pad=0, end=3, unknown=1, mask=4, others=(5,))
    assert bert.is_bert and not roberta.is_bert
    Tokenizer(models.WordLevel({"<s>": 0, "a": 1}, "a")).save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(BadInput, match=r"tokenizer\.json: this tokenizer lacks a special type"):
        open_vocabulary(tmp_path)


@pytest.mark.parametrize("room", [0, 50, 1 << 19])
def test_words_are_encoded_alike_one_by_one_and_together(vocabulary, room, monkeypatch):
    monkeypatch.setattr(vocabulary, "room", room)
    for start in range(0, len(LINES), 100):
        flat = [word for line in LINES[start : start + 100] for word in line]
        ids, pieces = vocabulary.encode_words(flat)
        assert ids.tolist() == [i for word in flat for i in vocabulary.encode(word)]
        assert pieces.tolist() == [len(vocabulary.encode(word)) for word in flat]
    assert vocabulary.encode_words([])[0].tolist() == []
