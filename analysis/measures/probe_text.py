"""The text of a run's probes: the same at every step, and read by no model.

Shapes: B rows, L ids, V types, N words.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from analysis.measures.alignment import Types
from analysis.measures.loss import MOST, masked_only, unigram_loss
from analysis.measures.nulls import in_company
from analysis.tasks.rows import UNLABELLED, Reader
from analysis.tasks.task import Task
from derive.bitext import Bitext
from derive.errors import BadInput
from derive.example import Example
from derive.held_out import only_last
from derive.language import Language
from derive.languages import SOURCE, Languages
from derive.task_data import TaskFolder
from pretrain.batch import Rows
from pretrain.mask import MASK_RATE
from pretrain.objectives.mlm import Monolingual

LEAST = {"sentences": 20, "rows": 8, "tagged": 20, "tested": 20, "shuffles": 40}
MOST_SHUFFLES = 10_000
"""Each is kept as a permutation of all items of a probe."""


@dataclass(frozen=True)
class ProbeConfig:
    """The size of a probe's text: parallel sentences, rows of text a language, and tagged sentences to learn and test.

    `shuffles` make each null, and `seed` decides them and the masks: the same for all models of a study.
    """

    sentences: int = 400
    rows: int = 128
    tagged: int = 300
    tested: int = 400
    shuffles: int = 200
    seed: int = 0

    def mistakes(self) -> list[str]:
        """Everything that is wrong with these values, in words."""
        wrong = [
            f"{name} is at least {n}, not {getattr(self, name)}" for name, n in LEAST.items() if getattr(self, name) < n
        ]
        if self.shuffles > MOST_SHUFFLES:
            wrong.append(f"shuffles are at most {MOST_SHUFFLES:,}, not {self.shuffles:,}")
        return wrong + ([] if 0 <= self.seed < 2**63 else ["seed is from 0 to below 2**63"])


@dataclass(frozen=True)
class TaggedWords:
    """Rows of words with their labels: `at` (N, 2) are row and place of each word, `labels` (N,) its label's number."""

    rows: list[np.ndarray]
    at: np.ndarray
    labels: np.ndarray

    @property
    def types(self) -> np.ndarray:
        """The id of each word's first sub-word, (N,)."""
        return np.array([self.rows[row][place] for row, place in self.at])

    @property
    def kinds(self) -> list[Hashable]:
        """The place of each word and the length of its row, which hint at its label without the word."""
        return [(int(place), len(self.rows[row])) for row, place in self.at]


