"""Hidden states, nearest rows, linear CKA and a linear probe."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.measures.nulls import shuffled
from calque.analysis.measures.retrieval import cosine, found
from calque.analysis.measures.states import NONE, linear_cka, linear_probe, mutually_nearest, nearest, sentence_means
from calque.pretrain.model import build
from tests.analysis.measures.test_gradients import MODEL, TYPES


@pytest.mark.parametrize("token_types", [1, 3])
def test_padding_and_batches_change_nothing(token_types: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calque.analysis.measures.states.ROWS", 2)
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


def row_vectors(seed: int, items: int, width: int = 4) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(items, width))).float()


@given(seed=st.integers(0, 999), items=st.integers(2, 30))
def test_they_are_those_that_retrieval_finds(seed: int, items: int) -> None:
    source = row_vectors(seed, items)
    target = source + row_vectors(seed + 1, items)
    forward, back = nearest(source, target), nearest(target, source)
    expected = found(cosine(source, target))
    assert np.array_equal((forward == np.arange(items)), expected[0])
    assert np.array_equal((back == np.arange(items)), expected[1])


@given(seed=st.integers(0, 999), items=st.integers(2, 20))
def test_mexa_is_its_definition_in_any_pairing(seed: int, items: int) -> None:
    source = row_vectors(seed, items)
    target = source + 0.7 * row_vectors(seed + 1, items)
    table, pairing = cosine(source, target), np.random.default_rng(seed).permutation(items)

    def mutual(i: int) -> bool:
        own, j = table[i, pairing[i]], int(pairing[i])
        others = [table[i, k] for k in range(items) if k != j] + [table[k, j] for k in range(items) if k != i]
        return bool(own > max(others))

    expected = [mutual(i) for i in range(items)]
    ours = mutually_nearest(nearest(source, target), nearest(target, source), pairing)
    assert ours.tolist() == expected


def test_a_tie_is_no_find() -> None:
    source = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    target = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    assert nearest(source, target).tolist() == [NONE, NONE]
    assert nearest(torch.ones(3, 2), torch.ones(3, 2)).tolist() == [NONE] * 3


def test_where_nothing_belongs_together_as_many_are_found_as_by_chance() -> None:
    """One in N one way, and 1 in 2N - 1 both ways: the largest of so many cosines that are alike."""
    items, ways = 40, {"forward": [], "mutual": []}
    for seed in range(60):
        source, target = row_vectors(seed, items, 30), row_vectors(1000 + seed, items, 30)
        forward, back = nearest(source, target), nearest(target, source)
        pairings = shuffled([0] * items, 50, seed)
        ways["forward"].append((forward == pairings).mean())
        ways["mutual"].append(mutually_nearest(forward, back, pairings).mean())
    assert np.mean(ways["forward"]) == pytest.approx(1 / items, rel=0.03)
    assert np.mean(ways["mutual"]) == pytest.approx(1 / (2 * items - 1), rel=0.08)


def vectors(seed: int, items: int = 12, width: int = 5) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(items, width)))


def by_similarities(x: np.ndarray, y: np.ndarray) -> float:
    """HSIC of the (N, N) similarity matrices by double sums (Kornblith et al. 2019, equations 2 to 4)."""
    n = len(x)

    def hsic(k: np.ndarray, m: np.ndarray) -> float:
        total = 0.0
        for i in range(n):
            for j in range(n):
                centred = k[i, j] - k[i].mean() - k[:, j].mean() + k.mean()
                total += centred * m[i, j]
        return total

    k, m = x @ x.T, y @ y.T
    return hsic(k, m) / (hsic(k, k) * hsic(m, m)) ** 0.5


@given(seed=st.integers(0, 999), width=st.integers(1, 8))
def test_it_is_the_cosine_of_centred_similarity_matrices(seed: int, width: int) -> None:
    x, y = vectors(seed), vectors(seed + 1, width=width)
    assert linear_cka(x, y) == pytest.approx(by_similarities(x.numpy(), y.numpy()), rel=1e-9)


@given(seed=st.integers(0, 999), scale=st.floats(0.01, 100), shift=st.floats(-10, 10))
def test_rotation_scale_and_shift_change_nothing(seed: int, scale: float, shift: float) -> None:
    x, y = vectors(seed), vectors(seed + 1)
    rotation, _ = torch.linalg.qr(vectors(seed + 2, 5, 5))
    before = linear_cka(x, y)
    assert linear_cka(scale * x @ rotation + shift, y) == pytest.approx(before, rel=1e-6)
    assert linear_cka(y, x) == pytest.approx(before, rel=1e-9)
    assert linear_cka(x, scale * x @ rotation + shift) == pytest.approx(1, rel=1e-6)
    assert 0 <= before <= 1


def test_other_linear_maps_change_it() -> None:
    x, y = vectors(0), vectors(1)
    stretched = x * torch.tensor([10.0, 1, 1, 1, 1])
    assert abs(linear_cka(stretched, y) - linear_cka(x, y)) > 0.01


def test_nothing_to_compare_is_said() -> None:
    with pytest.raises(ValueError, match="all vectors of a language are the same"):
        linear_cka(torch.ones(12, 5), vectors(1))


def test_it_solves_the_normal_equations() -> None:
    random = np.random.default_rng(0)
    x, labels = random.normal(size=(50, 4)) * 3 + 1, random.integers(0, 3, 50)
    probe = linear_probe(torch.from_numpy(x), labels, ridge=2.0)
    z = np.hstack([(x - x.mean(0)) / x.std(0), np.ones((50, 1))])
    expected = np.linalg.inv(z.T @ z + np.diag([2.0, 2, 2, 2, 0])) @ z.T @ np.eye(3)[labels]
    assert probe(torch.from_numpy(x)).numpy() == pytest.approx(z @ expected)


def test_it_tells_what_a_plane_parts_and_nothing_else() -> None:
    x = torch.randn(400, 6, generator=torch.Generator().manual_seed(0))
    plane, corners = (x[:, 0] > 0).numpy().astype(int), ((x[:, 0] > 0) ^ (x[:, 1] > 0)).numpy().astype(int)
    probes = {linear_probe(x[:200], y[:200]): y for y in (plane, corners)}
    right = [float((probe(x[200:]).argmax(1).numpy() == y[200:]).mean()) for probe, y in probes.items()]
    assert right[0] > 0.93
    assert right[1] < 0.65


def test_one_label_is_nothing_to_tell_apart() -> None:
    with pytest.raises(ValueError, match="two labels"):
        linear_probe(torch.randn(5, 2), np.zeros(5, int))
