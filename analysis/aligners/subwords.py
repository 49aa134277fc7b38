"""Words as sub-words, with the tokenizer of any folder that transformers can load."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

from derive.errors import BadInput

Pieces = Sequence[Sequence[int]]
"""A sentence: the ids of each word, none for a word that the tokenizer maps to nothing."""
_ROOM = 1 << 18


class SubWords:
    """A tokenizer that sees each word by itself, after a space, so that a word has one encoding wherever it stands.

    Text that looks like a special token (a literal `<s>`) is ordinary text.

    Raises:
        BadInput: on use, where a word is unknown and the tokenizer has no type for such.

    Attributes:
        size: how many types the tokenizer knows.
        before, after: the special ids that stand around a sentence.
    """

    def __init__(self, folder: Path) -> None:
        """Open the tokenizer of a folder.

        Raises:
            BadInput: there is none that can be read.
        """
        self._tokenizer = _open(folder)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._tokenizer.encode_special_tokens = True
        self._known: dict[str, list[int]] = {}
        self.size: int = self._tokenizer.get_vocab_size(with_added_tokens=True)
        self._folder = folder
        (around,), (bare,) = self._encode(["a"], special=True), self._encode(["a"])
        first = next((i for i in range(len(around)) if bare and around[i : i + len(bare)] == bare), None)
        if first is None:
            raise BadInput("a tokenizer that maps a letter to nothing, or not to the same in a sentence", folder)
        self.before, self.after = around[:first], around[first + len(bare) :]

    def __call__(self, words: Sequence[str]) -> list[list[int]]:
        """The ids of each word; a word is encoded once, and forgotten when too many are known."""
        new = [word for word in dict.fromkeys(words) if word not in self._known]
        if new:
            if len(self._known) > _ROOM:
                self._known, new = {}, list(dict.fromkeys(words))
            self._known.update(zip(new, self._encode([f" {word}" for word in new]), strict=True))
        return [self._known[word] for word in words]

    def _encode(self, texts: list[str], special: bool = False) -> list[list[int]]:
        try:
            return [encoding.ids for encoding in self._tokenizer.encode_batch_fast(texts, add_special_tokens=special)]
        except Exception as error:  # a bare one, where a word is unknown and there is no type for that
            raise BadInput(f"the tokenizer cannot encode all words: {error}", self._folder) from None


def _open(folder: Path) -> Tokenizer:
    path = folder / "tokenizer.json"
    try:
        if path.exists():
            return Tokenizer.from_file(str(path))
        from transformers import AutoTokenizer

        opened = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        named = {file for kind, file in opened.vocab_files_names.items() if kind != "tokenizer_file"}
        missing = sorted(file for file in named or {path.name} if not (folder / file).exists())
        if not missing:
            return Tokenizer.from_str(opened.backend_tokenizer.to_str())  # a copy of its own, to be set as is needed
    except Exception as error:  # tokenizers raises bare Exception for whatever it cannot parse
        raise BadInput(f"no tokenizer that can be read: {error}", folder) from None
    # transformers makes one of nothing but special tokens, and says nothing.
    raise BadInput(f"no tokenizer here: neither {path.name} nor {' and '.join(missing)}", folder)
