from types import SimpleNamespace

import pytest
import torch
from transformers import RobertaConfig

from analysis.tasks.head import Head, TextHead, WordHead

REAL = torch.ones(2, 3, dtype=torch.bool)


@pytest.mark.parametrize(("head", "shape"), [(WordHead(), (2, 3, 4)), (TextHead(), (2, 1, 4))])
def test_every_target_of_a_row_is_a_choice_of_the_last_axis(head: Head, shape: tuple[int, ...]) -> None:
    config = RobertaConfig(
        vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, num_labels=4
    )
    model = head.kind.from_config(config).eval()
    logits = head.logits(model(input_ids=torch.full((2, 3), 7)), REAL)
    assert logits.shape == shape
    assert head.answers(logits).shape == shape[:2]


def test_the_answer_is_the_number_of_the_most_likely_label() -> None:
    words = torch.tensor([[[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]]])
    assert WordHead().answers(WordHead().logits(SimpleNamespace(logits=words), REAL)).tolist() == [[1, 0]]
    texts = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    assert TextHead().answers(TextHead().logits(SimpleNamespace(logits=texts), REAL)).tolist() == [[1], [0]]
