"""Frequent words and their translations in a model's table, drawn by t-SNE: WEAM's Figure 2."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.measures.word_pairs import WordPairs
from analysis.report.style import FULL, INK, LOOKS, SOFT, key, legend, styled
from analysis.report.visible import visible

ACROSS = 2
"""Panels beside one another."""


def pairs_figure(models: Mapping[str, WordPairs], languages: tuple[str, str], seed: int = 0) -> Figure:
    """A panel for each model, by its title: words and translations as points, joined by lines, both as words.

    A panel has a t-SNE of its own, of all its points together. What is near in it is near in the table, but how far the
    rest lies apart says nothing, so cosines and how many are found stand above it.
    """
    rows = math.ceil(len(models) / ACROSS)
    across = min(ACROSS, len(models))
    with styled(FULL if across > 1 else FULL / 1.5, 4.2 * rows + 0.9, _title(models)) as figure:
        panels = figure.subplots(rows, across, squeeze=False).flat
        for axes, (title, pairs) in zip(panels, models.items(), strict=False):
            _draw(axes, title, pairs, seed)
        for axes in list(panels)[len(models) :]:
            axes.set_visible(False)
        handles = [key(name, *look) for name, look in zip(languages, LOOKS[1::2], strict=False)]
        legend(figure, handles, 2)
    return figure


def placed(pairs: WordPairs, seed: int = 0) -> np.ndarray:
    """Where words, then translations stand, (2n, 2): t-SNE of unit vectors, begun with their principal components."""
    from sklearn.manifold import TSNE

    points = np.concatenate([pairs.source, pairs.target]).astype(np.float64)
    made: np.ndarray = TSNE(
        n_components=2, perplexity=min(8.0, (len(points) - 1) / 3), init="pca", random_state=seed
    ).fit_transform(points)
    return made


def _title(models: Mapping[str, WordPairs]) -> str:
    count = len(next(iter(models.values())).entries)
    return f"{count} frequent words and their translations\nin a model’s table of word embeddings (t-SNE)"


def _draw(axes: Axes, title: str, pairs: WordPairs, seed: int) -> None:
    places, n = placed(pairs, seed), len(pairs.entries)
    for word_at, translation_at in zip(places[:n], places[n:], strict=True):
        axes.plot(*zip(word_at, translation_at, strict=True), color=SOFT, linewidth=0.9, linestyle=":", zorder=1)
    words = ([entry.source for entry in pairs.entries], [entry.target for entry in pairs.entries])
    sides = places[:n], places[n:]
    for side, (colour, marker) in enumerate(LOOKS[1::2][:2]):
        own, other = sides[side], sides[1 - side]
        axes.scatter(own[:, 0], own[:, 1], s=16, color=colour, marker=marker, zorder=2)
        for word, place, partner in zip(words[side], own, other, strict=True):
            above = place[1] > partner[1]  # a word stands where its partner does not
            axes.annotate(
                visible(word),
                place,
                xytext=(0, 6 if above else -6),
                textcoords="offset points",
                ha="center",
                va="bottom" if above else "top",
                fontsize=7,
                color=INK,
                parse_math=False,
            )
    axes.set_title(f"{title}\nmean cosine {pairs.cosine:.2f}, {pairs.found} of {n} nearest", fontsize=10)
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    axes.margins(0.12)
