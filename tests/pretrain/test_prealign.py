import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.vocabulary import OURS
from calque.pretrain.model import build, state_of
from calque.pretrain.modules import Learner
from calque.pretrain.objectives.dictionary import Anchors, Contrast, PreAlign
from calque.pretrain.objectives.mlm import MLM, Link
from tests.pretrain.made import LANGUAGE, SIZE, SOURCE, STILL, fit, new_learner, only, with_dictionary


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


LENGTH = STILL.length


def drawn(objective, languages, seed):
    stream = only(objective, languages)
    rows, counts = stream.draw(range(stream.instances), np.random.default_rng(seed))
    return rows, counts


@pytest.fixture(scope="module")
def told_nothing(study, tmp_path_factory):
    return with_dictionary(study, tmp_path_factory.mktemp("told") / "nothing", [])


def weights(objective, languages):
    learner = new_learner(objective)
    fit(learner, objective.streams(languages, LENGTH, 0))
    return [tensor.numpy().tobytes() for tensor in state_of(learner).values()]


def test_link_without_entries_is_mlm(languages, told_nothing):
    mlm = weights(MLM(), languages)
    assert weights(Link(0.5), told_nothing) == weights(Link(1e-12), languages) == mlm
    assert weights(Link(0.5), languages) != mlm


@given(st.integers(0, 2**32), st.floats(0, 1, exclude_min=True))
def test_link_replaces_only_visible_source_words(languages, seed, share):
    (rows, counts), (plain, same) = drawn(Link(share), languages, seed), drawn(MLM(), languages, seed)
    image = dict(languages.dictionary("source", LANGUAGE).tolist())
    assert counts == same
    assert rows.labels.equal(plain.labels)
    assert rows.languages.equal(plain.languages)
    changed = rows.ids != plain.ids
    assert (rows.languages[changed] == SOURCE).all()
    assert [image[i] for i in plain.ids[changed].tolist()] == rows.ids[changed].tolist()


def test_share_is_of_visible_source_words(languages):
    known = np.isin(np.arange(2 * SIZE), languages.dictionary("source", LANGUAGE)[:, 0])
    for share in (0.05, 0.25, 1.0):
        switched = could = 0
        for seed in range(20):
            rows, _ = drawn(Link(share), languages, seed)
            shown, plain = rows.ids.numpy(), drawn(MLM(), languages, seed)[0].ids.numpy()
            clean, numbers = only(MLM(), languages).read(range(len(shown)))
            could += int((known[plain] & (plain == clean) & (numbers == SOURCE)).sum())
            switched += int((shown != plain).sum())
        assert abs(switched - share * could) <= 4 * np.sqrt(could * share * (1 - share))
