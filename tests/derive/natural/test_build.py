import hypothesis
import numpy as np
import pytest
from hypothesis import example
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from calque.derive.files import Artefact
from calque.derive.languages import KIND, Languages
from calque.derive.natural import derive_natural, encode_lines, natural_fingerprint
from calque.derive.vocabulary import Specials, Vocabulary
from tests.derive.natural.made import EN, XX, inputs, vocabulary
from tests.derive.test_build import contents
from tests.derive.test_spelling import given_vocabulary


@pytest.fixture(scope="module", params=["unigram", "wordpiece"])
def given(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("natural")
    derive_natural(*inputs(folder), vocabulary(folder / "given", request.param), folder / "made")
    return folder


def test_lines_are_encoded_by_the_tokenizer(given):
    languages = Languages.open(given / "made", ["en", "xx"])
    tokenizer = Tokenizer.from_file(str(given / "given" / "tokenizer.json"))
    assert languages.rows == languages.size == len(languages.kept)
    for name, lines in (("en", EN), ("xx", XX)):
        corpus = languages[name].corpus
        assert len(corpus) == len(lines)
        for number, line in enumerate(lines):
            ids = tokenizer.encode(line, add_special_tokens=False).ids
            assert corpus[number].tolist() == ids
            assert languages.kept[languages[name].ids(corpus[number])].tolist() == ids
            assert len(corpus.pieces[number]) == len(line.split())
            assert corpus.pieces[number].sum() == len(ids)


def test_bitext_pairs_its_own_lines(given):
    languages = Languages.open(given / "made", ["xx", "en"])
    (bitext,) = languages.bitexts
    assert (bitext.first.name, bitext.second.name, len(bitext)) == ("en", "xx", 400) and not bitext.linked
    vocabulary, kept = languages.vocabulary, languages.kept
    for pair in (0, 99, 100, 399):
        ids = bitext.ids(pair)
        for side, lines in zip(ids, (EN, XX), strict=True):
            assert kept[side].tolist() == vocabulary.encode_words(lines[pair].split())[0].tolist()


def test_output_does_not_depend_on_the_number_of_workers(given, tmp_path):
    texts, bitexts = inputs(given)
    vocabulary = given / "given"
    derive_natural(texts, bitexts, vocabulary, tmp_path / "made", workers=3)
    assert contents(tmp_path / "made") == contents(given / "made")
    facts = Artefact.open(tmp_path / "made", KIND).facts
    assert facts["fingerprint"] == natural_fingerprint(texts, bitexts, vocabulary)


SPECIALS = Specials(0, 1, 2, 3, 4)
ODD = "a bé ́x ﾞy  ︎z a\u00a0b c\u3000d \u0600e f\u200bg <s> ''' ... ｶﾞ ﷺ है ¨ ´u ‾ ` \U0001f44d \U0001f3fd"
"""Combining marks, unusual white space, and a special type's name."""


def byte_level(spaced):
    """A tokenizer like RoBERTa's, where a line's first word may differ from the same word after a space."""
    names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    ids = {name: i for i, name in enumerate([*names, "Ġa", "Ġb", "th", "Ġth"])}
    merges = [("Ġ", "a"), ("Ġ", "b"), ("t", "h"), ("Ġ", "th")]
    tokenizer = Tokenizer(models.BPE(ids, merges))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(spaced), decoders.ByteLevel()
    tokenizer.add_special_tokens(names[:5])
    return Vocabulary(tokenizer, np.zeros(len(ids), np.int64), SPECIALS)


def of_kind(kind):
    tokenizer = given_vocabulary(kind)
    ids = [tokenizer.token_to_id(name) for name in ("<s>", "<pad>", "</s>", "<unk>", "<mask>")]
    if kind == "wordpiece":
        ids = [tokenizer.token_to_id(f"[{name}]") for name in ("CLS", "PAD", "SEP", "UNK", "MASK")]
    return Vocabulary(tokenizer, np.zeros(tokenizer.get_vocab_size(), np.int64), Specials(*ids))


ALL = {
    "bytes": byte_level(False),
    "spaced bytes": byte_level(True),
    "unigram": of_kind("unigram"),
    "wordpiece": of_kind("wordpiece"),
}


def expected(vocabulary, lines):
    made = [encoding.ids for encoding in vocabulary.encode_texts(lines)]
    return [vocabulary.as_text(np.array(ids, np.int64)).tolist() for ids in made]


@pytest.mark.parametrize("kind", ALL)
@example(lines=["< \u3000<", "", "a  b"])
@hypothesis.given(lines=st.lists(st.text(st.sampled_from(ODD + "abth   "), max_size=30), max_size=8))
def test_words_are_encoded_like_whole_lines(kind, lines):
    lines = [line.strip() for line in lines]
    made = encode_lines(ALL[kind], lines)
    assert [ids.tolist() for ids in made.tokens] == expected(ALL[kind], lines)
    assert (made.pieces.values > 0).all()
    sizes = made.pieces.sizes.tolist()
    assert all(words <= len(line.split()) for words, line in zip(sizes, lines, strict=True))
