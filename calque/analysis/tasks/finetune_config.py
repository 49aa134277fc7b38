"""The settings of fine-tuning, apart from the code that fine-tunes, so that a study can be read quickly."""

from dataclasses import dataclass, field

from calque.derive.fingerprint import ADDED
from calque.pretrain.config import out_of_range

MOST_EPOCHS = 100_000


@dataclass(frozen=True)
class FinetuneConfig:
    """Settings for fine-tuning by AdamW, with linear warm-up over a fraction of the steps, and decay to zero.
    The new head's learning rate is `head_rate` times the encoder's, and `max_length` is in ids. `dropout`
    applies to hidden states and the head. `attention_dropout` defaults to the checkpoint's; any value above 0
    makes attention three times slower on a CPU."""

    learning_rate: float = 2e-5
    head_rate: float = 1.0
    epochs: int = 10
    batch: int = 32
    max_length: int = 128
    warmup: float = 0.06
    weight_decay: float = 0.0
    clip: float = 1.0
    dropout: float = 0.1
    freeze_table: bool = field(default=False, metadata=ADDED)
    attention_dropout: float | None = field(default=None, metadata=ADDED)

    def mistakes(self) -> list[str]:
        positive, shares = ("learning_rate", "head_rate", "clip"), ("warmup", "dropout", "attention_dropout")
        wrong = out_of_range(self, positive, shares, epochs=1, batch=1, max_length=8, weight_decay=0)
        if self.epochs > MOST_EPOCHS:
            wrong.append(f"epochs must be at most {MOST_EPOCHS:,}, not {self.epochs:,}")
        return wrong
