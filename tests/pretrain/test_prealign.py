import numpy as np
import pytest
import torch

from calque.derive.types import OURS
from calque.pretrain.model import build
from calque.pretrain.modules import Learner
from calque.pretrain.objectives.dict_mlm import Link
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.prealign import Anchors, Contrast, PreAlign
from tests.pretrain.made import SIZE, STILL, only


def by_hand(words, temperature):
    """InfoNCE word by word over the words (2P, H) of P entries that share no word. The published code
    subtracts the largest possible product, 1 / T, before it multiplies an anchor's product with itself by 0,
    so that product counts as a cosine of 1 without a gradient."""
    words = words.double()
    pairs = len(words) // 2
    total = words.new_zeros(())
    for i in range(pairs):
        scores = [torch.cosine_similarity(words[i], word, dim=0) / temperature for word in words]
        scores[i] = words.new_tensor(1 / temperature)
        total = total - (scores[i + pairs] - torch.stack(scores).logsumexp(0))
    return total


@pytest.mark.parametrize("temperature", [0.1, 0.7])
def test_contrastive_loss_by_hand(languages, temperature):
    made = only(Contrast(pairs=9, temperature=temperature), languages)
    batch, counts = made.draw([], np.random.default_rng(0))
    model = build(STILL, 2 * SIZE)
    loss = float(made.losses(Learner(model, {}), batch)["words"].detach())
    words = [source for source, _ in batch.ids.tolist()] + [derived for _, derived in batch.ids.tolist()]
    with torch.no_grad():
        rows = torch.tensor([[OURS.start, word, OURS.end] for word in words])
        layers = model.roberta(rows, output_hidden_states=True).hidden_states
        expected = torch.stack([by_hand(hidden[:, 1], temperature) for hidden in layers]).mean()
    assert counts == {"words": 9}
    assert loss == pytest.approx(float(expected), rel=1e-5)


def test_words_are_not_contrasted_with_other_translations():
    ids = torch.tensor([[1, 11], [1, 12], [3, 13], [4, 11]])
    excluded = Anchors(ids, torch.zeros_like(ids), 0, 4).excluded
    against = {i: (~row).nonzero().flatten().tolist() for i, row in enumerate(excluded)}
    # 0 to 3 are the words 1, 1, 3, 4 and 4 to 7 their translations 11, 12, 13, 11.
    assert against[0] == [0, 2, 4, 6]  # itself, 11 and the entry (3, 13)
    # 12 and the entries (3, 13) and (4, 11)
    assert against[1] == [1, 2, 3, 5, 6, 7]
    assert against[2] == [0, 1, 2, 3, 4, 5, 6, 7]


def test_prealign_splits_the_steps_of_one_objective():
    objective = PreAlign(mask_rate=0.3)
    first, portion = objective.traits.start
    assert (objective.name, objective.title, portion) == ("PREALIGN", "PreAlign", 0.1)
    assert PreAlign(portion=0.25).name == "PREALIGN-for-25"
    assert objective.parts == (Link(0.05, 0.3),)
    assert list(first.parts) == [MLM(0.3), Contrast(128, 0.1)]
    assert not objective.traits.language_embeddings and not first.traits.language_embeddings
    for wrong, said in (
        ({"portion": 0.0}, "portion must be between 0 and 1"),
        ({"pairs": 1}, "pairs must be at least 2"),
        ({"temperature": 0.0}, "temperature must be positive"),
        ({"share": 2.0}, "share must be above 0"),
    ):
        with pytest.raises(ValueError, match=said):
            PreAlign(**wrong)
