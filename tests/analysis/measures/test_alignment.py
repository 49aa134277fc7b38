import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import orthogonal_procrustes
from scipy.stats import ortho_group

from calque.analysis.measures.alignment import Types, normalised
from calque.derive.transforms import Transliterate
from calque.derive.vocabulary import OURS
from calque.pretrain.objectives.dictionary import procrustes

FIRST = len(OURS.ids)


def toy_types(size=30, overlap=0.0):
    image = Transliterate(overlap).image(size)
    counts = np.arange(size) % 4  # a quarter of the types never occur
    types = np.flatnonzero(counts[FIRST:]) + FIRST
    return Types(types, image, types[::3], counts)


def test_language_embeddings_are_added_to_a_copy():
    types, random = toy_types(), torch.Generator().manual_seed(0)
    rows, languages = torch.randn(30, 8, generator=random), 5 * torch.randn(3, 8, generator=random)
    table = torch.cat([rows - languages[0], rows - languages[1]])
    before = table.clone()
    assert types.alignment(table, languages)["all"].all()
    assert not types.alignment(table)["all"].all()
    assert torch.equal(table, before)


WIDTH = 16


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def turn(seed=0, width=WIDTH):
    return torch.from_numpy(ortho_group.rvs(width, random_state=seed))


def hits(source, derived):
    cosine = torch.nn.functional.cosine_similarity
    nearest = [int(torch.stack([cosine(row, other, dim=0) for other in derived]).argmax()) for row in source]
    return np.array(nearest) == np.arange(len(source))


@given(st.integers(1, 40), st.integers(0, 10**6))
@settings(max_examples=25)
def test_procrustes_equals_scipy(pairs, seed):
    rows, targets = drawn(2, pairs, WIDTH, seed=seed)
    ours, (theirs, _) = procrustes(rows, targets), orthogonal_procrustes(rows.numpy(), targets.numpy())
    assert torch.allclose(ours @ ours.T, torch.eye(WIDTH, dtype=torch.float64), atol=1e-9)
    errors = [torch.linalg.norm(rows @ matrix - targets) for matrix in (ours, torch.from_numpy(theirs))]
    assert errors[0] == pytest.approx(errors[1])
    if pairs >= WIDTH:
        assert torch.allclose(ours, torch.from_numpy(theirs), atol=1e-6)


def test_alignment_after_rotation_equals_brute_force():
    size, first = 90, 5
    image, types = np.arange(size) + size, np.arange(first, size)
    spread = torch.logspace(0, -1, WIDTH, dtype=torch.float64)  # so that no two axes are alike
    source = drawn(size, WIDTH) * spread + 0.3
    derived = source @ turn(1) + 0.2 * spread * drawn(size, WIDTH, seed=3)
    known = types[::3]
    measured = Types(types, image, known, np.arange(size))
    found = measured.alignment(torch.cat([source, derived]).float(), controls=True)
    held_out = ~np.isin(types, known)
    a, b = normalised(source[first:]), normalised(derived[first:])
    places, mixed = known - first, np.random.default_rng(0).permutation(known - first)
    expected = {}
    for name, partners in (("held-out-rotated", places), ("held-out-shuffled", mixed)):
        matrix, _ = orthogonal_procrustes(
            b[torch.from_numpy(partners)].numpy(), a[torch.from_numpy(places)].numpy()
        )
        expected[name] = hits(a, b @ torch.from_numpy(matrix))[held_out].mean()
    shares = {metric: column.mean() for metric, column in found.items()}
    for name, share in expected.items():
        assert shares[name] == pytest.approx(share)
    assert shares["held-out"] < 0.2 and shares["held-out-shuffled"] < 0.2 < 0.7 < shares["held-out-rotated"]
