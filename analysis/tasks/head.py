"""Heads that a task trains on an encoder. Shapes: B rows, L ids, K targets a row, C answers to choose among."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # torch takes long to load, and who asks for a task's title does not need it
    from torch import Tensor


class Head(ABC):
    """A head of transformers, trained by cross-entropy: each target of a row is one choice among C."""

    @property
    @abstractmethod
    def kind(self) -> Any:
        """The Auto class of transformers that puts the head on an encoder."""

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

    @property
    def kind(self) -> Any:
        from transformers import AutoModelForSequenceClassification

        return AutoModelForSequenceClassification

    def logits(self, output: Any, real: Tensor) -> Tensor:
        return output.logits[:, None]

    def answers(self, logits: Tensor) -> Tensor:
        """The number of the most likely label, (B, 1)."""
        return logits.argmax(-1)
