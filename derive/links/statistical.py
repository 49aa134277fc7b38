"""fast_align's two directions as one aligner, which can be saved and opened again.

A saved one is an artefact of plain files. Shapes: S source and T target words, D pairs of words that stood in one
sentence pair.

source.json, target.json             the words, in the order of their ids
pairs.npy (D, 2) uint32              ids of a source and a target word, sorted
forward.npy, reverse.npy (D,)        t(target | source) and t(source | target)
forward-null.npy (T,)                t of each target word where it comes from none
reverse-null.npy (S,)                t of each source word where it comes from none
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import tee
from pathlib import Path
from typing import Any

import numpy as np

from derive import strict_json
from derive.artefact import Artefact, making
from derive.errors import BadInput
from derive.files import MANIFEST
from derive.links.aligner import Aligner, LeftOut, Links, Pair, Scored
from derive.links.cells import NULL
from derive.links.fast_align import FastAlign
from derive.links.symmetrise import SYMMETRISATIONS, Symmetrisation, grow_diag_final_and

KIND, FORMAT = "fast_align", 1
_SIDES, _DIRECTIONS = ("source", "target"), ("forward", "reverse")


@dataclass(frozen=True)
class StatisticalAligner(Aligner):
    """Both directions of fast_align, learnt from the same sentence pairs and made into one by a symmetrisation.

    The score of a link is the mean of the probabilities that the directions give it (DeNero and Klein 2007), also where
    one of them would not make it.
    """

    forward: FastAlign
    reverse: FastAlign
    symmetrisation: Symmetrisation = grow_diag_final_and

    @classmethod
    def train(
        cls, pairs: Iterable[Pair], symmetrisation: Symmetrisation = grow_diag_final_and, passes: int = 5
    ) -> StatisticalAligner:
        """Learn both directions from sentence pairs, which are read twice.

        Raises:
            BadInput: no pair is left to learn from.
        """
        forward, reverse = (FastAlign.train(pairs, passes, reverse=turned) for turned in (False, True))
        return cls(forward, reverse, symmetrisation)

    @property
    def name(self) -> str:
        return f"{self.forward.name}, {self.symmetrisation.__name__.replace('_', '-')}"

    @property
    def left_out(self) -> LeftOut:
        return self.forward.left_out

    def align(self, pairs: Iterable[Pair]) -> Iterator[Links]:
        there, back = tee(pairs)
        return map(self.symmetrisation, self.forward.align(there), self.reverse.align(back))

    def align_scored(self, pairs: Iterable[Pair]) -> Iterator[Scored]:
        there, back = tee(pairs)
        both = zip(self.forward.align_with_tables(there), self.reverse.align_with_tables(back), strict=True)
        for (forward, one), (reverse, other) in both:
            links = self.symmetrisation(forward, reverse)
            yield {(i, j): float(one[i, j] + other[i, j]) / 2 for i, j in links}

    def matrix(self, pair: Pair) -> np.ndarray:
        return (self.forward.matrix(pair) + self.reverse.matrix(pair)) / 2

    def save(self, folder: Path) -> None:
        """Write it to a folder, whole or not at all; what was there is replaced."""
        facts: dict[str, Any] = {
            "format": FORMAT,
            "symmetrisation": self.symmetrisation.__name__.replace("_", "-"),
            "tension": {"forward": self.forward.tension, "reverse": self.reverse.tension},
        }
        sizes = len(self.reverse.target_ids), len(self.forward.target_ids)
        with making(folder, KIND, facts) as part:
            for side, ids in zip(_SIDES, (self.reverse.target_ids, self.forward.target_ids), strict=True):
                text = json.dumps(list(ids), ensure_ascii=False, indent=0)
                (part / f"{side}.json").write_text(text + "\n", encoding="utf-8", newline="\n")
            pairs = np.stack(np.divmod(self.forward.keys[sizes[1] :], sizes[1] + 1), axis=1) - (NULL + 1, 0)
            np.save(part / "pairs.npy", pairs.astype(np.uint32))
            # The reverse direction's pairs are sorted by their target words.
            order = np.argsort(np.lexsort((pairs[:, 0], pairs[:, 1])))
            for name, model, null, places in (
                ("forward", self.forward, sizes[1], slice(None)),
                ("reverse", self.reverse, sizes[0], order),
            ):
                np.save(part / f"{name}.npy", model.probabilities[null:][places])
                np.save(part / f"{name}-null.npy", model.probabilities[:null])
            facts |= {"words": dict(zip(_SIDES, sizes, strict=True)), "pairs of words": len(pairs)}

    @classmethod
    def open(cls, folder: Path) -> StatisticalAligner:
        """Read what `save` wrote.

        Raises:
            BadInput: there is nothing of the kind, it is of another version, or a byte of it has changed.
        """
        made = Artefact.open(folder, KIND)
        if made.facts["format"] != FORMAT:
            raise BadInput(f"saved in format {made.facts['format']}, expected {FORMAT}; train it again", folder)
        words = [strict_json.loads(made.path(f"{side}.json").read_text(encoding="utf-8")) for side in _SIDES]
        arrays = {
            name: np.load(made.path(f"{name}.npy"), allow_pickle=False)
            for direction in _DIRECTIONS
            for name in (direction, f"{direction}-null")
        }
        pairs = np.load(made.path("pairs.npy"), allow_pickle=False).astype(np.int64)
        models = []
        for direction, name in enumerate(_DIRECTIONS):
            mine, theirs = pairs[:, direction], pairs[:, 1 - direction]
            order = np.lexsort((theirs, mine))
            size = len(words[1 - direction])
            keys = np.concatenate([np.arange(size), (mine + NULL + 1)[order] * (size + 1) + theirs[order]])
            models.append(
                FastAlign(
                    reverse=bool(direction),
                    source_ids={word: NULL + 1 + i for i, word in enumerate(words[direction])},
                    target_ids={word: i for i, word in enumerate(words[1 - direction])},
                    keys=keys,
                    probabilities=np.concatenate([arrays[f"{name}-null"], arrays[name][order]]),
                    tension=float(made.facts["tension"][name]),
                    unlearnt=LeftOut(),
                )
            )
        return cls(models[0], models[1], SYMMETRISATIONS[made.facts["symmetrisation"]])


def is_saved(folder: Path) -> bool:
    """Whether a folder looks like a saved aligner's, and not like a model that transformers loads."""
    return (folder / MANIFEST).is_file() and not (folder / "config.json").is_file()
