"""Check that AutoTokenizer encodes text as tokenizer.json does; most of its classes ignore parts of this
file."""

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any
from unicodedata import normalize

from tokenizers import Tokenizer

from calque.derive.artefact import digest
from calque.derive.errors import BadInput
from calque.derive.vocabulary import TOKENIZER, TOKENIZER_CONFIG, open_tokenizer, tokenizer_settings
from calque.pretrain.saved_model import CONFIG, load_tokenizer

AS_SAVED = ("PreTrainedTokenizerFast", "TokenizersBackend")  # classes that use tokenizer.json unchanged
READING = ("tokenizer_class", "do_lower_case", "strip_accents", "tokenize_chinese_chars", "add_prefix_space")
"""Settings that affect tokenization."""
ADDED = "added_tokens.json"
SAMPLE = 500  # approximate number of types to compare


def check_tokenizer(folder: Path) -> None:
    """Raise BadInput if AutoTokenizer and tokenizer.json yield different ids."""
    settings = tokenizer_settings(folder)
    named = settings.get("tokenizer_class", None if (folder / CONFIG).exists() else AS_SAVED[0])
    added = (folder / ADDED).exists() or settings.get("added_tokens_decoder")
    if added or named not in AS_SAVED:
        files = [path for path in sorted(folder.glob("*.json")) if "index" not in path.name]
        _compare(folder, *map(digest, files))


@lru_cache(maxsize=16)
def _compare(folder: Path, *digests: str) -> None:
    """Compare a folder's tokenizers; results are cached by the files' digests."""
    ours, theirs = open_tokenizer(folder / TOKENIZER), load_tokenizer(folder)
    try:
        cases = list(_encodings(ours, theirs))
    except Exception as error:  # a bare Exception for unknown words if there is no unknown type
        raise BadInput(f"AutoTokenizer's tokenizer cannot encode all words: {error}", folder) from None
    for text, here, there in cases:
        if here != there:
            settings = tokenizer_settings(folder)
            chosen = {name: settings[name] for name in READING if name in settings}
            by = f"the model_type of {CONFIG}"
            if chosen:
                by = f"{TOKENIZER_CONFIG} ({json.dumps(chosen)[1:-1]})"
            found = f"encodes {text!r} as {here}, but AutoTokenizer encodes it as {there}, because of {by}"
            found += _differences(ours, getattr(theirs, "_tokenizer", None))
            advice = "make the files agree, or save AutoTokenizer's tokenizer here"
            raise BadInput(f"{found}; {advice}", folder / TOKENIZER)


def _encodings(ours: Tokenizer, theirs: Any) -> Iterator[tuple[str, list[int], list[int]]]:
    """Yield words with their ids from both tokenizers, then the ids and token types of a row of two texts."""
    ours.no_padding()
    ours.no_truncation()
    theirs.model_max_length = 1 << 30  # otherwise, transformers warns about long texts
    words = _words(ours, theirs)
    texts = [f" {word}" for word in words]
    own = [encoding.ids for encoding in ours.encode_batch_fast(texts, add_special_tokens=False)]
    yield from zip(words, own, theirs(texts, add_special_tokens=False)["input_ids"], strict=True)
    row, other = ours.encode(" a", " a"), theirs(" a", " a", return_token_type_ids=True)
    yield "a, a", row.ids, other["input_ids"]
    yield "a, a", row.type_ids, other["token_type_ids"]


def _words(ours: Tokenizer, theirs: Any) -> list[str]:
    """Return the types known only to AutoTokenizer, and words that reveal differences in the treatment of
    case, accents and word boundaries."""
    vocabulary, special = ours.get_vocab(with_added_tokens=True), set(theirs.all_special_tokens)
    words = sorted(theirs.get_vocab().keys() - vocabulary.keys() - special)
    ordinary = sorted(vocabulary.keys() - special)
    for piece in ordinary[:: len(ordinary) // SAMPLE + 1]:
        if word := ours.decode([vocabulary[piece]]).strip():
            accented = normalize("NFC", f"{word[0]}\u0301{word[1:]}")
            words += [word, word.upper(), word.title(), accented, f"{word}中{word}"]
    return words


def _differences(ours: Tokenizer, theirs: Tokenizer | None) -> str:
    found = ""
    for part in ("normalizer", "pre_tokenizer") if theirs else ():
        parts = [getattr(tokenizer, part) for tokenizer in (ours, theirs)]
        here, there = ({"type": None} if own is None else json.loads(own.__getstate__()) for own in parts)
        for name in here if here["type"] == there["type"] else ["type"]:
            if here[name] != there[name]:
                found += f"; {part}.{name} is {here[name]} here, {there[name]} there"
    return found
