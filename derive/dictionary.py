"""The bilingual dictionary: a fraction of the source types, each with its image, as an artefact on disk."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from derive.errors import BadInput
from derive.files import whole_file
from derive.vocabulary import Vocabulary

_ID = re.compile(r"\d{1,9}", re.ASCII)


@dataclass(frozen=True)
class DictionaryConfig:
    """The fraction of the types that get an entry; drawn uniformly, or the most frequent ones."""

    fraction: float = 0.25
    by: Literal["uniform", "frequency"] = "uniform"
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.fraction <= 1:
            raise BadInput(f"the dictionary's fraction is from 0 to 1, not {self.fraction}")
        if self.by not in ("uniform", "frequency"):
            raise BadInput(f"the dictionary is drawn by 'uniform' or 'frequency', not {self.by!r}")

    @property
    def drawn(self) -> tuple[str, ...]:
        """What of it is drawn at random, in words."""
        return ("the dictionary",) if self.by == "uniform" and 0 < self.fraction < 1 else ()

    def redrawn(self, by: int) -> DictionaryConfig:
        """As many entries, drawn with a seed that is greater by `by`."""
        return replace(self, seed=self.seed + by)


def draw_dictionary(config: DictionaryConfig, types: np.ndarray, counts: np.ndarray, image: np.ndarray) -> np.ndarray:
    """Draw entries without replacement from the types that the corpus uses.

    Args:
        config: how many, and which.
        types: ids to draw from, `Vocabulary.types`.
        counts: (V,) occurrences, `Vocabulary.counts`.
        image: (V,) the derived language's id of each source id.

    Returns:
        (n, 2) int64 pairs of source and derived id, ascending by source id; n is the rounded fraction of them.
    """
    size = round(config.fraction * len(types))
    if config.by == "frequency":
        chosen = types[np.argsort(-counts[types], kind="stable")[:size]]
    else:
        chosen = np.random.default_rng(config.seed).permutation(types)[:size]
    chosen = np.sort(chosen).astype(np.int64)
    return np.stack([chosen, image[chosen]], axis=1)


def write_dictionary(path: Path, pairs: np.ndarray, vocabulary: Vocabulary) -> None:
    """Write `source id<TAB>derived id<TAB>type`, the type as the tokenizer spells it (`Ġ`: a space before it)."""
    with whole_file(path) as part:
        rows = (f"{source}\t{derived}\t{vocabulary.spelling(source)}\n" for source, derived in pairs.tolist())
        part.write_text("".join(rows), encoding="utf-8", newline="\n")


def read_dictionary(path: Path) -> np.ndarray:
    """Read (n, 2) int64 pairs of source and derived id.

    Raises:
        BadInput: the file is missing, or a line has not two ids and a type, or a source id comes twice.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise BadInput(f"no dictionary here: {error.strerror}", path) from error
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8: {error.reason}", path) from error
    if lines.pop():
        raise BadInput("the last line has no end: the file is truncated", path, len(lines) + 1)
    pairs: dict[int, int] = {}
    for number, line in enumerate(lines, start=1):
        columns = line.split("\t")
        if len(columns) != 3 or not all(_ID.fullmatch(column) for column in columns[:2]):
            raise BadInput(f"{line!r}; expected source id, derived id and type between tabs", path, number)
        source, derived = int(columns[0]), int(columns[1])
        if source in pairs:
            raise BadInput(f"a second entry for type {source}", path, number)
        pairs[source] = derived
    return np.array(list(pairs.items()), dtype=np.int64).reshape(-1, 2)
