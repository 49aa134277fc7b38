"""A folder with a task's examples in several languages; pretraining does not read it.

<split>.jsonl              examples in the source language, one per line
<split>.<language>.jsonl   examples in another language: images of the source's, or natural ones
manifest.json              written last: numbers of examples, and exclusions by reason
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from calque.derive.build import check_transforms
from calque.derive.errors import BadInput, unknown
from calque.derive.files import Artefact, input_digest, making
from calque.derive.fingerprint import fingerprint, with_code
from calque.derive.languages import SOURCE
from calque.derive.readers.conllu import WORDS
from calque.derive.readers.lines import EDITION
from calque.derive.sentence import Example, read_examples, write_examples
from calque.derive.source import Source, TaskData
from calque.derive.sources.files import PARALLEL, Lacking, TaskFiles, written
from calque.derive.transform import Account, Transform, image_of_example
from calque.derive.workers import Progress, silent

KIND, FORMAT = "task data", 4  # the format is incremented when the same inputs would yield different files
Tests = Mapping[str, tuple[Path, ...]]  # annotated files by language


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


def _file_of(split: str, language: str) -> str:
    return f"{split}.jsonl" if language == SOURCE else f"{split}.{language}.jsonl"


def task_data_fingerprint(source: Source, task: str, transforms: Sequence[Transform]) -> str:
    """Return a fingerprint of derived examples."""
    examples = with_code(source.task_fingerprint(task, any(each.needs_trees for each in transforms)), source)
    identities = [transform.identity() for transform in transforms]
    return with_code(fingerprint(FORMAT, task, examples, identities), transforms)


def derive_task(
    source: Source,
    task: str,
    transforms: Sequence[Transform],
    folder: Path,
    cache: Path,
    progress: Progress = silent,
) -> Path:
    """Write a task's examples and their images under each transform to `folder`."""
    check_transforms(transforms)
    if task not in source.tasks:
        raise BadInput(unknown("task with examples in the source", task, source.tasks))
    prints = {each.name: task_data_fingerprint(source, task, [each]) for each in transforms}
    identity = {"fingerprint": task_data_fingerprint(source, task, transforms), "fingerprints": prints}
    source = source.ready(cache, any(each.needs_trees for each in transforms), progress=progress)
    ready = [transform.ready(cache) for transform in transforms]
    progress(f"examples of {task}", 0, 1)
    data, splits = source.task_data(task), dict[str, Any]()
    facts = {"format": FORMAT, **identity, "task": task, "languages": list(prints), "splits": splits}
    with making(folder, KIND, facts) as part:
        for split, examples in data.examples.items():
            sentences = [sentence for example in examples for sentence in example.sentences]
            images = {each.name: _write_images(part, split, examples, each) for each in ready}
            splits[split] = _write_split(part, split, data) | {
                "languages": images,
                "sentences": len(sentences),
                "words": sum(map(len, sentences)),
                "spans": sum(len(sentence.spans) for sentence in sentences),
            }
    progress(f"examples of {task}", 1, 1)
    return folder


def _write_split(part: Path, split: str, data: TaskData) -> dict[str, Any]:
    count = write_examples(part / _file_of(split, SOURCE), data.examples[split])
    return {"languages": {}, "examples": count, "left out": dict(data.left_out.get(split, {}))}


def _write_images(
    part: Path, split: str, examples: Sequence[Example], transform: Transform
) -> dict[str, Any]:
    account = Account()
    # Random transforms are seeded by an example's position in its split.
    images = (image_of_example(transform, example, i, account) for i, example in enumerate(examples))
    count = write_examples(part / _file_of(split, transform.name), images)
    left_out = {"left out": dict(sorted(account.left_out.items()))} if account.left_out else {}
    in_place = dict(sorted(account.kept.items()))
    return {"examples": count, "spans split": account.split_spans, **left_out, "kept in place": in_place}


def natural_task_fingerprint(task: str, files: TaskFiles, tests: Tests, source: str = "") -> str:
    """Return the fingerprint of the folder that `write_natural_task` writes."""
    sets = {name: list(map(input_digest, paths)) for name, paths in tests.items()}
    by_language = task in PARALLEL or files.units != WORDS
    return fingerprint(FORMAT, EDITION, task, files.identity, sets, source if by_language else "")


def write_natural_task(task: str, files: TaskFiles, tests: Tests, folder: Path, source: str = "") -> Path:
    """Write the examples in `files`, and other languages' test sets; parallel ones stay parallel."""
    reader = written(task, source, files.units)
    lacking: Lacking = ()
    if task in PARALLEL:
        sets = [files.test, *tests.values()] if files.test else tests.values()
        lacking = files.lacking((paths, reader) for paths in sets)
    data, splits = files.load(reader, lacking), dict[str, Any]()
    print_ = natural_task_fingerprint(task, files, tests, source)
    identity = {"format": FORMAT, "fingerprint": print_, "task": task}
    with making(folder, KIND, identity | {"languages": list(tests), "splits": splits}) as part:
        for split in data.examples:
            splits[split] = _write_split(part, split, data)
        for language, paths in tests.items():
            counts = Counter[str]()
            examples = files.read_tested(paths, written(task, language, files.units), counts, lacking)
            if not examples:
                raise BadInput(f"no examples for {task} in {language}", paths[0] if paths else None)
            count = write_examples(part / _file_of("test", language), examples)
            splits["test"]["languages"][language] = {"examples": count, "left out": dict(+counts)}
    return folder
