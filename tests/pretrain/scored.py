import numpy as np
import torch

MATRICES = 1000


def masks(scores):
    sizes = [torch.tensor([table.shape[axis] for table in scores]) for axis in (0, 1)]
    return tuple(torch.arange(int(size.max())) < size[:, None] for size in sizes)


def padded(scores, filler=0.0):
    n, m = (max(table.shape[axis] for table in scores) for axis in (0, 1))
    sides = [((0, n - table.shape[0]), (0, m - table.shape[1])) for table in scores]
    tables = [np.pad(t, side, constant_values=filler) for t, side in zip(scores, sides, strict=True)]
    return torch.from_numpy(np.stack(tables))


def extracted(extract, scores, filler=7.0):
    """Tables of 0 and 1, extracted in one batch with `filler` in the padding, which must not be read."""
    tables = [np.zeros_like(table) for table in scores]
    for pair, i, j in extract(padded(scores, filler), *masks(scores)).tolist():
        tables[pair][i, j] += 1
    return tables


def matrices(kind):
    """Matrices of all shapes, including 1 x k and k x 1; `ties` has only five different scores."""
    random = np.random.default_rng(0)
    shapes = [(1, k) for k in range(1, 13)] + [(k, 1) for k in range(2, 13)] + [(2, 9), (9, 2), (2, 2)]
    shapes += [tuple(random.integers(1, 25, 2)) for _ in range(MATRICES - len(shapes))]
    if kind == "ties":
        return [random.integers(0, 5, shape) / 4 for shape in shapes]
    return [random.random(shape) for shape in shapes]