@dataclass(frozen=True)
class ProbeText:
    """Parallel sentences as rows, masked rows of each language, others for gradients, tagged words, and types.

    In `masked` every labelled id is behind a mask; `gradient_rows` are masked as in pretraining. `unigram` is the loss
    on the masked rows of a prediction by frequency alone. `tests` are in the source and in the other language.
    `numbers` are their token types. `types` is None where the script stays.
    """

    language: str
    numbers: tuple[int, int]
    pairs: tuple[list[np.ndarray], list[np.ndarray]]
    masked: dict[str, Rows]
    unigram: dict[str, float]
    gradient_rows: tuple[Rows, Rows]
    train: TaggedWords
    tests: dict[str, TaggedWords]
    types: Types | None

    @classmethod
    def of(
        cls, languages: Languages, share: float, length: int, task: Task, examples: TaskFolder, config: ProbeConfig
    ) -> ProbeText:
        """The text of the source and one other language, the last `share` of their text, in rows of `length` ids.

        Raises:
            BadInput: too little text is held out, or a word of the examples has no ids.
        """
        (other,) = languages.others
        held = only_last(languages, share)
        stream = Monolingual(held, length, MASK_RATE)
        rows, sizes = config.rows, list(stream.parts.values())
        if min(sizes) < 2 * rows:
            raise BadInput(
                f"the text held out fills {min(sizes)} rows of {length} ids, fewer than twice {rows} (probe.rows)",
                languages.folder,
            )
        firsts = dict(zip((SOURCE, other), (0, sizes[0]), strict=True))

        def masked(first: int, seed: int) -> Rows:
            return stream.draw(range(first, first + rows), np.random.default_rng(seed))[0]

        drawn = {name: masked(first, config.seed) for name, first in firsts.items()}
        hidden = {name: masked_only(rows, languages.specials.mask) for name, rows in drawn.items()}
        types, counts = Types.open(languages.folder, other), languages.vocabulary.counts
        train = list(islice(examples.examples("train"), config.tagged))
        tests = {name: list(islice(examples.examples("test", name), config.tested)) for name in (SOURCE, other)}
        labels = task.labels(task.gold(example) for example in chain(train, *tests.values()))
        return cls(
            language=other,
            numbers=(languages[SOURCE].number, languages[other].number),
            pairs=_pairs(held.bitext(SOURCE, other), held, length, config.sentences),
            masked=hidden,
            unigram={name: unigram_loss(_types(rows, languages[name]), counts) for name, rows in hidden.items()},
            gradient_rows=(drawn[SOURCE], masked(firsts[other] + rows, config.seed + 1)),
            train=_tagged(train, task, labels, Reader.of(languages, SOURCE), length),
            tests={
                name: _in_company(_tagged(test, task, labels, Reader.of(languages, name), length))
                for name, test in tests.items()
            },
            types=types if types.measurable else None,
        )

    @property
    def counted(self) -> dict[str, int]:
        """Parallel sentences, masked ids, and words to learn from and to test on; of the language that has fewer."""
        return {
            "pairs": len(self.pairs[0]),
            "masked": min(len(rows.positions.at) for rows in self.masked.values()),
            "tagged": len(self.train.at),
            "tested": min(len(words.at) for words in self.tests.values()),
        }


def _pairs(bitext: Bitext, languages: Languages, length: int, most: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The first `most` different pairs as rows with special ids, without those of a length that few others have."""
    start, end = languages.specials.start, languages.specials.end
    seen: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}
    for number in range(len(bitext)):
        first, second = bitext.ids(number)
        if len(seen) < most and max(len(first), len(second)) <= length - 2:
            seen.setdefault(first.tobytes(), (first, second))
    pairs = list(seen.values())
    kept = in_company([(len(first), len(second)) for first, second in pairs])
    if not kept:
        raise BadInput(f"{len(pairs)} parallel sentences are held out, too few to compare", languages.folder)
    first_side, second_side = ([np.concatenate([[start], pairs[i][side], [end]]) for i in kept] for side in (0, 1))
    return first_side, second_side


def _types(rows: Rows, language: Language) -> np.ndarray:
    """The types of the labels that are asked for."""
    labels = rows.labels.flatten()[rows.positions.at[:MOST]].numpy()
    tables = language.table[None] if language.places is None else language.places
    type_of = {int(row): number for table in tables for number, row in enumerate(table)}
    return np.array([type_of[int(label)] for label in labels])


def _tagged(
    examples: Iterable[Example], task: Task, labels: tuple[str, ...], reader: Reader, length: int
) -> TaggedWords:
    rows: list[np.ndarray] = []
    at: list[tuple[int, int]] = []
    targets: list[int] = []
    for example in examples:
        for row in task.rows(example, task.gold(example), labels, reader, length)[0]:
            places = np.flatnonzero(row.targets != UNLABELLED)
            at += [(len(rows), int(place)) for place in places]
            targets += row.targets[places].tolist()
            rows.append(row.ids.astype(np.int64))
    return TaggedWords(rows, np.array(at).reshape(-1, 2), np.array(targets, np.int64))


def _in_company(words: TaggedWords) -> TaggedWords:
    """Without words at places in rows of lengths that few others have."""
    kept = in_company(words.kinds)
    if not kept:
        raise BadInput(f"{len(words.at)} tagged words are too few to test a probe on (probe.tested)")
    return TaggedWords(words.rows, words.at[kept], words.labels[kept])
