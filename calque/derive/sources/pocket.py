"""Pocket English as a source, which generates sentences and data for every task."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Self

from calque.derive.errors import check_range
from calque.derive.fingerprint import ADDED, fingerprint
from calque.derive.pocket.inference import LABELS as INFERENCES
from calque.derive.pocket.language import CHUNK, GENERATED, Facts, Pocket, questions_of
from calque.derive.pocket.pairs import LABELS as SAMENESS
from calque.derive.sentence import Example, Question, Sentence
from calque.derive.source import SPLITS, Source, TaskData

EDITION = "pocket, second edition"
CORPUS = 0  # the corpus's random stream
TASKS = ("pos", "ner", "nli", "qa", "paraphrase")  # in the order of their random streams (one per split)
LABELS = {"nli": len(INFERENCES), "paraphrase": len(SAMENESS)}  # each round has one example per label
SHARED, ALONE = -1, -2  # chunks of facts: those shared with derived languages, and all others
MOST_SENTENCES = 1_000_000_000
MOST_EXAMPLES = 1_000_000  # maximum number of examples in a split, which must fit in memory
MANY = 2**40  # practically infinite


@dataclass(frozen=True)
class Sizes:
    train: int = 2_000
    dev: int = 500
    test: int = 1_000

    def __post_init__(self) -> None:
        for size in self:
            check_range("the number of examples in a split", size, 1, MOST_EXAMPLES)

    def __iter__(self) -> Iterator[int]:
        return iter((self.train, self.dev, self.test))


@dataclass(frozen=True)
class PocketEnglish(Source):
    """`size` sentences of Pocket English, plus statements of the `facts`, and task data from separate random
    streams. No example occurs twice in a task, and a third of the names are absent from the training data for
    tagging and NER. Questions (`qa`) and paraphrases are generated only if their sizes are given."""

    drawn = ("the lexicon", "the text", "the task items")

    language: Pocket = field(default_factory=Pocket)
    size: int = 50_000
    pos: Sizes = Sizes()
    ner: Sizes = Sizes()
    nli: Sizes = Sizes()
    facts: Facts | None = field(default=None, metadata=ADDED)
    qa: Sizes | None = field(default=None, metadata=ADDED)
    paraphrase: Sizes | None = field(default=None, metadata=ADDED)

    def __post_init__(self) -> None:
        check_range("the number of sentences in a corpus", self.size, 1, MOST_SENTENCES)

    @property
    def title(self) -> str:
        facts = f", and {self.facts.number} facts" if self.facts else ""
        return f"Pocket English, {self.language.types:,} word types{facts}"

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Yield each chunk's index in the random stream and its number of sentences. The facts follow the
        first chunk, because the preview shows the first chunk and the last chunks may be held out."""
        for number in range(-(-self.size // CHUNK)):
            yield number, min(CHUNK, self.size - number * CHUNK)
            if self.facts and not number:
                for kind in (SHARED, ALONE):
                    yield kind, len(self.facts.statements(self.language, kind == SHARED))

    def sentences(self, chunk: tuple[int, int]) -> tuple[list[Sentence], Counter[str]]:
        number, size = chunk
        if self.facts and number < 0:
            return self.facts.statements(self.language, number == SHARED), Counter()
        return list(islice(self.language.chunk(CORPUS, number), size)), Counter()

    def has_images(self, chunk: tuple[int, int]) -> bool:
        return chunk[0] != ALONE

    def questions(self) -> tuple[Question, ...]:
        return questions_of(self.facts, self.language) if self.facts else ()

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(task for task in TASKS if getattr(self, task))

    def task_data(self, task: str) -> TaskData:
        """Return the first examples of each split's stream, skipping rounds that repeat an earlier text."""
        language, labels = self.language, LABELS.get(task, 1)
        data = TaskData({}, {split: Counter() for split in SPLITS})
        seen: set[tuple[tuple[tuple[str, ...], ...], ...]] = set()
        first = CORPUS + 1 + TASKS.index(task) * len(SPLITS)
        for stream, (split, size) in enumerate(zip(SPLITS, getattr(self, task), strict=True), start=first):
            if task in GENERATED:
                examples = language.examples(task, stream)
            else:
                sentences = language.sentences(MANY, stream, withhold=split == SPLITS[0])
                examples = (Example(((sentence,),)) for sentence in sentences)
            distinct: list[Example] = []
            while len(distinct) < size:
                group = list(islice(examples, labels))
                texts = [example.words for example in group]
                if seen.isdisjoint(texts):
                    seen.update(texts)
                    distinct += group
                else:
                    data.left_out[split]["repetitions"] += labels
            data.examples[split] = distinct[:size]
        return data

    def corpus_fingerprint(self, trees: bool = False) -> str:
        return fingerprint(EDITION, self.language, self.size, *([self.facts] if self.facts else []))

    def task_fingerprint(self, task: str, trees: bool = False) -> str:
        extra = ["diagnostics"] if task == "nli" else []
        return fingerprint(EDITION, self.language, task, getattr(self, task), *extra)

    def reseeded(self, offset: int) -> Self:
        facts = replace(self.facts, seed=self.facts.seed + offset) if self.facts else None
        return replace(self, language=replace(self.language, seed=self.language.seed + offset), facts=facts)
