"""Plot the embeddings of frequent words and their translations by t-SNE, as in WEAM's Figure 2."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calque.analysis.measures.alignment import LexiconRows
from calque.analysis.report.drawing import INK, LOOKS, SOFT, key, legend, small_multiples
from calque.analysis.report.table import visible

SIDES = LOOKS[1::2][:2]  # colours and markers for words and for translations


def pairs_figure(models: Mapping[str, LexiconRows], languages: tuple[str, str]) -> Figure:
    """Plot one panel for each model (`models` maps titles to embeddings), with lines that join words and
    their translations."""
    at = {title: _placed(pairs) for title, pairs in models.items()}
    count = len(next(iter(models.values())).entries)
    heading = f"How near are {count} words to their translations?\n(embedding tables, by t-SNE)"

    def draw(panel: Axes, model: str) -> None:
        words, translations = np.split(at[model], 2)
        for ends in zip(words, translations, strict=True):
            panel.plot(*zip(*ends, strict=True), color=SOFT, linewidth=0.9, linestyle=":", zorder=1)
        for side, (colour, marker) in zip((words, translations), SIDES, strict=True):
            panel.scatter(side[:, 0], side[:, 1], s=16, color=colour, marker=marker, zorder=2)
        panel.set(xticks=[], yticks=[])
        panel.grid(False)
        panel.margins(0.12)

    panels = [
        (f"{title}\nmean cosine {pairs.cosine:.2f}, {pairs.found} of {count} nearest", title)
        for title, pairs in models.items()
    ]
    with small_multiples(heading, panels, draw, 1, 4.2) as (figure, _):
        legend(figure, [key(name, *look) for name, look in zip(languages, SIDES, strict=True)], 2)
        for axes, (title, pairs) in zip(figure.axes, models.items(), strict=True):
            words = [entry.source for entry in pairs.entries] + [entry.target for entry in pairs.entries]
            _name(axes, words, at[title])
    return figure


def _placed(pairs: LexiconRows) -> np.ndarray:
    """Return the t-SNE positions (2n, 2) of n words, followed by those of their translations."""
    from sklearn.manifold import TSNE

    points = np.concatenate([pairs.source, pairs.target]).astype(np.float64)
    coordinates: np.ndarray = TSNE(
        n_components=2, perplexity=min(8.0, (len(points) - 1) / 3), init="pca", random_state=0
    ).fit_transform(points)
    return coordinates


def _name(axes: Axes, words: Sequence[str], places: np.ndarray) -> None:
    partners = np.roll(places, len(places) // 2, axis=0)
    for word, place, partner in zip(words, places, partners, strict=True):
        up = 1 if place[1] > partner[1] else -1
        aside: dict[str, Any] = {"xytext": (0, 7 * up), "textcoords": "offset points", "color": INK}
        axes.annotate(visible(word), place, ha="center", va="center", **aside)
