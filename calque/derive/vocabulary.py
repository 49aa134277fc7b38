"""The vocabulary that languages share: byte-level BPE learnt from a corpus, or an existing tokenizer."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, Self

import numpy as np
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from calque.derive.errors import BadInput
from calque.derive.files import input_digest, parse_json, write_json
from calque.derive.fingerprint import fingerprint
from calque.derive.sentence import UNKNOWN


@dataclass(frozen=True)
class Specials:
    """The ids of a vocabulary's special types, which never occur in text; Calque ignores the `others`."""

    start: int
    pad: int
    end: int
    unknown: int
    mask: int
    others: tuple[int, ...] = ()

    @property
    def ids(self) -> tuple[int, ...]:
        return (self.start, self.pad, self.end, self.unknown, self.mask, *self.others)

    def ordinary(self, size: int) -> np.ndarray:
        """Return the ids below `size` that are not special, ascending, int64."""
        return np.delete(np.arange(size), self.ids)

    def is_ordinary(self, ids: np.ndarray) -> np.ndarray:
        """Whether each id is not special."""
        return np.logical_and.reduce([ids != special for special in self.ids])  # faster than np.isin


SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
OURS = Specials(*range(len(SPECIALS)))  # the special ids in vocabularies learnt by Calque

FILES = TOKENIZER, COUNTS, SPECIAL_TYPES = "tokenizer.json", "counts.npy", "specials.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
BERTS = ("[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]")  # the names of BERT's special types
SMALLEST = len(SPECIALS) + len(pre_tokenizers.ByteLevel.alphabet())
"""The minimum size of a vocabulary, which contains the special types and all 256 bytes."""
BETWEEN_WORDS = "[ \t\r\n]+"  # separates words; other white space (U+00A0, U+3000) is treated like letters
DISTINCT = 1 << 18  # maximum number of distinct words counted; each takes about a kilobyte
LONGEST_LEARNT = 1_000  # maximum length of training words, in characters; BPE takes quadratic time


