"""Define the results of inspecting a checkpoint, and print them on a terminal with 80 columns. Shapes: n
words in a sentence, m in its derivation, L layers, k pairs of words."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from textwrap import fill
from typing import Any

import numpy as np

from calque.analysis.checkpoint import Guess, Neighbour
from calque.analysis.model_study import Derivation

WIDTH = 80
LABEL, CELL = 18, 7  # widths of a row's label and of a matrix cell


@dataclass(frozen=True)
class Blank:
    """A masked word in a sentence, and the model's guesses for it, most probable first."""

    language: str
    place: int
    word: str
    guesses: tuple[Guess, ...]


@dataclass(frozen=True)
class Neighbours:
    """The words in `language` whose embeddings are nearest to that of `word`, a word in the language `of`."""

    word: str
    of: str
    language: str
    nearest: tuple[Neighbour, ...]


@dataclass(frozen=True)
class Alignment:
    """The centred cosines (n, m) between the words' states in a sentence and in its derivation, after
    `layer`, and the sorted links extracted from them by mutual argmax, as in `calque align`."""

    layer: int
    cosines: np.ndarray
    links: list[tuple[int, int]]

    def summary(self, pair: Derivation) -> str:
        right = len({*self.links} & {*pair.links})
        return f"{len(self.links)} links for {len(pair.words)} words, {right} of them to the counterpart"


@dataclass(frozen=True)
class EmbeddingMap:
    """The normalised embeddings of k frequent words and their translations, projected onto the first two
    principal components: `places` (k, 2, 2), by pair, side and coordinate."""

    words: tuple[tuple[str, str], ...]
    places: np.ndarray
    found: int
    held_out: tuple[float, float] | None = None

    @property
    def summary(self) -> str:
        words = f"{self.found} of {len(self.words)} frequent words"
        text = f"{words} nearest to their own image among these images"
        if not self.held_out:
            return text
        raw, rotated = (f"{100 * share:.0f} %" for share in self.held_out)
        return f"{text}; of all words outside the dictionary {raw}, and {rotated} after one rotation"


@dataclass(frozen=True)
class Look:
    """The results of inspecting a checkpoint. `derivation`, `alignment` and `map` are None if no derivation
    is known. `before` is the map for the run's initial weights, or None if the run started from a model."""

    languages: tuple[str, ...]
    blanks: tuple[Blank, ...] = ()
    neighbours: tuple[Neighbours, ...] = ()
    derivation: Derivation | None = None
    alignment: Alignment | None = None
    map: EmbeddingMap | None = None
    before: EmbeddingMap | None = None
    glosses: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    live: Mapping[str, Any] | None = None

    @property
    def json(self) -> dict[str, Any]:
        """The results as plain values, without `live`."""
        return {name: _plain(value) for name, value in vars(self).items() if name != "live"}

    def glossed(self, word: str) -> str:
        """Return a word, followed by its source word in parentheses if that is spelled differently."""
        gloss = self.glosses.get(word, word)
        return word if gloss == word else f"{word} ({gloss})"

    def guessed(self, blank: Blank) -> list[str]:
        return [f"{self.glossed(guess.word)} {100 * guess.probability:.0f}" for guess in blank.guesses]

    def near(self, neighbours: Neighbours) -> list[str]:
        return [f"{self.glossed(each.word)} {each.cosine:.2f}" for each in neighbours.nearest]

    def __str__(self) -> str:
        parts = [_guesses(self), _nearest(self), _alignment(self), _map(self)]
        parts.append(fill(f"left out: {note}", WIDTH, subsequent_indent="  ") for note in self.left_out)
        return "\n\n".join(text for part in parts if (text := "\n".join(part)))


def _guesses(look: Look) -> Iterator[str]:
    if look.blanks:
        yield "Guesses for each masked word, in percent"
    for language, blanks in groupby(look.blanks, key=lambda blank: blank.language):
        yield f" {language}"
        for blank in blanks:
            yield _row(f"  {look.glossed(blank.word)}", look.guessed(blank))


def _nearest(look: Look) -> Iterator[str]:
    if look.neighbours:
        yield "Nearest words, by the cosine of embeddings"
    for each in look.neighbours:
        first = each.language == look.languages[0]
        yield _row(f"  {look.glossed(each.word) if first else f'  {each.language}'}", look.near(each))


def _alignment(look: Look) -> Iterator[str]:
    pair, alignment = look.derivation, look.alignment
    if pair is None or alignment is None:
        return
    yield f"Alignment after layer {alignment.layer}: centred cosines, [counterparts], * links"
    if LABEL + CELL * len(pair.words) <= WIDTH:
        yield _row("", [f"{word[: CELL - 1]:>{CELL}}" for word in pair.words], "")
        for i, (word, row) in enumerate(zip(pair.source, alignment.cosines, strict=True)):
            marked = [
                f"[{cosine:.2f}]" if (i, j) in pair.links else f"{cosine:.2f} "
                for j, cosine in enumerate(row.tolist())
            ]
            linked = [f"*{cell}" if (i, j) in alignment.links else cell for j, cell in enumerate(marked)]
            yield _row(f"  {word}", [f"{cell:>{CELL}}" for cell in linked], "")
    yield f"  {alignment.summary(pair)}"


def _map(look: Look) -> Iterator[str]:
    if look.map:
        yield fill(look.map.summary, WIDTH, subsequent_indent="  ")
    if look.before:
        yield f"  {look.before.found} before training"


def _row(label: str, cells: Sequence[str], between: str = "  ") -> str:
    line = f"{label:<{LABEL}}"
    for cell in cells:
        if len(line) + len(between) + len(cell) > WIDTH:
            break
        line += between + cell
    return line.rstrip()


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.round(value, 6).tolist()
    if dataclasses.is_dataclass(value) or hasattr(value, "_asdict"):
        value = vars(value) if dataclasses.is_dataclass(value) else value._asdict()
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
