"""The head that points into a row: where an answer begins, and where it ends. Shapes: B rows, L ids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from analysis.tasks.head import Head

if TYPE_CHECKING:
    from torch import Tensor

BARRED = -1e4
"""The logit of padding, which no answer begins or ends at."""


class SpanHead(Head):
    """Two choices among the ids of a row, its begin and its end: K is 2, C is L (Devlin et al. 2019, section 4.2)."""

    format: ClassVar[int] = 3  # 2 had no answer that begins or ends with a mark of a space

    @property
    def kind(self) -> Any:
        from transformers import AutoModelForQuestionAnswering

        return AutoModelForQuestionAnswering

    def logits(self, output: Any, real: Tensor) -> Tensor:
        import torch

        logits = torch.stack([output.start_logits, output.end_logits], dim=1)
        return logits.masked_fill(~real[:, None], BARRED)

    def answers(self, logits: Tensor) -> Tensor:
        """The logits themselves, (B, 2, L): which begin goes with which end, a task says."""
        return logits.float()
