"""A source of files: running text for pretraining, and annotated files for tasks."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice, takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from calque.derive.artefact import input_digest, read_sealed, write_sealed
from calque.derive.easy import EasyText
from calque.derive.errors import BadInput, check_range, excluded, unknown
from calque.derive.example import Example
from calque.derive.fingerprint import ADDED, fingerprint
from calque.derive.parser import ParsedTrees, StanzaParser, StoredTrees
from calque.derive.readers import text as reader
from calque.derive.readers.conllu import WORDS, Units, read_conllu, read_lemmas
from calque.derive.readers.iob2 import read_iob2, read_word_labels
from calque.derive.readers.lines import EDITION, Chunk
from calque.derive.readers.nli import MISSING, OWN_PAIRS, OWN_TEXTS, PUBLISHED, read_nli
from calque.derive.readers.squad import read_questions, read_questions_as_written
from calque.derive.sentence import UNKNOWN, Sentence
from calque.derive.source import SPLITS, Lemmas, Source, TaskData, gather_lemmas
from calque.derive.vocabulary import add_up, most_frequent
from calque.derive.workers import Jobs, Progress, Workers, silent

TRAINED, TESTED = ("training examples", "test items")  # the parts that may be sampled
NO_TRANSLATION = "pairs that another language lacks"
Read = Callable[[Path, Counter[str]], Iterable[Example]]
Lacking = Mapping[int, Collection[int]]
"""Maps the size of parallel sets to the indices of examples that at least one of them lacks."""
WHOLE: Lacking = MappingProxyType({})


@dataclass(frozen=True)
class TaskFiles:
    """A task's files by split.

    held_out: the number of training examples sampled with `seed` for `dev` and for `test`, if they have no
        files.
    limit: the maximum number of training examples (0: no limit).
    tested: the maximum size of a dev or test set (0: no limit); parallel sets keep the same examples.
    numbered: replace ids with consecutive numbers, starting at 1.
    trained_id: train only on examples whose ids have this prefix.
    apart: exclude training examples that share a text with a held-out example.
    units: the units of treebanks, words or XTREME's.
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
            raise BadInput(f"a task needs at least one file with {'test' if self.train else 'training'} data")
        for name in ("held_out", "limit", "tested"):
            check_range(name, getattr(self, name), 0)
        check_range("a seed", self.seed, 0, 2**63 - 1)
        if self.numbered and self.trained_id:
            fault = f"trained_id {self.trained_id!r} selects by id, but `numbered` replaces the ids"
            raise BadInput(f"{fault}; use only one of them")

    @property
    def splits(self) -> dict[str, tuple[Path, ...]]:
        return {"train": self.train, "dev": self.dev, "test": self.test}

    @property
    def all(self) -> tuple[Path, ...]:
        return (*self.train, *self.dev, *self.test)

    def of_split(self, split: str) -> tuple[Path, ...]:
        """Return the files with a split's examples; for a held-out split, the training files."""
        return self.splits[split] or self.train

    @property
    def draws(self) -> dict[str, bool]:
        """Whether each part is sampled."""
        held_out = bool(self.held_out and not (self.dev and self.test))
        return {TRAINED: bool(self.limit) or held_out, TESTED: bool(self.tested) or not self.test}

    @property
    def identity(self) -> list[Any]:
        """The values that determine the examples, for fingerprints."""
        fields = {name: value for name, value in vars(self).items() if name not in SPLITS}
        return [fields, *(list(map(input_digest, paths)) for paths in self.splits.values())]

    def read(self, paths: Sequence[Path], read: Read, counts: Counter[str]) -> list[Example]:
        """Read the examples in files; raise BadInput if an id occurs twice."""
        examples = [example for path in paths for example in read(path, counts)]
        if self.numbered:
            return [replace(example, id=str(number)) for number, example in enumerate(examples, start=1)]
        ids = Counter(example.id for example in examples if example.id)
        if repeated := [name for name, count in ids.items() if count > 1]:
            fault = f"{len(repeated):,} ids belong to several examples, such as {repeated[0]!r}"
            raise BadInput(f"{fault}; make ids unique, or set `numbered`", paths[0])
        return examples

    def lacking(self, sets: Iterable[tuple[Sequence[Path], Read]]) -> Lacking:
        """Return the indices of examples that at least one of several parallel sets lacks."""
        places: defaultdict[int, set[int]] = defaultdict(set)
        for paths, read in sets:
            examples = self.read(paths, read, Counter())
            places[len(examples)] |= {place for place, example in enumerate(examples) if not example.texts}
        return places

    def read_tested(
        self, paths: Sequence[Path], read: Read, counts: Counter[str], lacking: Lacking = WHOLE
    ) -> list[Example]:
        """Read a test set or a sample of it, then remove examples in `lacking`."""
        examples = self.read(paths, read, counts)
        order = list(range(len(examples)))
        if self.tested and len(examples) > self.tested:
            counts["over the limit"] += len(examples) - self.tested
            if all(example.id for example in examples) and not self.numbered:
                order.sort(key=lambda i: fingerprint(self.seed, examples[i].id))
            else:
                order = np.random.default_rng([self.seed, 1]).permutation(len(examples)).tolist()
            order = sorted(order[: self.tested])
        return _without_missing(examples, order, lacking, counts)

    def load(self, read: Read, lacking: Lacking = WHOLE) -> TaskData:
        """Read all splits, with counts of exclusions; `lacking` applies to the test set."""
        counts: dict[str, Counter[str]] = {split: Counter() for split in SPLITS}
        everything = self.read(self.train, read, counts["train"])
        train = [example for example in everything if example.id.startswith(self.trained_id)]
        if everything and not train:
            fault = f"no id starts with {self.trained_id!r}; the first is {everything[0].id!r}"
            raise BadInput(fault, self.train[0])
        counts["train"][f"ids that do not start with {self.trained_id}"] += len(everything) - len(train)
        loaded = {
            "train": train,
            "dev": self.read_tested(self.dev, read, counts["dev"]),
            "test": self.read_tested(self.test, read, counts["test"], lacking),
        }
        for split, examples in loaded.items():
            if self.splits[split] and not any(example.texts for example in examples):
                raise BadInput(f"no labelled example{excluded(counts[split])}", self.splits[split][0])
        for split, places in self._draw(train, counts["train"]).items():
            loaded[split] = _without_missing(train, places, WHOLE, counts[split])
        data = {split: [example.interned() for example in loaded[split]] for split in SPLITS}
        return TaskData(data, {split: +count for split, count in counts.items()})

    def _draw(self, examples: Sequence[Example], counts: Counter[str]) -> dict[str, list[int]]:
        """Return the indices of the examples in each sampled split, with the training split last; `counts`
        receives the number of unused examples."""
        order = np.random.default_rng(self.seed).permutation(len(examples)).tolist()
        without_files = [split for split, paths in self.splits.items() if not paths and self.held_out]
        held_out = self.held_out * len(without_files)
        if held_out >= len(examples):
            fault = f"cannot hold out {held_out:,} of {len(examples):,} examples{excluded(counts)}"
            expected = "reduce held_out, or provide files with dev and test data"
            raise BadInput(f"{fault}; {expected}", self.train[0])
        drawn = {}
        for number, split in enumerate(without_files):
            drawn[split] = sorted(order[number * self.held_out : (number + 1) * self.held_out])
            counts[f"held out as {split}"] += self.held_out
        rest = order[held_out:]
        if self.apart:
            texts = {text for i in order[:held_out] for text in _texts(examples[i])}
            rest = [i for i in rest if texts.isdisjoint(_texts(examples[i]))]
            if not rest:
                fault = "no training examples remain: all of them share a text with a held-out example"
                raise BadInput(fault, self.train[0])
        drawn["train"] = sorted(rest[: self.limit] if self.limit else rest)
        counts["with a text of one held out"] += len(order) - held_out - len(rest)
        counts["over the limit"] += len(rest) - len(drawn["train"])
        return drawn


