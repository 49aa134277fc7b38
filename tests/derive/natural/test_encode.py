"""Lines as ids: exactly those that the tokenizer gives for the whole line, and words that white space separates."""

import os
from collections import Counter
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from derive.corpus import Shard
from derive.natural.build import encode_lines
from derive.natural.text import TextFiles
from derive.types import Specials
from derive.vocabulary import GivenVocabulary, Vocabulary
from tests.derive.test_spelling import PIECES, given_vocabulary

REAL = {
    "en": "nli/xnli/dev-en.tsv",
    "fr": "ud/UD_French-PUD/fr_pud-ud-test.conllu",
    "zh": "nli/xnli/dev-zh.tsv",
    "ja": "ner/panx/dev-ja.tsv",
    "hi": "ud/UD_Hindi-PUD/hi_pud-ud-test.conllu",
    "th": "nli/xnli/dev-th.tsv",
    "ar": "nli/xnli/dev-ar.tsv",
    "ko": "ud/UD_Korean-PUD/ko_pud-ud-test.conllu",
}
SPECIALS = Specials(0, 1, 2, 3, 4)
ODD = "a bé ́x ﾞy  ︎z a\u00a0b c\u3000d \u0600e f\u200bg <s> ''' ... ｶﾞ ﷺ है ¨ ´u ‾ ` \U0001f44d \U0001f3fd"
"""Marks that join what stands before them, white space of other kinds, and a special type's name."""


def byte_level(spaced: bool) -> Vocabulary:
    """A tokenizer as RoBERTa's, to which a line's first word may be another than the same word after a space."""
    names = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    ids = {name: i for i, name in enumerate([*names, "Ġa", "Ġb", "th", "Ġth"])}
    merges = [("Ġ", "a"), ("Ġ", "b"), ("t", "h"), ("Ġ", "th")]
    tokenizer = Tokenizer(models.BPE(ids, merges))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(spaced), decoders.ByteLevel()
    tokenizer.add_special_tokens(names[:5])
    return Vocabulary(tokenizer, np.zeros(len(ids), np.int64), SPECIALS)


def of_kind(kind: str) -> Vocabulary:
    tokenizer = given_vocabulary(kind)
    ids = [tokenizer.token_to_id(name) for name in ("<s>", "<pad>", "</s>", "<unk>", "<mask>")]
    if kind == "wordpiece":
        ids = [tokenizer.token_to_id(f"[{name}]") for name in ("CLS", "PAD", "SEP", "UNK", "MASK")]
    return Vocabulary(tokenizer, np.zeros(tokenizer.get_vocab_size(), np.int64), Specials(*ids))


