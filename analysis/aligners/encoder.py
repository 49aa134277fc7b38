"""Compute hidden states with any transformers encoder. Shapes: B rows, L ids in the longest row, H hidden."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from calque.derive.errors import BadInput
from calque.derive.links.aligner import Pair
from calque.derive.vocabulary import TOKENIZER, open_tokenizer, tokenizer_settings
from calque.pretrain.lazy import Tensor, inference_mode, nn, torch
from calque.pretrain.saved_model import load_model, read_config
from calque.pretrain.tokenizer_check import check_tokenizer

# Models whose upper layers can be removed, because nothing follows the last layer
LIKE_BERT = frozenset({"bert", "camembert", "electra", "roberta", "xlm-roberta"})
Precision = Literal["float32", "bfloat16"]  # the encoder's floating-point format
_LONGEST = 512  # maximum number of ids per row if the model sets no limit


class Encoder:
    """An encoder's layers up to `top`, in evaluation mode; layer 0 is the embeddings."""

    def __init__(
        self, folder: Path, top: int | None = None, device: str = "cpu", precision: Precision = "float32"
    ) -> None:
        """Load a folder's model up to layer `top` (default: all). Raises BadInput if the model is not an
        encoder or lacks that layer, or if the device does not exist."""
        self.folder, self.device = folder, _device(device)
        config = read_config(folder)
        text: Any = config.get_text_config()
        layers, types = (getattr(text, name, None) for name in ("num_hidden_layers", "vocab_size"))
        if not isinstance(layers, int) or not isinstance(types, int):
            raise BadInput(f"{config.model_type} is not an encoder with layers above embeddings", folder)
        self.layers, self.types = layers, types
        self.top = self.layers if top is None else top
        if not 0 <= self.top <= self.layers:
            raise BadInput(
                f"there is no layer {top}: layers are numbered from 0 (the embeddings) to {self.layers}",
                folder,
            )
        self.token_types: int = getattr(config, "type_vocab_size", None) or 0
        model, missing = load_model(folder)
        if missing := [name for name in missing if "pooler" not in name]:  # the pooler is not used
            raise BadInput(f"{len(missing):,} weights are missing, such as {missing[0]}", folder)
        self._model: Any = model.eval()
        if config.model_type in LIKE_BERT:
            # Without any layers, the model would not return its embeddings.
            self._model.encoder.layer = self._model.encoder.layer[: max(1, self.top)]
            self._model.pooler = None
        self._model.to(self.device, getattr(torch, precision))
        self._padding = config.pad_token_id or 0
        self.length = _positions(self._model, config)
        self._try(config.model_type)

    @inference_mode
    def __call__(
        self, rows: Sequence[Sequence[int]], token_types: Sequence[Sequence[int]] | None = None
    ) -> tuple[Tensor, ...]:
        """Return the hidden states after each layer up to `top`, (B, L, H) each, with arbitrary values at
        padding. `token_types` is one number per id (default: 0)."""
        ids, lengths = _padded(rows, self._padding), torch.tensor([len(row) for row in rows])
        inputs = {"input_ids": ids}
        if lengths.min() < ids.shape[1]:
            inputs["attention_mask"] = (torch.arange(ids.shape[1]) < lengths[:, None]).long()
        if token_types is not None and self.token_types > 1:
            inputs["token_type_ids"] = _padded(token_types, 0)
        inputs = {name: tensor.to(self.device) for name, tensor in inputs.items()}
        output = self._model(**inputs, output_hidden_states=True)
        states: tuple[Tensor, ...] = output.hidden_states[: self.top + 1]
        for layer, hidden in enumerate(states):
            if hidden.shape[:2] != ids.shape:
                raise BadInput(f"layer {layer} does not return one state per sub-word", self.folder)
        return states

    def _try(self, kind: str) -> None:
        ids = [i for i in range(min(self.types, 4)) if i != self._padding]
        if len(ids) < 2:
            return
        rows = [[ids[0]] * (min(8, self.length) - 1) + [last] for last in ids[:2]]
        try:
            states = self(rows)[-1]
        except (RuntimeError, ValueError, TypeError, IndexError, AttributeError) as error:
            if isinstance(error, torch.OutOfMemoryError):
                raise
            reason = str(error).strip().splitlines() or [type(error).__name__]
            what = f"{kind} cannot encode rows of ids without further input"
            raise BadInput(f"{what}: {reason[0]}", self.folder) from None
        if self.top and torch.equal(states[0, 0], states[1, 0]):
            why = "is not a bidirectional encoder: a word's state ignores the words after it"
            raise BadInput(f"{kind} {why}", self.folder)


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise BadInput(f"cannot compute on {name!r}: {str(error).splitlines()[0]}") from None
    return device


def _positions(model: nn.Module, config: Any) -> int:
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            return module.num_embeddings - (0 if module.padding_idx is None else module.padding_idx + 1)
    positions = int(getattr(config, "max_position_embeddings", 0))
    return positions if positions > 0 else _LONGEST  # XLNet's is -1


def _padded(rows: Sequence[Sequence[int]], filler: int) -> Tensor:
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], True, filler)


WordIds = Sequence[Sequence[int]]  # each word's ids in a sentence (none if the tokenizer drops the word)
PairIds = tuple[WordIds, WordIds]  # both sides of a sentence pair
_ROOM = 1 << 18
_UNLIMITED = 1 << 30  # transformers uses a larger number to mean "no limit"


class SubWords:
    """A tokenizer that encodes each word separately, preceded by a space. `size` is its number of types,
    `before` and `after` are the special ids around a sentence, and `second_type` is the token type for the
    second text in a row."""

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
            raise BadInput("the tokenizer drops a letter or encodes it differently in a sentence", folder)
        self.before, self.after = around[:first], around[first + len(bare) :]
        check_tokenizer(folder)
        self.second_type: int = self._tokenizer.encode("a", "a").type_ids[-1]

    def __call__(self, words: Sequence[str]) -> list[list[int]]:
        if len(self._known) > _ROOM:
            self._known = {}
        if new := [word for word in dict.fromkeys(words) if word not in self._known]:
            self._known.update(zip(new, self._encode([f" {word}" for word in new]), strict=True))
        return [self._known[word] for word in words]

    def of_pairs(self, pairs: Iterable[Pair]) -> Iterator[PairIds]:
        """Yield the ids of each word in each sentence pair."""
        return ((self(source), self(target)) for source, target in pairs)

    def _encode(self, texts: list[str], special: bool = False) -> list[list[int]]:
        try:
            encoded = self._tokenizer.encode_batch_fast(texts, add_special_tokens=special)
            return [encoding.ids for encoding in encoded]
        except Exception as error:  # the tokenizers library raises plain exceptions
            raise BadInput(f"the tokenizer cannot encode some words: {error}", self._folder) from None


def _longest(folder: Path) -> int | None:
    longest = tokenizer_settings(folder).get("model_max_length")
    return int(longest) if isinstance(longest, int | float) and 0 < longest <= _UNLIMITED else None
