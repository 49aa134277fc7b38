"""Frequent words and their translations in a model's embedding table, drawn by t-SNE: WEAM's Figure 2."""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from calque.analysis.measures.lexicon import LexiconRows
from calque.analysis.report.drawing import INK, LOOKS, SOFT, key, legend, small_multiples
from calque.analysis.report.table import visible

SIDES = LOOKS[1::2][:2]  # the looks of words and of their translations
AROUND = ((0, 1), (1, 0), (-1, 0), (0.75, 0.75), (-0.75, 0.75), (0.75, -0.75), (-0.75, -0.75), (0, -1))
DISTANCES = (4, 7, 11, 17)  # places of labels: directions from the dot, and distances in points, the best first
DOT = 3  # a dot's radius in points


def pairs_figure(models: Mapping[str, LexiconRows], languages: tuple[str, str], seed: int = 0) -> Figure:
    """A panel for each model, by its title: words and translations as labelled points, joined by lines. Each panel is
    one t-SNE of all its points. Neighbours in it are near in the table, but other distances mean nothing, so the
    panel's title has the mean cosine and the number of words found."""
    at = {title: placed(pairs, seed) for title, pairs in models.items()}
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
        figure.draw_without_rendering()
        for axes, (title, pairs) in zip(figure.axes, models.items(), strict=True):
            words = [entry.source for entry in pairs.entries] + [entry.target for entry in pairs.entries]
            _name(axes, words, at[title])
    return figure


def placed(pairs: LexiconRows, seed: int = 0) -> np.ndarray:
    """Coordinates of words, then of translations, (2n, 2): t-SNE of unit vectors, started from principal components."""
    from sklearn.manifold import TSNE

    points = np.concatenate([pairs.source, pairs.target]).astype(np.float64)
    coordinates: np.ndarray = TSNE(
        n_components=2, perplexity=min(8.0, (len(points) - 1) / 3), init="pca", random_state=seed
    ).fit_transform(points)
    return coordinates


def _name(axes: Axes, words: Sequence[str], places: np.ndarray) -> None:
    """Label each point where no point and no other label is; the figure must be laid out already."""
    dots, point, room = axes.transData.transform(places), axes.figure.dpi / 72, axes.get_window_extent()
    taken = [Bbox([dot - DOT * point, dot + DOT * point]) for dot in dots]
    partners = np.roll(places, len(places) // 2, axis=0)

    def free(box: Bbox) -> float:
        """The area of a box in the panel, less the area that is taken; rounded, so that the first of equals wins."""
        return round(_common(box, room) - sum(_common(box, other) for other in taken), 6)

    for word, place, dot, partner in zip(words, places, dots, partners, strict=True):
        text = axes.annotate(visible(word), place, ha="center", va="center", color=INK)
        size, boxes = np.array(text.get_window_extent().size), []
        up = 1 if place[1] > partner[1] else -1  # away from the partner, if there is room
        for distance, (right, above) in product(DISTANCES, AROUND):
            middle = dot + np.array([right, up * above]) * (distance * point + size / 2)
            boxes.append(Bbox([middle - size / 2, middle + size / 2]))
        best = max(boxes, key=free)
        text.xyann = tuple(axes.transData.inverted().transform(best.get_points().mean(axis=0)).tolist())
        taken.append(best)


def _common(box: Bbox, other: Bbox) -> float:
    both = Bbox.intersection(box, other)
    return float(both.width * both.height) if both else 0.0