def _without_missing(
    examples: Sequence[Example], places: Sequence[int], lacking: Lacking, counts: Counter[str]
) -> list[Example]:
    """Return the examples at `places`, leaving out and counting those missing here or in a parallel set."""
    elsewhere = lacking.get(len(examples), ())
    kept = [place for place in places if examples[place].texts]
    whole = [examples[place] for place in kept if place not in elsewhere]
    counts.update(+Counter({MISSING: len(places) - len(kept), NO_TRANSLATION: len(kept) - len(whole)}))
    return whole


@dataclass(frozen=True)
class Files(Source):
    """A source that reads text files of any kind (see `readers.text`) and task files (see `READERS`).

    megabytes: how much of each text file is read (0: no limit).
    parser: a folder of Stanza models, or stored trees.
    escaped: whether to undo the Moses tokenizer's escaping.
    column: the key of the text in JSON lines.
    easy: keep only easy sentences.
    """

    text: tuple[Path, ...]
    pos: TaskFiles | None = None
    ner: TaskFiles | None = None
    nli: TaskFiles | None = None
    qa: TaskFiles | None = field(default=None, metadata=ADDED)
    paraphrase: TaskFiles | None = field(default=None, metadata=ADDED)
    word_labels: TaskFiles | None = field(default=None, metadata=ADDED)
    text_labels: TaskFiles | None = field(default=None, metadata=ADDED)
    pair_labels: TaskFiles | None = field(default=None, metadata=ADDED)
    megabytes: int = 0
    parser: Path | StoredTrees | None = None
    escaped: bool = field(default=False, metadata=ADDED)
    column: str = field(default="text", metadata=ADDED)
    easy: EasyText | None = field(default=None, metadata=ADDED)
    trees: ParsedTrees | None = field(default=None, compare=False)  # set by `ready`
    frequent: frozenset[str] = field(default=frozenset(), compare=False)  # set by `ready`

    def __post_init__(self) -> None:
        check_range("megabytes", self.megabytes, 0)
        for task in self.easy.tasks if self.easy else ():
            if task not in READERS:
                raise BadInput(unknown("task", task, READERS))
        if wrong := [task for task, (files, _) in self._tasks.items() if files.units != WORDS]:
            reason = "because languages are derived from trees of words"
            raise BadInput(f"{wrong[0]}.units must be {WORDS!r}, {reason}")

    @property
    def title(self) -> str:
        of = f"{self.megabytes} MB of " if self.megabytes else ""
        easy = "easy sentences of " if self.easy else ""
        return easy + of + ", ".join(path.name for path in self.text)

    def chunks(self) -> Iterator[Chunk]:
        for path in self.text:
            yield from takewhile(lambda chunk: chunk.begins_within(self.megabytes), reader.chunks(path))

    def sentences(self, chunk: Chunk) -> tuple[list[Sentence], Counter[str]]:
        sentences, left_out = reader.sentences(chunk, self.escaped, self.column)
        if self.easy:
            sentences = self.easy.kept(sentences, self.frequent, left_out)
        return (self.trees.add_to(sentences, left_out) if self.trees else sentences), left_out

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(self._tasks)

    def task_data(self, task: str) -> TaskData:
        files, read = self._tasks[task]
        data = files.load(self._easy_reader(read) if self.easy and task in self.easy.tasks else read)
        if self.trees:
            for split, examples in data.examples.items():
                data.examples[split] = _with_trees(examples, self.trees, data.left_out[split])
        return data

    def files_of(self, task: str, split: str) -> tuple[Path, ...]:
        return self._tasks[task][0].of_split(split)

    def corpus_fingerprint(self, trees: bool = False) -> str:
        text = [(input_digest(path), reader.detect(path)) for path in self.text]
        easy = replace(self.easy, tasks=()) if self.easy else None
        settings = self.megabytes, self.escaped, self._parses(trees), self.column, easy
        return fingerprint("files", EDITION, text, *settings)

    def task_fingerprint(self, task: str, trees: bool = False) -> str:
        easy = self.corpus_fingerprint() if self.easy and task in self.easy.tasks else None
        return fingerprint("files", EDITION, task, self._tasks[task][0].identity, self._parses(trees), easy)

    @property
    def drawn(self) -> tuple[str, ...]:
        described = []
        for what in (TRAINED, TESTED):
            tasks = [task for task, (files, _) in self._tasks.items() if files.draws[what]]
            if tasks:
                described.append(f"the {what} of {', '.join(tasks)}")
        return tuple(described)

    def reseeded(self, by: int) -> Self:
        tasks = ((task, files) for task, (files, _) in self._tasks.items() if any(files.draws.values()))
        changed: dict[str, Any] = {task: replace(files, seed=files.seed + by) for task, files in tasks}
        return replace(self, **changed)

    @property
    def _tasks(self) -> dict[str, tuple[TaskFiles, Read]]:
        files = {task: getattr(self, task) for task in READERS}
        return {task: (own, READERS[task]) for task, own in files.items() if own}

    def lemmas(self) -> Lemmas:
        tagged = self.pos.all if self.pos else ()
        return gather_lemmas(chain.from_iterable(map(read_lemmas, tagged)))

    def ready(self, cache: Path, trees: bool = False, workers: int = 1, progress: Progress = silent) -> Self:
        parser = self._parser if trees else None
        parsed = ParsedTrees(parser, cache) if parser else self.trees
        frequent = self._frequent_words(cache, workers, progress) if self.easy else self.frequent
        return replace(self, trees=parsed, frequent=frequent)

    def _frequent_words(self, cache: Path, workers: int, progress: Progress) -> frozenset[str]:
        assert self.easy is not None
        path = cache / f"{self.corpus_fingerprint()}.frequent.json"
        if not path.exists():
            with Workers(workers) as pool:
                chunks = Jobs(list(self.chunks()), pool, progress)
                words, _ = add_up(chunks.map(self._count_words, "counting words for easy sentences"))
            write_sealed(path, {"words": most_frequent(words, self.easy.types)})
        return frozenset(read_sealed(path, "frequent words")["words"])

    def _count_words(self, chunk: Chunk) -> Counter[str]:
        sentences, _ = reader.sentences(chunk, self.escaped, self.column)
        counts = Counter(chain.from_iterable(sentence.words for sentence in sentences))
        del counts[UNKNOWN]
        return counts

    def _easy_reader(self, read: Read) -> Read:
        easy, frequent = self.easy, self.frequent
        assert easy is not None
        return lambda path, counts: easy.kept(read(path, counts), frequent, counts)

    def _parses(self, trees: bool) -> str:
        parser = self._parser if trees else None
        return parser.fingerprint() if parser else ""

    @property
    def _parser(self) -> StanzaParser | StoredTrees | None:
        """The parser for sentences without trees; None if all files are treebanks."""
        if self.parser is not None:
            return StanzaParser(self.parser) if isinstance(self.parser, Path) else self.parser
        if {*self._tasks} <= {TAGGED} and all(reader.detect(path) == "treebank" for path in self.text):
            return None
        raise BadInput(
            "languages with a different word order need parsed sentences: set source.parser or CALQUE_STANZA "
            "to a folder of Stanza models (docs/word-order.md explains how to get one), or use only treebanks"
        )


