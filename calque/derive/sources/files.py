"""A source that reads files: running text for pretraining, and annotated files for tasks."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from calque.derive.errors import BadInput, check_range, excluded, unknown
from calque.derive.files import input_digest, read_sealed, write_sealed
from calque.derive.fingerprint import ADDED, fingerprint
from calque.derive.parser import ParsedTrees, StanzaParser, StoredTrees
from calque.derive.readers import examples as tasks
from calque.derive.readers import text as reader
from calque.derive.readers.conllu import WORDS, Units, read_conllu
from calque.derive.readers.lines import EDITION, Chunk
from calque.derive.sentence import UNKNOWN, Example, Sentence, word_labels
from calque.derive.source import SPLITS, Source, TaskData
from calque.derive.vocabulary import add_up, most_frequent
from calque.derive.workers import Progress, Workers, silent

Read = Callable[[Path, Counter[str]], Iterable[Example]]
EVERYDAY, EVERYDAY_ENGLISH = Path(__file__).parents[1] / "everyday", "Everyday English"
Lacking = Collection[tuple[int, int]]
"""The examples that a parallel set lacks, as (size of the set, index)."""
LACKING = "pairs that another language lacks"
Item = TypeVar("Item", Sentence, Example)


@dataclass(frozen=True)
class EasyText:
    """Keeps sentences of `shortest` to `longest` words that contain only the `types` most frequent words
    (after Dufter and Schütze 2020), also in examples for the `tasks`, where words in entities may be rare."""

    types: int = 4_000
    shortest: int = 4
    longest: int = 20
    tasks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_range("types", self.types, 1)

    def kept(self, items: Iterable[Item], frequent: Collection[str], counts: Counter[str]) -> list[Item]:
        """Return the easy sentences, or the examples of easy sentences; count the others."""
        easy_items = []
        for item in items:
            kind = "examples" if isinstance(item, Example) else "sentences"
            sentences = item.sentences if isinstance(item, Example) else [item]
            reasons = [reason for sentence in sentences if (reason := self._reason(sentence, frequent))]
            if reasons:
                counts[f"{kind} {reasons[0]}"] += 1
            else:
                easy_items.append(item)
        return easy_items

    def _reason(self, sentence: Sentence, frequent: Collection[str]) -> str:
        if not self.shortest <= len(sentence) <= self.longest:
            return f"too {'short' if len(sentence) < self.shortest else 'long'} to be easy"
        labelled = zip(sentence.words, word_labels(sentence), strict=True)
        is_rare = any(not label and word not in frequent for word, label in labelled)
        return "with a word too rare to be easy" if is_rare else ""


@dataclass(frozen=True)
class TaskFiles:
    """A task's files by split.

    held_out: the number of training examples sampled with `seed` for each of `dev` and `test` that has no
    files. limit, tested: the maximum number of training examples and of dev or test examples (0: no limit);
    parallel sets keep the same examples. numbered: replace ids with consecutive numbers from 1. trained_id:
    train only on examples whose ids have this prefix. apart: exclude training examples that share a text with
    a held-out example. units: the units of treebanks.
    """

    train: tuple[Path, ...]
    test: tuple[Path, ...] = ()
    dev: tuple[Path, ...] = ()
    held_out: int = 1_000
    limit: int = 0
    seed: int = 0
    numbered: bool = field(default=False, metadata=ADDED)
    tested: int = field(default=0, metadata=ADDED)
    trained_id: str = field(default="", metadata=ADDED)
    apart: bool = field(default=False, metadata=ADDED)
    units: Units = field(default=WORDS, metadata=ADDED)

    def __post_init__(self) -> None:
        if not self.train or not (self.test or self.held_out):
            raise BadInput("a task needs a training file, and a test file or held-out examples")
        for name in ("held_out", "limit", "tested", "seed"):
            check_range(name, getattr(self, name), 0)

    @property
    def splits(self) -> dict[str, tuple[Path, ...]]:
        return {"train": self.train, "dev": self.dev, "test": self.test}

    def of_split(self, split: str) -> tuple[Path, ...]:
        return self.splits[split] or self.train

    @property
    def identity(self) -> list[Any]:
        """The values that determine the examples, for fingerprints."""
        fields = {name: value for name, value in vars(self).items() if name not in SPLITS}
        return [fields, *(list(map(input_digest, paths)) for paths in self.splits.values())]

    def read(self, paths: Sequence[Path], read: Read, counts: Counter[str]) -> list[Example]:
        """Read the examples in files; raise BadInput if an id is repeated."""
        examples = [example for path in paths for example in read(path, counts)]
        if self.numbered:
            return [replace(example, id=str(number)) for number, example in enumerate(examples, start=1)]
        ids = Counter(example.id for example in examples if example.id)
        if repeated := [name for name, count in ids.items() if count > 1]:
            fault = f"{len(repeated):,} ids belong to several examples, such as {repeated[0]!r}"
            raise BadInput(f"{fault}; make ids unique, or set `numbered`", paths[0])
        return examples

    def lacking(self, sets: Iterable[tuple[Sequence[Path], Read]]) -> Lacking:
        """Return the examples without texts in at least one of several parallel sets."""
        lacking = set[tuple[int, int]]()
        for paths, read in sets:
            examples = self.read(paths, read, Counter())
            lacking |= {(len(examples), i) for i, example in enumerate(examples) if not example.texts}
        return lacking

    def read_tested(
        self, paths: Sequence[Path], read: Read, counts: Counter[str], lacking: Lacking = ()
    ) -> list[Example]:
        """Read a test set or a sample of it, without examples missing from it or a parallel set."""
        examples = self.read(paths, read, counts)
        size, order = len(examples), list(range(len(examples)))
        if self.tested and size > self.tested:
            counts["over the limit"] += size - self.tested
            if all(example.id for example in examples) and not self.numbered:
                order.sort(key=lambda i: fingerprint(self.seed, examples[i].id))
            else:
                order = np.random.default_rng([self.seed, 1]).permutation(size).tolist()
            order = sorted(order[: self.tested])
        present = [i for i in order if examples[i].texts]
        parallel = [i for i in present if (size, i) not in lacking]
        counts += Counter({tasks.MISSING: len(order) - len(present), LACKING: len(present) - len(parallel)})
        return [examples[i] for i in parallel]

    def load(self, read: Read, lacking: Lacking = ()) -> TaskData:
        """Read all splits and count exclusions; `lacking` applies to the test set."""
        counts: dict[str, Counter[str]] = {split: Counter() for split in SPLITS}
        training = self.read(self.train, read, counts["train"])
        train = [example for example in training if example.id.startswith(self.trained_id)]
        counts["train"][f"ids that do not start with {self.trained_id}"] += len(training) - len(train)
        data = {
            "train": train,
            "dev": self.read_tested(self.dev, read, counts["dev"]),
            "test": self.read_tested(self.test, read, counts["test"], lacking),
        }
        for split, paths in self.splits.items():
            if paths and not any(example.texts for example in data[split]):
                raise BadInput(f"no labelled example{excluded(counts[split])}", paths[0])
        for split, sample in self._draw(train, counts["train"]).items():
            data[split] = [example for example in sample if example.texts]
            counts[split][tasks.MISSING] += len(sample) - len(data[split])
        examples = {split: [example.interned() for example in data[split]] for split in SPLITS}
        return TaskData(examples, {split: +count for split, count in counts.items()})

    def _draw(self, examples: Sequence[Example], counts: Counter[str]) -> dict[str, list[Example]]:
        order = np.random.default_rng(self.seed).permutation(len(examples)).tolist()
        without_files = [split for split, paths in self.splits.items() if not paths and self.held_out]
        held_out = self.held_out * len(without_files)
        if held_out >= len(examples):
            fault = f"cannot hold out {held_out:,} of {len(examples):,} examples{excluded(counts)}"
            raise BadInput(f"{fault}; reduce held_out, or provide dev and test files", self.train[0])
        places = {}
        for number, split in enumerate(without_files):
            places[split] = order[number * self.held_out : (number + 1) * self.held_out]
            counts[f"held out as {split}"] += self.held_out
        training = order[held_out:]
        if self.apart:
            texts = {text for i in order[:held_out] for text in _texts(examples[i])}
            training = [i for i in training if texts.isdisjoint(_texts(examples[i]))]
            counts["with a text of one held out"] += len(order) - held_out - len(training)
            if not training:
                raise BadInput("all training examples share a text with a held-out example", self.train[0])
        places["train"] = training[: self.limit or None]
        counts["over the limit"] += len(training) - len(places["train"])
        return {split: [examples[i] for i in sorted(drawn)] for split, drawn in places.items()}


def _texts(example: Example) -> set[str]:
    return {" ".join(sentence.text for sentence in text) for text in example.texts}


@dataclass(frozen=True)
class Files(Source):
    """Text and task files; `parser` is Stanza's folder or stored trees; `easy` keeps easy sentences."""

    former_fields: ClassVar = {"megabytes": 0}

    text: tuple[Path, ...]
    pos: TaskFiles | None = None
    ner: TaskFiles | None = None
    nli: TaskFiles | None = None
    paraphrase: TaskFiles | None = field(default=None, metadata=ADDED)
    word_labels: TaskFiles | None = field(default=None, metadata=ADDED)
    text_labels: TaskFiles | None = field(default=None, metadata=ADDED)
    pair_labels: TaskFiles | None = field(default=None, metadata=ADDED)
    parser: Path | StoredTrees | None = None
    easy: EasyText | None = field(default=None, metadata=ADDED)
    trees: ParsedTrees | None = field(default=None, compare=False)  # set by `ready`
    frequent: frozenset[str] = field(default=frozenset(), compare=False)  # set by `ready`

    def __post_init__(self) -> None:
        if wrong := [task for task in self.tasks if getattr(self, task).units != WORDS]:
            raise BadInput(f"{wrong[0]}.units must be {WORDS!r}, because languages are derived from words")

    @property
    def title(self) -> str:
        names = (EVERYDAY_ENGLISH if path.is_relative_to(EVERYDAY) else path.name for path in self.text)
        return ("easy sentences of " if self.easy else "") + ", ".join(names)

    def chunks(self) -> Iterator[Chunk]:
        return chain.from_iterable(map(reader.chunks, self.text))

    def sentences(self, chunk: Chunk) -> tuple[list[Sentence], Counter[str]]:
        sentences, left_out = reader.sentences(chunk)
        if self.easy:
            sentences = self.easy.kept(sentences, self.frequent, left_out)
        return (self.trees.add_to(sentences, left_out) if self.trees else sentences), left_out

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(task for task in READERS if getattr(self, task))

    def task_data(self, task: str) -> TaskData:
        read, easy, trees = READERS[task], self.easy, self.trees

        def prepared(path: Path, counts: Counter[str]) -> Iterable[Example]:
            examples = read(path, counts)
            return easy.kept(examples, self.frequent, counts) if easy and task in easy.tasks else examples

        data: TaskData = getattr(self, task).load(prepared)
        if trees:
            for split, examples in data.examples.items():
                data.examples[split] = _with_trees(examples, trees, data.left_out[split])
        return data

    def files_of(self, task: str, split: str) -> tuple[Path, ...]:
        return tuple(getattr(self, task).of_split(split))

    def corpus_fingerprint(self, trees: bool = False) -> str:
        text = [(input_digest(path), reader.detect(path)) for path in self.text]
        easy = replace(self.easy, tasks=()) if self.easy else None
        return fingerprint("files", EDITION, text, 0, False, self._parses(trees), "text", easy)

    def task_fingerprint(self, task: str, trees: bool = False) -> str:
        easy = self.corpus_fingerprint() if self.easy and task in self.easy.tasks else None
        return fingerprint("files", EDITION, task, getattr(self, task).identity, self._parses(trees), easy)

    def ready(self, cache: Path, trees: bool = False, workers: int = 1, progress: Progress = silent) -> Self:
        parser = self._parser(trees)
        ready = replace(self, trees=ParsedTrees(parser, cache)) if parser else self
        if not self.easy:
            return ready
        path = cache / f"{self.corpus_fingerprint()}.frequent.json"
        if not path.exists():
            with Workers(workers, progress) as pool:
                words, _ = add_up(pool.map(_count_words, self.chunks, "counting words for easy sentences"))
            write_sealed(path, {"words": most_frequent(words, self.easy.types)})
        return replace(ready, frequent=frozenset(read_sealed(path, "frequent words")["words"]))

    def _parses(self, trees: bool) -> str:
        parser = self._parser(trees)
        return parser.fingerprint() if parser else ""

    def _parser(self, trees: bool) -> StanzaParser | StoredTrees | None:
        """Return the parser for sentences without trees, if `trees` and if not all files are treebanks."""
        if not trees:
            return None
        if self.parser is not None:
            return StanzaParser(self.parser) if isinstance(self.parser, Path) else self.parser
        if {*self.tasks} <= {TAGGED} and all(reader.detect(path) == "treebank" for path in self.text):
            return None
        expected = "set source.parser or CALQUE_STANZA to a folder of Stanza models (docs/word-order.md)"
        raise BadInput(f"other word orders need parsed sentences: {expected}, or use only treebanks")


