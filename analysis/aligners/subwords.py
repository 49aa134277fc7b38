"""Words split into sub-words by any folder's tokenizer.json."""

from collections.abc import Sequence
from pathlib import Path

from calque.derive.errors import BadInput
from calque.derive.vocabulary import TOKENIZER, open_tokenizer, tokenizer_settings
from calque.pretrain.tokenizer_check import check_tokenizer

Pieces = Sequence[Sequence[int]]  # a sentence: the ids of each word, none for a word that the tokenizer drops
_ROOM = 1 << 18
_UNLIMITED = 1 << 30  # transformers writes a larger number for no limit


class SubWords:
    """A tokenizer that encodes each word by itself, after a space. `size` is its number of types, `before`
    and `after` are the special ids around a sentence, `second_type` is the token type of the second text in a
    row, `longest` its `model_max_length` or None."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = open_tokenizer(folder / TOKENIZER)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._tokenizer.encode_special_tokens = True
        self._known: dict[str, list[int]] = {}
        self.size: int = self._tokenizer.get_vocab_size(with_added_tokens=True)
        self._folder, self.longest = folder, _longest(folder)
        (around,), (bare,) = self._encode(["a"], special=True), self._encode(["a"])
        first = next((i for i in range(len(around)) if bare and around[i : i + len(bare)] == bare), None)
        if first is None:
            raise BadInput("the tokenizer drops a letter, or encodes it differently within a sentence", folder)
        self.before, self.after = around[:first], around[first + len(bare) :]
        check_tokenizer(folder)
        self.second_type: int = self._tokenizer.encode("a", "a").type_ids[-1]

    def __call__(self, words: Sequence[str]) -> list[list[int]]:
        """The ids of each word; encodings are cached until there are too many."""
        if len(self._known) > _ROOM:
            self._known = {}
        if new := [word for word in dict.fromkeys(words) if word not in self._known]:
            self._known.update(zip(new, self._encode([f" {word}" for word in new]), strict=True))
        return [self._known[word] for word in words]

    def _encode(self, texts: list[str], special: bool = False) -> list[list[int]]:
        try:
            return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(texts, add_special_tokens=special)]
        except Exception as error:  # a bare one for an unknown word without an unknown type
            raise BadInput(f"the tokenizer cannot encode all words: {error}", self._folder) from None


def _longest(folder: Path) -> int | None:
    longest = tokenizer_settings(folder).get("model_max_length")
    return int(longest) if isinstance(longest, int | float) and 0 < longest <= _UNLIMITED else None
