"""Plot the embeddings of frequent words and their translations by t-SNE, as in WEAM's Figure 2."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calque.analysis.measures.alignment import LexiconRows
from calque.analysis.report.drawing import INK, LOOKS, SOFT, key, small_multiples
from calque.analysis.report.table import visible

SIDES = LOOKS[1::2][:2]  # colours and markers for words and for translations


def pairs_figure(models: Mapping[str, LexiconRows], languages: tuple[str, str]) -> Figure:
    """Plot one panel for each model (`models` maps titles to embeddings), with lines that join words and
    their translations."""
    count = len(next(iter(models.values())).entries)

    def draw(panel: Axes, pairs: LexiconRows) -> None:
        words, translations = np.split(_placed(pairs), 2)
        for ends in zip(words, translations, strict=True):
            panel.plot(*zip(*ends, strict=True), color=SOFT, linewidth=0.9, linestyle=":", zorder=1)
        for side, (colour, marker) in zip((words, translations), SIDES, strict=True):
            panel.scatter(side[:, 0], side[:, 1], s=16, color=colour, marker=marker, zorder=2)
        for entry, place, translation in zip(pairs.entries, words, translations, strict=True):
            _name(panel, entry.source, place, translation)
            _name(panel, entry.target, translation, place)
        panel.set(xticks=[], yticks=[])
        panel.grid(False)
        panel.margins(0.12)

    panels = []
    for title, pairs in models.items():
        panels.append((f"{title}\nmean cosine {pairs.cosine:.2f}, {pairs.found} of {count} nearest", pairs))
    heading = f"How near are {count} words to their translations?\n(embedding tables, by t-SNE)"
    handles = [key(name, *look) for name, look in zip(languages, SIDES, strict=True)]
    return small_multiples(heading, panels, draw, (1, 4.2), handles, 2)


def _placed(pairs: LexiconRows) -> np.ndarray:
    """Return the t-SNE positions (2n, 2) of n words, followed by those of their translations."""
    from sklearn.manifold import TSNE

    points = np.concatenate([pairs.source, pairs.target]).astype(np.float64)
    coordinates: np.ndarray = TSNE(
        n_components=2, perplexity=min(8.0, (len(points) - 1) / 3), init="pca", random_state=0
    ).fit_transform(points)
    return coordinates


def _name(panel: Axes, word: str, place: np.ndarray, translation: np.ndarray) -> None:
    """Write a word above or below its place, away from its translation's."""
    offset: dict[str, Any] = {
        "xytext": (0, 7 if place[1] > translation[1] else -7),
        "textcoords": "offset points",
    }
    panel.annotate(visible(word), (place[0], place[1]), ha="center", va="center", color=INK, **offset)