class Vocabulary:
    """A vocabulary of `size` types, including `specials`, with their `counts` (V,). Each word is encoded as
    if it followed a space; `<s>` in text is an ordinary string."""

    room = 1 << 19  # number of distinct words after which the cache is cleared

    def __init__(self, tokenizer: Tokenizer, counts: np.ndarray, specials: Specials = OURS) -> None:
        self._tokenizer, self.counts, self.specials = tokenizer, counts, specials
        self._cache: dict[str, tuple[int, ...]] = {}  # the ids of each word
        self.size = len(counts)

    @property
    def is_bert(self) -> bool:
        """Whether rows of two texts have BERT's layout instead of RoBERTa's (see `Reader.row_of_texts`)."""
        return self.spelling(self.specials.start) == BERTS[0]

    @cached_property
    def _words(self) -> Tokenizer:
        words = self._tokenizer
        if words.padding or words.truncation:  # which `save` writes
            words = Tokenizer.from_str(words.to_str())
            words.no_padding()
            words.no_truncation()
        words.encode_special_tokens = True  # not written
        return words

    @property
    def types(self) -> np.ndarray:
        """The ids of all ordinary types that occur in the corpus, ascending, int64."""
        ordinary = self.specials.ordinary(self.size)
        return ordinary[self.counts[ordinary] > 0]

    @property
    def account(self) -> dict[str, int]:
        unseen = self.size - len(self.specials.ids) - len(self.types)
        return {"size": self.size, "types": len(self.types), "unseen types": unseen}

    def count(self, ids: np.ndarray) -> None:
        self.counts += np.bincount(ids, minlength=self.size)

    def encode(self, word: str) -> tuple[int, ...]:
        if word not in self._cache:
            self.encode_words([word])
        return self._cache[word]

    def encode_words(self, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the concatenated ids of all words (T,), and the number of ids per word. UNKNOWN and words
        without ids are encoded as the unknown type. Raises BadInput if the tokenizer fails."""
        if len(self._cache) > self.room:
            self._cache = {}
        special, unknown = set(self.specials.ids), self.specials.unknown
        new = [word for word in dict.fromkeys(words) if word not in self._cache]
        try:
            encodings = self._words.encode_batch_fast([f" {word}" for word in new], add_special_tokens=False)
        except Exception as error:  # tokenizers raises a bare Exception
            raise BadInput(f"the tokenizer cannot encode some words: {error}") from None
        for word, encoding in zip(new, encodings, strict=True):
            if not word.strip(" \t\r\n"):
                raise ValueError(f"{word!r} is not a word: it contains only white space")
            ids = () if word == UNKNOWN else (unknown if i in special else i for i in encoding.ids)
            self._cache[word] = tuple(ids) or (unknown,)
        encoded = [self._cache[word] for word in words]
        pieces = np.array(list(map(len, encoded)), np.int64)
        return np.array(list(chain.from_iterable(encoded)), np.int64), pieces

    def encode_texts(self, texts: Sequence[str]) -> list[Any]:
        """Return the encodings of texts, with character offsets but without special types."""
        return list(self._words.encode_batch(texts, add_special_tokens=False))

    def as_text(self, ids: np.ndarray) -> np.ndarray:
        """Replace special types, which must not occur in text, with the unknown type."""
        ordinary = self.specials.is_ordinary(ids)
        return ids if ordinary.all() else np.where(ordinary, ids, self.specials.unknown)

    def text(self, ids: Iterable[int]) -> str:
        """Decode source ids, including special types."""
        return str(self._tokenizer.decode([int(i) for i in ids], skip_special_tokens=False)).removeprefix(" ")

    def spelling(self, type_id: int) -> str:
        """Return a type in the tokenizer's notation, such as `Ġhouse`."""
        return str(self._tokenizer.id_to_token(type_id))

    def save(self, folder: Path) -> None:
        """Write counts, special types and the tokenizer, which transformers can load."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / TOKENIZER).write_text(self._tokenizer.to_str(pretty=True), encoding="utf-8")
        np.save(folder / COUNTS, self.counts)
        write_json(folder / SPECIAL_TYPES, asdict(self.specials))

    @classmethod
    def load(cls, folder: Path) -> Self:
        return cls(open_tokenizer(folder / TOKENIZER), np.load(folder / COUNTS), read_specials(folder))


def add_up(counts: Iterable[Counter[str]]) -> tuple[Counter[str], int]:
    """Add up word counts; also return the number of words too long or, to save memory, too rare."""
    words, forgotten = Counter[str](), 0
    for part in counts:
        forgotten += sum(part.pop(word) for word in list(part) if len(word) > LONGEST_LEARNT)
        words.update(part)
        total, threshold = words.total(), 1
        while len(words) > DISTINCT:
            words = Counter({word: count for word, count in words.items() if count > threshold})
            threshold += 1
        forgotten += total - words.total()
    return words, forgotten


def most_frequent(words: Counter[str], types: int) -> list[str]:
    """Return the `types` most frequent words; ties are sorted alphabetically."""
    return sorted(words, key=lambda word: (-words[word], word))[:types]


def learn_of_words(words: Mapping[str, int], size: int) -> Vocabulary:
    """Learn `size` types from counted words; raise BadInput if they are too few."""
    if size < SMALLEST:
        raise BadInput(f"vocabularies need at least {SMALLEST} types (special types and bytes), not {size:,}")
    tokenizer = _train(words, size)
    if (actual_size := tokenizer.get_vocab_size()) < size:
        fault = f"{len(words):,} distinct words are too few for a vocabulary of {size:,} types"
        raise BadInput(f"{fault}; reduce the size to at most {actual_size:,} or provide more text")
    vocabulary = Vocabulary(tokenizer, np.zeros(size, dtype=np.int64))
    ids, pieces = vocabulary.encode_words(list(words))
    np.add.at(vocabulary.counts, ids, np.repeat(np.array(list(words.values()), np.int64), pieces))
    return vocabulary


def _train(words: Mapping[str, int], size: int) -> Tokenizer:
    spell = pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)

    def occurrences() -> Iterator[str]:
        for word in sorted(words):
            for part in re.findall("[^ \t\r\n]+", word):
                yield from repeat(spell.pre_tokenize_str(part)[0][0], words[word])

    tokenizer = Tokenizer(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIALS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    # The trainer does not accept counts, so words are repeated, 200 per line to save time.
    word_stream = occurrences()
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.train_from_iterator(iter(lambda: " ".join(islice(word_stream, 200)), ""), trainer)
    split = pre_tokenizers.Split(Regex(BETWEEN_WORDS), "removed")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, spell])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", OURS.start), ("</s>", OURS.end)],
    )
    # As in RoBERTa, `<mask>` includes the space before it.
    tokenizer.add_special_tokens([AddedToken(t, lstrip=t == "<mask>", special=True) for t in SPECIALS])
    return tokenizer


def open_vocabulary(folder: Path) -> Vocabulary:
    """Open an existing vocabulary, without counts; raise BadInput if its tokenizer is invalid."""
    path = folder / TOKENIZER
    tokenizer = open_tokenizer(path)
    ids = tokenizer.get_vocab(with_added_tokens=True)
    counts = np.zeros(1 + max(ids.values()), np.int64)
    return Vocabulary(tokenizer, counts, _special_types(tokenizer, ids, path))


def given_fingerprint(folder: Path) -> str:
    """Return the fingerprint of an existing tokenizer."""
    return fingerprint("given", input_digest(folder / TOKENIZER))


def _special_types(tokenizer: Tokenizer, ids: Mapping[str, int], path: Path) -> Specials:
    """Find RoBERTa's or BERT's special types, preferring types marked as special."""
    marked = {type_id for type_id, token in tokenizer.get_added_tokens_decoder().items() if token.special}
    found = [[ids[name] for name in names] for names in (SPECIALS, BERTS) if ids.keys() >= {*names}]
    if not found:
        expected = f"expected {' '.join(SPECIALS)} or {' '.join(BERTS)}"
        raise BadInput(f"this tokenizer lacks a special type; {expected}", path)
    roles = max(found, key=lambda ids: len(marked & {*ids}))
    start, pad, end, unknown, mask = roles
    return Specials(start, pad, end, unknown, mask, tuple(sorted(marked.difference(roles))))


def read_specials(folder: Path) -> Specials:
    """Read the special types from a folder written by `Vocabulary.save`."""
    ids = parse_json((folder / SPECIAL_TYPES).read_text(encoding="utf-8"))
    return Specials(**ids | {"others": tuple(ids["others"])})


def open_tokenizer(path: Path) -> Tokenizer:
    """Open a `tokenizer.json`; raise BadInput if it is missing, damaged or random."""
    try:
        tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput("has no tokenizer; only fast tokenizers save this file", path) from None
    except Exception as error:  # tokenizers raises a bare Exception for any input that it cannot parse
        raise BadInput(f"cannot read this tokenizer: {' '.join(str(error).split())}", path) from error
    if dropout := getattr(tokenizer.model, "dropout", None):
        raise BadInput(f"the model's dropout is {dropout:g}, which makes ids random; set it to null", path)
    return tokenizer
