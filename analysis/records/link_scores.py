"""Records of word alignment: one JSON row for an aligner on a gold set, as counts that every measure follows from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from analysis.measures.aer import Score
from derive.errors import BadInput
from derive.files import whole_file

FAST_ALIGN, DIAGONAL = "fast_align", "diagonal"
APART, JOINT = "apart", "joint"
"""How an encoder sees a sentence pair: each side alone, or both in one row."""


@dataclass(frozen=True)
class LinkScore:
    """What one aligner did on one gold set, and where it came from.

    `aligner` is fast_align, diagonal (each target word with the source word in the same place), or how links are read
    from an encoder's hidden states (ot, argmax, itermax, match). `learnt` is what fast_align learnt from, or the
    encoder's objective or folder; `way` is fast_align's direction or symmetrisation, or `APART` or `JOINT`; the
    diagonal has neither. `layer` is the encoder's, 0 for its embeddings and where there is none, and `layers` says how
    many there are. `main` marks the layer that was chosen before anything was scored. The rest are the counts of
    `analysis.measures.aer.Score`.
    """

    study: str
    run: str
    gold: str
    aligner: str
    learnt: str
    way: str
    layer: int
    layers: int
    main: bool
    seed: int
    pairs: int
    predicted: int
    sure: int
    found_sure: int
    found_possible: int

    @property
    def score(self) -> Score:
        """The counts as what has measures."""
        return Score(self.pairs, self.predicted, self.sure, self.found_sure, self.found_possible)


def write_scores(path: Path, rows: Iterable[LinkScore]) -> None:
    """Write rows as JSON lines, whole or not at all."""
    with whole_file(path) as part:
        part.write_text("".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def read_scores(path: Path) -> Iterator[LinkScore]:
    """Stream the rows of a file.

    Raises:
        BadInput: it is missing, or a row is damaged or of another version.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"no records that can be read: {error}", path) from error
    for number, line in enumerate(lines, start=1):
        try:
            yield LinkScore(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise BadInput(f"not a row of this version: {error}; remove the file", path, number) from error


class LinkScores:
    """The records of a study, looked up by what a table's row shows."""

    def __init__(self, rows: Iterable[LinkScore], sets: Sequence[str]) -> None:
        self.rows, self.sets = tuple(rows), tuple(sets)
        self._by_key = {(self.key(row), row.gold): row for row in self.rows}
        if len(self._by_key) < len(self.rows):
            raise BadInput("two records of one aligner on one gold set")

    @staticmethod
    def key(row: LinkScore) -> tuple[str, str, str, int]:
        """What is the same on every gold set: aligner, what was learnt, way, layer."""
        return row.aligner, row.learnt, row.way, row.layer

    def systems(self, *, aligner: str | None = None, way: str | None = None, main: bool = True) -> list[LinkScore]:
        """A row of each system that fits, in the order of the records; `main` leaves out the other layers."""
        found: dict[tuple[str, str, str, int], LinkScore] = {}
        for row in self.rows:
            fits = (aligner in (None, row.aligner), way in (None, row.way), row.main or not main)
            if all(fits):
                found.setdefault(self.key(row), row)
        return list(found.values())

    def encoders(self, way: str) -> list[LinkScore]:
        """A row of each encoder and aligner at the main layer."""
        return [one for one in self.systems(way=way) if one.layers]

    def by_set(self, system: LinkScore) -> dict[str, Score]:
        """The scores of a system on the gold sets that it has, in their order."""
        key = self.key(system)
        return {gold: self._by_key[key, gold].score for gold in self.sets if (key, gold) in self._by_key}


def macro(scores: Iterable[Score]) -> float | None:
    """The mean of the sets' error rates, as the paper's average; None where one of them has none."""
    rates = [score.aer for score in scores]
    known = [rate for rate in rates if rate is not None]
    return sum(known) / len(known) if known and len(known) == len(rates) else None


def micro(scores: Iterable[Score]) -> Score:
    """The score of all sentence pairs together."""
    return sum(scores, Score())
