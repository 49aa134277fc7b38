import json
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from tokenizers.decoders import Metaspace, WordPiece

from calque.derive.pocket.language import Pocket
from calque.derive.transform import Transform
from calque.derive.transforms import Transliterate, letters_of
from calque.derive.vocabulary import Vocabulary
from calque.pretrain.saved_model import derived_tokenizer
from tests.vocabularies import learn

SENTENCES = [list(one.words) for one in islice(Pocket(types=300).sentences(60), 60)]
PIECES = sorted({letter for sentence in SENTENCES for word in sentence for letter in word.lower()})


@dataclass(frozen=True)
class Cipher(Transform):
    circle: str
    name = "cipher"

    def __call__(self, sentence, number=0):
        return sentence

    def spell(self, word):
        return word.translate(str.maketrans(self.circle, self.circle[1:] + self.circle[:1]))


@pytest.fixture(scope="module")
def vocabulary():
    return learn(SENTENCES, 300)


def given_vocabulary(kind):
    if kind == "wordpiece":
        names = ["[PAD]", *PIECES, *(f"##{piece}" for piece in PIECES), "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        tokenizer = Tokenizer(models.WordPiece({name: i for i, name in enumerate(names)}, unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.Lowercase()
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = WordPiece(cleanup=False)
        tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
        return tokenizer
    specials = [(name, 0.0) for name in ("<s>", "<pad>", "</s>", "<unk>")]
    letters = [(piece, -3.0) for piece in PIECES]
    pieces = [*specials, ("\u2581", -2.0), *letters, ("\u2581the", -1.0), ("<mask>", 0.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, 3, False))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    return tokenizer


@pytest.mark.parametrize("kind", ["learnt", "wordpiece", "unigram"])
@pytest.mark.parametrize(
    "transform", [Transliterate(), Transliterate(0.25), Cipher("abcdefgh")], ids=lambda x: x.name
)
def test_derived_text_round_trips(kind, transform, vocabulary):
    plain = Tokenizer.from_str(vocabulary._tokenizer.to_str()) if kind == "learnt" else given_vocabulary(kind)
    size, specials = plain.get_vocab_size(), vocabulary.specials
    table = np.arange(size) + 2 * size  # the rows of the third of several languages
    special = [i for i, token in plain.get_added_tokens_decoder().items() if token.special]
    table[special] = special
    if transform.name == "trans-25" and kind == "learnt":
        table = transform.image(size, specials)
    letters = letters_of(transform, Vocabulary(plain, np.zeros(size, np.int64), specials))
    own = Tokenizer.from_str(json.dumps(derived_tokenizer(json.loads(plain.to_str()), table, letters)))
    for words in SENTENCES:
        text = " ".join(map(transform.spell, words))
        ids = plain.encode(" ".join(words)).ids
        assert own.encode(text).ids == table[ids].tolist()
        printed = own.decode(table[ids].tolist(), skip_special_tokens=True)
        expected = transform.spell(plain.decode(ids, skip_special_tokens=True))
        assert printed == expected
    for i in special:
        assert own.decode([i], skip_special_tokens=False) == plain.id_to_token(i)
        assert own.encode(plain.id_to_token(i), add_special_tokens=False).ids[-1:] == [i]
