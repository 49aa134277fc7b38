"""Heads that a task trains on an encoder. Shapes: B rows, L ids, K targets a row, C answers to choose among."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:  # torch takes long to load, and a task's title does not need it
    from torch import Tensor

BARRED = -1e4  # the logit of padding, where no answer starts or ends


class Head(ABC):
    """A head of transformers, trained by cross-entropy: each target of a row is one choice among C.

    Raise `format` when a change of the code gives other bits for the same rows.

    Attributes:
        auto: the Auto class of transformers that puts the head on an encoder.
    """

    format: ClassVar[int] = 1
    auto: ClassVar[str]

    @property
    def kind(self) -> Any:
        import transformers

        return getattr(transformers, self.auto)

    def output(self, model: Any, ids: Tensor, types: Tensor, real: Tensor) -> Any:
        """The model's output under the head, for ids and token types (B, L); `real` is False at padding."""
        return model(input_ids=ids, attention_mask=real.long(), token_type_ids=types)

    @abstractmethod
    def logits(self, output: Any, real: Tensor) -> Tensor:
        """(B, K, C), from the model's output; `real` (B, L) is False at padding."""

    def answers(self, logits: Tensor) -> Tensor:
        """The head's answers to each row: the number of the most likely choice of each target, (B, K)."""
        return logits.argmax(-1)


class WordHead(Head):
    """A label for each id: K is L."""

    auto: ClassVar[str] = "AutoModelForTokenClassification"

    def logits(self, output: Any, real: Tensor) -> Tensor:
        return output.logits


class TextHead(Head):
    """A label for the row as a whole: K is 1."""

    format: ClassVar[int] = 2
    auto: ClassVar[str] = "AutoModelForSequenceClassification"

    def output(self, model: Any, ids: Tensor, types: Tensor, real: Tensor) -> Tensor:
        """Logits (B, C): the head reads the first position alone, so nothing else of the last layer is computed."""
        from pretrain.architecture import architecture_of
        from pretrain.batch import Rows
        from pretrain.model import encode_first

        rows = Rows(ids, ids, types, padded=not real.all(), segments=types if types.any() else None)
        return architecture_of(model.config).text_logits(model, encode_first(model, rows))

    def logits(self, output: Tensor, real: Tensor) -> Tensor:
        return output[:, None]


class SpanHead(Head):
    """Two choices among the ids of a row, its start and its end: K is 2, C is L (Devlin et al. 2019, section 4.2)."""

    format: ClassVar[int] = 3  # 2 had no answer that starts or ends with the mark of a space
    auto: ClassVar[str] = "AutoModelForQuestionAnswering"

    def logits(self, output: Any, real: Tensor) -> Tensor:
        import torch

        logits = torch.stack([output.start_logits, output.end_logits], dim=1)
        return logits.masked_fill(~real[:, None], BARRED)

    def answers(self, logits: Tensor) -> Tensor:
        """The logits themselves, (B, 2, L): a task decides which start goes with which end."""
        return logits.float()
