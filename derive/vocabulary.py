"""The source language's sub-word vocabulary: byte-level BPE in which a word has one encoding."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice, repeat
from pathlib import Path

import numpy as np
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors, trainers
from tokenizers.decoders import ByteLevel as Bytes

from derive.errors import BadInput
from derive.types import END, FIRST, SPECIALS, START

SMALLEST = FIRST + len(pre_tokenizers.ByteLevel.alphabet())
"""A vocabulary holds the special types and all 256 bytes, so that no text is unknown to it."""

Counts = Mapping[str, int]


class Vocabulary:
    """The types of a source language and how often its corpus uses them.

    A word is encoded with a leading space wherever it stands, so its encoding depends on nothing but
    itself. Text that looks like a special token (a literal `<s>`) is ordinary text.

    Attributes:
        size: V, the number of types, special ones included.
        counts: (V,) int64, occurrences in the corpus that the vocabulary was trained on.
    """

    def __init__(self, tokenizer: Tokenizer, counts: np.ndarray) -> None:
        self._tokenizer = tokenizer
        self._plain = _without_specials(tokenizer)
        self._cache: dict[str, tuple[int, ...]] = {}
        self.counts = counts
        self.size: int = tokenizer.get_vocab_size()

    @classmethod
    def train(cls, sentences: Iterable[Sequence[str]], size: int) -> Vocabulary:
        """Learn `size` types from sentences of words.

        Raises:
            BadInput: the corpus does not support so many types, or `size` leaves out bytes.
        """
        return cls.of_words(Counter(chain.from_iterable(sentences)), size)

    @classmethod
    def of_words(cls, words: Counts, size: int) -> Vocabulary:
        """Learn `size` types from the distinct words of a corpus and how often each occurs.

        BPE looks at words and their counts alone, so the merges are those of training on the lines.

        Raises:
            BadInput: as `train`.
        """
        if size < SMALLEST:
            raise BadInput(f"a vocabulary of {size:,} types: {SMALLEST} (special types and bytes) is the smallest")
        if not words:
            raise BadInput("no words to learn a vocabulary from")
        tokenizer = _train(words, size)
        if tokenizer.get_vocab_size() < size:
            reach = tokenizer.get_vocab_size()
            raise BadInput(
                f"a vocabulary of {size:,} types is more than the corpus supports: its {len(words):,} distinct words "
                f"({sum(words.values()):,} in all) reach {reach:,}; ask for at most {reach:,} or give more text"
            )
        vocabulary = cls(tokenizer, np.zeros(size, dtype=np.int64))
        ids, pieces = vocabulary.encode_all(list(words))
        often = np.fromiter(words.values(), np.int64, len(words))
        np.add.at(vocabulary.counts, ids, np.repeat(often, pieces))
        return vocabulary

    @property
    def types(self) -> np.ndarray:
        """Ascending ids of the types that the corpus uses: neither special nor unseen, int64."""
        return np.flatnonzero(self.counts[FIRST:]) + FIRST

    def encode(self, word: str) -> tuple[int, ...]:
        """The word's ids.

        Raises:
            ValueError: the word is nothing but white space.
        """
        if word not in self._cache:
            ids, _ = self.encode_all([word])
            self._cache[word] = tuple(ids.tolist())
        return self._cache[word]

    def encode_all(self, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The words' ids in one row, and how many each has: ((T,), (len(words),)) int64.

        Raises:
            ValueError: a word is nothing but white space.
        """
        encoded = [encoding.ids for encoding in self._plain.encode_batch_fast(words, add_special_tokens=False)]
        pieces = np.fromiter(map(len, encoded), np.int64, len(encoded))
        if not pieces.all():
            raise ValueError(f"{words[int(pieces.argmin())]!r} is no word: it holds nothing but white space")
        return np.fromiter(chain.from_iterable(encoded), np.int64, int(pieces.sum())), pieces

    def text(self, ids: Iterable[int]) -> str:
        """The text of source ids, special types included; words are separated by one space."""
        return str(self._tokenizer.decode([int(i) for i in ids], skip_special_tokens=False)).removeprefix(" ")

    def spelling(self, type_id: int) -> str:
        """A type as the tokenizer writes it: a letter a byte, `Ġ` for the space before a word."""
        return str(self._tokenizer.id_to_token(type_id))

    def save(self, folder: Path) -> None:
        """Write `tokenizer.json`, which transformers loads as it is, and `counts.npy`."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tokenizer.json").write_text(self._tokenizer.to_str(pretty=True), encoding="utf-8")
        np.save(folder / "counts.npy", self.counts)

    @classmethod
    def load(cls, folder: Path) -> Vocabulary:
        """Read what `save` wrote.

        Raises:
            BadInput: a file is missing or damaged, or its special types are not Calque's.
        """
        path = folder / "tokenizer.json"
        try:
            tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
            counts = np.load(folder / "counts.npy", allow_pickle=False)
        except OSError as error:
            raise BadInput(f"no vocabulary here: {error.strerror}", error.filename) from error
        except Exception as error:  # tokenizers raises bare Exception for whatever it cannot parse
            raise BadInput(f"a damaged vocabulary: {error}", folder) from error
        if tuple(tokenizer.id_to_token(i) for i in range(FIRST)) != SPECIALS:
            raise BadInput(f"the first ids are not {' '.join(SPECIALS)}", path)
        if counts.shape != (tokenizer.get_vocab_size(),):
            raise BadInput(f"{counts.shape} counts for {tokenizer.get_vocab_size()} types", folder / "counts.npy")
        return cls(tokenizer, counts)


class WordTable:
    """Encodings of the words seen so far: each distinct word is encoded once, and text is a gather.

    It forgets all words and starts again when it holds more than `room`, so that its memory does not
    grow with the corpus.
    """

    def __init__(self, vocabulary: Vocabulary, room: int = 1 << 19) -> None:
        self._vocabulary, self._room = vocabulary, room
        self.size = vocabulary.size
        self._clear()

    def _clear(self) -> None:
        self._rows: defaultdict[str, int] = defaultdict()
        self._rows.default_factory = self._rows.__len__  # a new word gets the next row
        self._ids = np.zeros(0, np.int64)
        self._pieces = np.zeros(0, np.int64)

    def encode(self, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """As `Vocabulary.encode_all`: ids in one row, and how many each word has."""
        if len(self._rows) > self._room:
            self._clear()
        known = len(self._rows)
        rows = np.fromiter(map(self._rows.__getitem__, words), np.int64, len(words))
        if len(self._rows) > known:
            ids, pieces = self._vocabulary.encode_all(list(islice(self._rows, known, None)))
            self._ids = np.concatenate([self._ids, ids])
            self._pieces = np.concatenate([self._pieces, pieces])
        return gather(self._ids, self._pieces, rows), self._pieces[rows]


def gather(ids: np.ndarray, pieces: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The ids of the words `rows`, where `ids` (T,) holds the words one after the other, `pieces` ids each."""
    starts = np.cumsum(pieces, dtype=np.int64) - pieces
    wanted = pieces[rows].astype(np.int64)
    ends = np.cumsum(wanted)
    total = int(ends[-1]) if len(ends) else 0
    return ids[np.repeat(starts[rows] - ends + wanted, wanted) + np.arange(total)]