def _with_trees(examples: Sequence[Example], trees: ParsedTrees, counts: Counter[str]) -> list[Example]:
    flat = list(chain.from_iterable(example.sentences for example in examples))
    parsed = iter(trees.add_to(flat, counts))
    with_trees = []
    for example in examples:
        texts = tuple(tuple(islice(parsed, len(text))) for text in example.texts)
        with_trees.append(replace(example, texts=texts))
    return with_trees


def _texts(example: Example) -> set[str]:
    return {" ".join(sentence.text for sentence in text) for text in example.texts}


def _each(read: Callable[..., Iterable[Sentence]], path: Path, counts: Counter[str]) -> Iterator[Example]:
    return (Example(((sentence,),)) for sentence in read(path, counts))


TAGGED = "pos"  # the task whose files are treebanks
PARALLEL = {"nli": PUBLISHED, "paraphrase": PUBLISHED, "text_labels": OWN_TEXTS, "pair_labels": OWN_PAIRS}
"""The columns of text classification tasks, whose files are parallel across languages."""
_pairs = {task: partial(read_nli, columns=columns) for task, columns in PARALLEL.items()}
READERS: dict[str, Read] = {
    TAGGED: partial(_each, partial(read_conllu, unparsed=True)),
    "ner": partial(_each, read_iob2),
    **_pairs,
    "qa": read_questions,
    "word_labels": partial(_each, read_word_labels),
}
"""Maps each task to the reader of its English files, which splits texts into sentences and words."""


def written(task: str, language: str = "", units: Units = WORDS) -> Read:
    """Return a task's reader that keeps texts as written; treebanks are read in `units` for `language`."""
    if task not in READERS:
        raise BadInput(f"there is no reader for the task {task}; available: {', '.join(READERS)}")
    if task == TAGGED:
        return partial(_each, partial(read_conllu, unparsed=True, units=units, language=language))
    if units != WORDS:
        raise BadInput(f"the task {task} has no units {units!r}; use {WORDS!r} (only {TAGGED} has others)")
    if task == "qa":
        return read_questions_as_written
    return partial(read_nli, cut=_whole, columns=PARALLEL[task]) if task in PARALLEL else READERS[task]


def _whole(text: str, _: Counter[str]) -> list[list[str]]:
    words = text.split()
    return [words] if words else []
