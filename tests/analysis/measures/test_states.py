"""Mean states of rows of any lengths against rows that are encoded one by one."""

import numpy as np
import pytest
import torch

from analysis.measures.states import sentence_means
from pretrain.model import build
from tests.analysis.measures.test_gradients import MODEL, TYPES


@pytest.mark.parametrize("token_types", [1, 3])
def test_padding_changes_nothing(token_types: int) -> None:
    model, random = build(MODEL, TYPES, token_types).eval(), np.random.default_rng(0)
    lines = [random.integers(5, TYPES, length) for length in (9, 4, 16, 3, 9)]
    number = token_types // 2
    ours = sentence_means(model, lines, number)
    assert ours.shape == (3, 5, 16)
    for place, line in enumerate(lines):
        ids = torch.from_numpy(line)[None]
        with torch.no_grad():
            made = model.roberta(ids, token_type_ids=torch.full_like(ids, number), output_hidden_states=True)
        alone = torch.stack([layer[0, 1:-1].mean(0) for layer in made.hidden_states])
        assert torch.allclose(ours[:, place], alone, atol=1e-5)


def test_no_rows_are_said() -> None:
    with pytest.raises(ValueError, match="no sentence"):
        sentence_means(build(MODEL, TYPES), [], 0)
