"""A folder with a task's examples in several languages; pretraining does not read it.

<split>.jsonl              examples in the source language, one per line
<split>.<language>.jsonl   examples in a different language: images of the source's examples, or natural
                           examples
manifest.json              written last: numbers of examples, and exclusions by reason
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from calque.derive.artefact import Artefact, input_digest, making
from calque.derive.build import check_transforms, learn
from calque.derive.errors import BadInput
from calque.derive.example import Example, read_examples, write_examples
from calque.derive.fingerprint import code_facts, fingerprint, with_code
from calque.derive.language import SOURCE
from calque.derive.readers.conllu import WORDS
from calque.derive.readers.lines import EDITION
from calque.derive.source import Source
from calque.derive.sources.files import PARALLEL, WHOLE, Lacking, TaskFiles, written
from calque.derive.transform import Account, Transform, image_of_example
from calque.derive.workers import Progress, silent

KIND, FORMAT = "task data", 4
"""The manifest's kind, and its format, a number incremented when the same inputs would yield other files."""
Tests = Mapping[str, tuple[Path, ...]]  # annotated files by language
NONE: Tests = MappingProxyType({})


@dataclass(frozen=True)
class TaskFolder:
    artefact: Artefact

    @classmethod
    def open(cls, folder: Path) -> Self:
        return cls(Artefact.open(folder, KIND, FORMAT))

    @property
    def task(self) -> str:
        return str(self.artefact.facts["task"])

    def path(self, split: str, language: str = SOURCE) -> Path:
        return self.artefact.path(_file_of(split, language))

    def examples(self, split: str, language: str = SOURCE) -> Iterator[Example]:
        return read_examples(self.path(split, language))


def _file_of(split: str, language: str = SOURCE) -> str:
    return f"{split}.jsonl" if language == SOURCE else f"{split}.{language}.jsonl"


class _FolderWriter:
    """Writes examples to a new folder, `part`, and facts about them to `splits` in its manifest."""

    def __init__(self, part: Path, splits: dict[str, Any]) -> None:
        self.part, self.splits = part, splits

    def add(
        self, split: str, language: str, examples: Iterable[Example], facts: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Write a split's examples in a language; return their manifest entry."""
        entry = {"examples": write_examples(self.part / _file_of(split, language), examples), **facts}
        of_split = self.splits.setdefault(split, {"languages": {}})
        if language == SOURCE:
            of_split |= entry
        else:
            of_split["languages"][language] = entry
        return entry


@contextmanager
def _new_folder(
    folder: Path, task: str, languages: Iterable[str], facts: Mapping[str, Any]
) -> Iterator[_FolderWriter]:
    splits = dict[str, Any]()
    manifest = {"format": FORMAT, **facts, "task": task, "languages": list(languages), "splits": splits}
    with making(folder, KIND, manifest) as part:
        yield _FolderWriter(part, splits)


def task_data_fingerprint(
    examples: Callable[[str, bool], str], task: str, transforms: Sequence[Transform]
) -> str:
    """Return a fingerprint of a task's examples in these languages, given `Source.task_identity`."""
    trees = any("trees" in transform.needs for transform in transforms)
    identities = [transform.identity() for transform in transforms]
    return with_code(fingerprint(FORMAT, task, examples(task, trees), identities), transforms)


def derive_task(
    source: Source,
    task: str,
    transforms: Sequence[Transform],
    folder: Path,
    cache: Path,
    progress: Progress = silent,
) -> Path:
    """Derive a task's examples with each transform and write them atomically to `folder`."""
    check_transforms(transforms)
    if task not in source.tasks:
        available = ", ".join(source.tasks) or "none"
        raise BadInput(f"the source has no examples for the task {task}; available: {available}")
    print_ = task_data_fingerprint(source.task_identity, task, transforms)
    own = {each.name: task_data_fingerprint(source.task_identity, task, [each]) for each in transforms}
    facts = {"fingerprint": print_, "fingerprints": own, **code_facts(source, transforms)}
    trees = any("trees" in transform.needs for transform in transforms)
    source = source.ready(cache, trees, progress=progress)
    ready = learn(transforms, cache, progress)
    progress(f"examples of {task}", 0, 1)
    data = source.task_data(task)
    with _new_folder(folder, task, own, facts) as out:
        for split, examples in data.examples.items():
            left_out = dict(data.left_out.get(split, {}))
            out.add(split, SOURCE, examples, {**_sizes(examples), "left out": left_out})
            for transform in ready:
                _add_images(out, split, examples, transform)
    progress(f"examples of {task}", 1, 1)
    return folder


def _sizes(examples: Iterable[Example]) -> dict[str, int]:
    sentences = [sentence for example in examples for sentence in example.sentences]
    spans = sum(len(sentence.spans) for sentence in sentences)
    return {"sentences": len(sentences), "words": sum(map(len, sentences)), "spans": spans}


def _add_images(out: _FolderWriter, split: str, examples: Sequence[Example], transform: Transform) -> None:
    account = Account()
    # Random transforms are seeded by an example's position in its split.
    images = (image_of_example(transform, each, number, account) for number, each in enumerate(examples))
    entry = out.add(split, transform.name, images, {})
    entry["spans split"] = account.split_spans
    if account.left_out:
        entry["left out"] = dict(sorted(account.left_out.items()))
    entry["kept in place"] = dict(sorted(account.kept.items()))


def natural_task_fingerprint(task: str, files: TaskFiles, tests: Tests, source: str = "") -> str:
    """Return the fingerprint of the folder that `write_natural_task` writes for these inputs."""
    sets = {name: list(map(input_digest, paths)) for name, paths in tests.items()}
    by_language = task in PARALLEL or files.units != WORDS
    return fingerprint(FORMAT, EDITION, task, files.identity, sets, source if by_language else "")


def write_natural_task(task: str, files: TaskFiles, tests: Tests, folder: Path, source: str = "") -> Path:
    """Write the examples in `files` (in the language `source`), and test sets in other languages. A pair that
    is missing from one parallel set is excluded from all of them."""
    own = written(task, source, files.units)
    lacking: Lacking = WHOLE
    if task in PARALLEL:
        parallel = [(paths, own) for paths in tests.values()]
        lacking = files.lacking([*([(files.test, own)] if files.test else []), *parallel])
    data = files.load(own, lacking)
    print_ = natural_task_fingerprint(task, files, tests, source)
    with _new_folder(folder, task, tests, {"fingerprint": print_}) as out:
        for split, examples in data.examples.items():
            out.add(split, SOURCE, examples, {"left out": dict(data.left_out.get(split, {}))})
        for language, paths in tests.items():
            counts = Counter[str]()
            reader = written(task, language, files.units)
            examples = files.read_tested(paths, reader, counts, lacking)
            if not examples:
                raise BadInput(f"no examples for {task} in {language}", paths[0] if paths else None)
            out.add("test", language, examples, {"left out": dict(+counts)})
    return folder