def across_words() -> Vocabulary:
    """A tokenizer that does not part text at spaces: `b▁a` is a type."""
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("<mask>", 0.0), ("b▁a", -0.5), ("▁", -2.0)]
    tokenizer = Tokenizer(models.Unigram([*pieces, *((piece, -3.0) for piece in PIECES)], 3, False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=False)
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    return Vocabulary(tokenizer, np.zeros(tokenizer.get_vocab_size(), np.int64), SPECIALS)


def with_spaces() -> Vocabulary:
    """A tokenizer that writes a space for U+FFFD, and one for several, as XLM-R's."""
    vocabulary = of_kind("unigram")
    tokenizer = Tokenizer.from_str(vocabulary._tokenizer.to_str())
    written = (normalizers.Replace("\ufffd", " "), normalizers.Replace(Regex(" {2,}"), " "))
    tokenizer.normalizer = normalizers.Sequence(list(written))
    return Vocabulary(tokenizer, vocabulary.counts, vocabulary.specials)


ALL = {
    "bytes": byte_level(False),
    "spaced bytes": byte_level(True),
    "unigram": of_kind("unigram"),
    "wordpiece": of_kind("wordpiece"),
    "across words": across_words(),
    "spaces": with_spaces(),
}


def expected(vocabulary: Vocabulary, lines: list[str]) -> list[list[int]]:
    """Each line's ids, by the tokenizer alone."""
    made = [encoding.ids for encoding in vocabulary.encode_texts(lines)]
    return [vocabulary.as_text(np.array(ids, np.int64)).tolist() for ids in made]


def lengths(made: Shard) -> np.ndarray:
    """How many ids each line has, (N,)."""
    ends = np.concatenate([[0], np.cumsum(made.pieces)])
    return np.diff(ends[np.concatenate([[0], np.cumsum(made.words)])])


@pytest.mark.parametrize("kind", ALL)
@example(lines=["< \u3000<", "", "a  b"])
@example(lines=["a b\ufffd", "b\ufffd a", "a \ufffd"])
@given(lines=st.lists(st.text(st.sampled_from(ODD + "abth   "), max_size=30), max_size=8))
def test_lines_have_the_ids_of_the_whole_line(kind: str, lines: list[str]) -> None:
    lines = [line.strip() for line in lines]
    made = encode_lines(ALL[kind], lines)
    ends = np.cumsum(lengths(made))
    assert [ids.tolist() for ids in np.split(made.ids, ends[:-1])][: len(lines)] == expected(ALL[kind], lines)
    assert made.pieces.sum() == len(made.ids) and (made.pieces > 0).all()
    assert all(words <= len(line.split()) for words, line in zip(made.words.tolist(), lines, strict=True))


def test_ids_belong_to_the_words_that_white_space_separates() -> None:
    made = encode_lines(ALL["bytes"], ["a th\u3000b", "thth"])
    assert (made.pieces.tolist(), made.words.tolist()) == ([1, 1, 4, 2], [3, 1])
    across = encode_lines(ALL["across words"], ["b a"])  # `▁`, and `b▁a`, which ends in the second word
    assert (across.pieces.tolist(), across.words.tolist()) == ([1, 1], [2])


@pytest.fixture(scope="module")
def real() -> tuple[Vocabulary, Any]:
    """The encoder's tokenizer, ours and that of transformers."""
    folder = os.environ.get("CALQUE_ENCODER")
    if not folder or not (Path(folder) / "tokenizer.json").is_file():
        pytest.skip("CALQUE_ENCODER names no folder of an encoder")
    from transformers import AutoTokenizer

    return GivenVocabulary(Path(folder)).open(), AutoTokenizer.from_pretrained(folder)


def test_what_the_tokenizer_takes_for_a_space_ends_a_line_otherwise_than_a_word(real: tuple[Vocabulary, Any]) -> None:
    """XLM-R's normalizer writes a space for U+FFFD, which web text is full of, and for its own mark of a space."""
    vocabulary, tokenizer = real
    lines = [line.format(mark) for mark in "\ufffd\u2581" for line in ("a b{}", "b{} a", "a {}", "{}b a", "a {}\u0301")]
    made = encode_lines(vocabulary, lines)
    assert made.ids.tolist() == list(chain.from_iterable(tokenizer(lines, add_special_tokens=False).input_ids))


@pytest.mark.parametrize("language", REAL)
def test_real_text_has_the_ids_that_transformers_gives_it(
    language: str, real: tuple[Vocabulary, Any], calque_data: Path
) -> None:
    vocabulary, tokenizer = real
    pieces = TextFiles((calque_data / REAL[language],)).pieces()
    lines = list(islice((line for piece in pieces for line in piece.columns(Counter())[0]), 400))
    made, theirs = encode_lines(vocabulary, lines), tokenizer(lines, add_special_tokens=False).input_ids
    assert made.ids.tolist() == list(chain.from_iterable(theirs))
    assert lengths(made).tolist() == list(map(len, theirs))
    assert made.words.tolist() == [len(line.split()) for line in lines]
    (printed,) = tokenizer.batch_decode([theirs[0]])
    assert "".join(printed.split()) == "".join(tokenizer.backend_tokenizer.normalizer.normalize_str(lines[0]).split())