def _train(words: Counts, size: int) -> Tokenizer:
    spell = pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)
    parts = ((spell.pre_tokenize_str(part)[0][0], words[word]) for word in sorted(words) for part in word.split())
    tokenizer = Tokenizer(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIALS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    # The trainer has no way to take a count, so words go in as often as they occur: spelt already, and
    # many to a line, which takes two thirds of the time of one to a line.
    every = chain.from_iterable(repeat(part, often) for part, often in parts)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.train_from_iterator(iter(lambda: " ".join(islice(every, 200)), ""), trainer)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), spell])
    tokenizer.decoder = Bytes()
    start, end = SPECIALS[START], SPECIALS[END]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{start} $A {end}",
        pair=f"{start} $A {end} {end} $B {end}",
        special_tokens=[(start, START), (end, END)],
    )
    # `<mask>` takes the space before it along, as RoBERTa's does.
    tokenizer.add_special_tokens([AddedToken(t, lstrip=t == "<mask>", special=True) for t in SPECIALS])
    return tokenizer


def _without_specials(tokenizer: Tokenizer) -> Tokenizer:
    """A tokenizer with the same model for which `<s>` in a text is three ordinary characters."""
    plain = Tokenizer(models.BPE())
    state = json.loads(tokenizer.to_str())
    state["added_tokens"] = []
    return plain.from_str(json.dumps(state))
