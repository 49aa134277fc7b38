"""Dictionaries: pairs of ids for a fraction of the source's types and their images."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from calque.derive.errors import BadInput, check_range
from calque.derive.files import whole_file
from calque.derive.fingerprint import ADDED
from calque.derive.vocabulary import Vocabulary


@dataclass(frozen=True)
class DictionaryConfig:
    """A dictionary for a `fraction` of the types, sampled with `seed` or the most frequent. A fraction
    `correct` of its entries are right; others have the image of a word with any or the same tag (`wrong`)."""

    fraction: float = 0.25
    by: Literal["uniform", "frequency"] = "uniform"
    seed: int = 0
    correct: float = field(default=1.0, metadata=ADDED)
    wrong: Literal["any", "same-tag"] = field(default="any", metadata=ADDED)

    def __post_init__(self) -> None:
        check_range("the dictionary's fraction", self.fraction, 0, 1)
        check_range("the share of correct pairs", self.correct, 0, 1)

    @property
    def title(self) -> str:
        title = f"{self.fraction:.0%} of the types, by {self.by}"
        if self.correct == 1:
            return title
        of_tag = " of the same tag" if self.reads_tags else ""
        return f"{title}, {self.correct:.0%} right, others with a wrong word{of_tag}"

    @property
    def drawn(self) -> tuple[str, ...]:
        is_random = (self.by == "uniform" and 0 < self.fraction < 1) or self.correct < 1
        return ("the dictionary",) if is_random else ()

    @property
    def reads_tags(self) -> bool:
        return self.wrong == "same-tag" and self.correct < 1

    def identity(self) -> Any:
        return self if self.correct < 1 else replace(self, wrong="any")

    def reseeded(self, offset: int) -> Self:
        return replace(self, seed=self.seed + offset)


NO_DICTIONARY = DictionaryConfig(0.0)


def draw_dictionary(
    config: DictionaryConfig, types: np.ndarray, counts: np.ndarray, image: np.ndarray
) -> np.ndarray:
    """Choose entries from `types`: source and derived ids, (n, 2), sorted by the first."""
    if config.by == "frequency":
        ranked = types[np.argsort(-counts[types], kind="stable")]
    else:
        ranked = np.random.default_rng(config.seed).permutation(types)
    sources = np.sort(ranked[: round(config.fraction * len(types))]).astype(np.int64)
    return np.stack([sources, image[sources]], axis=1)


def with_wrong_pairs(
    config: DictionaryConfig, pairs: np.ndarray, tags: np.ndarray | None = None
) -> tuple[np.ndarray, int]:
    """Make all but a fraction `correct` of the pairs (n, 2) with two different ids wrong, by permuting their
    derived ids cyclically, with one cycle per tag if the `tags` (V,) of source types are given; pairs whose
    tag is missing or unique share a cycle. Also return the number of wrong pairs without a common tag."""
    rows = np.flatnonzero(pairs[:, 0] != pairs[:, 1])
    wrong = np.random.default_rng([config.seed, 1]).permutation(rows)[round(config.correct * len(rows)) :]
    if len(wrong) < 2:
        entries = f"{len(wrong)} of {len(rows)} entries with two different words"
        hint = "at least two must be wrong, unless dictionary.correct=1"
        raise BadInput(f"dictionary.correct={config.correct:g} makes {entries} wrong; {hint}")
    tag_of = np.full(len(pairs), "any", object) if tags is None else tags[pairs[:, 0]]
    common_tags = sorted(tag for tag, count in Counter(tag_of[wrong]).items() if tag and count > 1)
    cycles = [wrong[tag_of[wrong] == tag] for tag in common_tags]
    other_pairs = wrong[~np.isin(tag_of[wrong], common_tags)]
    if len(other_pairs):
        cycles.append(other_pairs if len(other_pairs) > 1 else np.append(other_pairs, cycles.pop()))
    new_pairs, unlike = pairs.copy(), 0
    for cycle in cycles:
        partners = np.roll(cycle, 1)
        new_pairs[cycle, 1] = pairs[partners, 1]
        unlike += int(((tag_of[cycle] != tag_of[partners]) | (tag_of[cycle] == "")).sum())
    return new_pairs, unlike


def usual_tags(tagged: Iterable[tuple[str, str]], vocabulary: Vocabulary) -> np.ndarray:
    """Return each type's most frequent tag, (V,), or "" if it is untagged or not a whole word."""
    words, counts = Counter(tagged), Counter[tuple[int, str]]()
    for (word, tag), count in words.items():
        if len(ids := vocabulary.encode(word)) == 1:
            counts[ids[0], tag] += count
    tags = np.full(vocabulary.size, "", object)
    for (type_id, tag), _ in reversed(counts.most_common()):
        if type_id != vocabulary.specials.unknown:
            tags[type_id] = tag
    return tags


def write_dictionary(path: Path, pairs: np.ndarray, vocabulary: Vocabulary) -> None:
    """Write pairs of ids (n, 2), with the source type's spelling."""
    with whole_file(path) as part:
        rows = (f"{source}\t{derived}\t{vocabulary.spelling(source)}\n" for source, derived in pairs.tolist())
        part.write_text("".join(rows), encoding="utf-8", newline="\n")


def read_dictionary(path: Path) -> np.ndarray:
    """Read pairs of source and derived ids, (n, 2) int64."""
    rows = [line.split("\t") for line in path.read_bytes().decode().split("\n") if line]
    return np.array([[int(source), int(derived)] for source, derived, _ in rows], np.int64).reshape(-1, 2)
