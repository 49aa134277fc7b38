"""Heads that a task trains on an encoder. Shapes: B rows, L ids, K targets a row, C answers to choose among."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:  # torch takes long to load, and who asks for a task's title does not need it
    from torch import Tensor


class Head(ABC):
    """A head of transformers, trained by cross-entropy: each target of a row is one choice among C.

    Raise `format` when a change of the code makes other bits of the same rows.
    """

    format: ClassVar[int] = 1

    @property
    @abstractmethod
    def kind(self) -> Any:
        """The Auto class of transformers that puts the head on an encoder."""

    def output(self, model: Any, ids: Tensor, types: Tensor, real: Tensor) -> Any:
        """What the model puts out under the head, for ids and token types (B, L); `real` says which are no padding."""
        return model(input_ids=ids, attention_mask=real.long(), token_type_ids=types)

    @abstractmethod
    def logits(self, output: Any, real: Tensor) -> Tensor:
        """(B, K, C), from what the model puts out; `real` (B, L) says which ids are no padding."""

    @abstractmethod
    def answers(self, logits: Tensor) -> Tensor:
        """What the head answers to each row, (B, ...)."""


class WordHead(Head):
    """A label for each id: K is L."""

    @property
    def kind(self) -> Any:
        from transformers import AutoModelForTokenClassification

        return AutoModelForTokenClassification

    def logits(self, output: Any, real: Tensor) -> Tensor:
        return output.logits

    def answers(self, logits: Tensor) -> Tensor:
        """The number of the most likely label at each id, (B, L)."""
        return logits.argmax(-1)


class TextHead(Head):
    """A label for the row as a whole: K is 1."""

    format: ClassVar[int] = 2

    @property
    def kind(self) -> Any:
        from transformers import AutoModelForSequenceClassification

        return AutoModelForSequenceClassification

    def output(self, model: Any, ids: Tensor, types: Tensor, real: Tensor) -> Tensor:
        """Logits (B, C): the head reads the first position alone, so nothing else of the last layer is computed."""
        from pretrain.architecture import architecture_of
        from pretrain.batch import Rows
        from pretrain.model import encode_first

        rows = Rows(ids, ids, types, padded=not real.all(), segments=types if types.any() else None)
        return architecture_of(model.config).text_logits(model, encode_first(model, rows))

    def logits(self, output: Tensor, real: Tensor) -> Tensor:
        return output[:, None]

    def answers(self, logits: Tensor) -> Tensor:
        """The number of the most likely label, (B, 1)."""
        return logits.argmax(-1)