def _count_words(chunk: Chunk) -> Counter[str]:
    sentences, _ = reader.sentences(chunk)
    counts = Counter(chain.from_iterable(sentence.words for sentence in sentences))
    del counts[UNKNOWN]
    return counts


def _with_trees(examples: Sequence[Example], trees: ParsedTrees, counts: Counter[str]) -> list[Example]:
    parsed = iter(trees.add_to([sentence for example in examples for sentence in example.sentences], counts))
    return [
        replace(example, texts=tuple(tuple(islice(parsed, len(text))) for text in example.texts))
        for example in examples
    ]


def _examples(read: Callable[..., Iterable[Sentence]], path: Path, counts: Counter[str]) -> Iterator[Example]:
    return (Example(((sentence,),)) for sentence in read(path, counts))


TAGGED = "pos"  # the task whose files are treebanks
PARALLEL = {
    "nli": tasks.PUBLISHED,
    "paraphrase": tasks.PUBLISHED,
    "text_labels": tasks.OWN_TEXTS,
    "pair_labels": tasks.OWN_PAIRS,
}
"""The columns of text classification tasks, whose files are parallel."""
READERS: dict[str, Read] = {
    TAGGED: partial(_examples, read_conllu),
    "ner": partial(_examples, tasks.read_iob2),
    **{task: partial(tasks.read_nli, columns=columns) for task, columns in PARALLEL.items()},
    "word_labels": partial(_examples, tasks.read_word_labels),
}
"""The readers of each task's English files, which split texts into sentences and words."""


def written(task: str, language: str = "", units: Units = WORDS) -> Read:
    """Return a task's reader that splits texts only at white space, and reads treebanks in `units`."""
    if task == "qa":
        return tasks.read_questions
    if task not in READERS:
        raise BadInput(unknown("task", task, READERS))
    if task == TAGGED:
        return partial(_examples, partial(read_conllu, units=units, language=language))
    return partial(tasks.read_nli, cut=_whole, columns=PARALLEL[task]) if task in PARALLEL else READERS[task]


def _whole(text: str) -> list[list[str]]:
    return [text.split()] if text.strip() else []
