"""A task's examples in the source language and in derived ones, as a folder of their own: pretraining reads none of it.

<split>.jsonl              the source's examples, one a line
<split>.<language>.jsonl   their images
preview.txt                the first training examples beside their images
manifest.json              last: what is in it, and what was left out and why
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from derive.artefact import Artefact, making
from derive.derived_folder import SOURCE
from derive.errors import BadInput
from derive.example import Example, read_examples, write_examples
from derive.files import code_facts, fingerprint, with_code
from derive.prepare import check_transforms, learn
from derive.preview import PREVIEW, preview_examples
from derive.progress import Progress, silent
from derive.source import Source
from derive.transform import Account, Transform, image_of_example

FORMAT = 3
"""Goes up when the same config would give other files."""
KIND = "task data"
"""What the folder is, as its manifest says."""


def task_data_fingerprint(examples: Callable[[str, bool], str], task: str, transforms: Sequence[Transform]) -> str:
    """Twelve hexadecimal digits that change whenever the files of a task's folder would.

    `examples` is `Source.task_identity`. With one transform it is the fingerprint of its language's
    examples, which other languages do not change.
    """
    trees = any(transform.needs_trees for transform in transforms)
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
    """Derive a task's examples by each transform. `folder` is whole or absent, its manifest written last.

    What took long to make and other studies may need too (grammars, trees) is kept in the folder `cache`.

    Returns:
        `folder`.

    Raises:
        BadInput: unusable task data, or transforms that do not fit together.
    """
    check_transforms(transforms)
    if task not in source.tasks:
        raise BadInput(f"the source has no examples of the task {task}; there are {', '.join(source.tasks) or 'none'}")
    facts: dict[str, Any] = {
        "format": FORMAT,
        "fingerprint": task_data_fingerprint(source.task_identity, task, transforms),
        "task": task,
        "languages": [transform.name for transform in transforms],
        "splits": {},
        **code_facts(source, transforms),
    }
    if any(transform.needs_trees for transform in transforms):
        source = source.with_trees(cache)
    ready = learn(transforms, cache, progress)
    progress(f"examples of {task}", 0, 1)
    data = source.task_data(task)
    with making(folder, KIND, facts) as part:
        for split, examples in data.examples.items():
            write_examples(part / file_of(split), examples)
            row = _counts(examples) | {"left out": dict(data.left_out.get(split, {}))}
            facts["splits"][split] = row | {"languages": {}}
            for transform in ready:
                # An example's number, from which random transforms draw, is its place in the split.
                account = Account()
                written = write_examples(part / file_of(split, transform.name), _images(transform, examples, account))
                facts["splits"][split]["languages"][transform.name] = {
                    "spans split": account.split_spans,
                    "kept in place": dict(sorted(account.kept.items())),
                    "examples without an image": len(examples) - written,
                }
        shown = preview_examples(task, next(iter(data.examples.values()), []), ready)
        (part / PREVIEW).write_text(shown, encoding="utf-8", newline="\n")
    progress(f"examples of {task}", 1, 1)
    return folder


@dataclass(frozen=True)
class TaskFolder:
    """What `derive_task` left."""

    artefact: Artefact

    @classmethod
    def open(cls, folder: Path) -> TaskFolder:
        """Open a finished folder.

        Raises:
            BadInput: it is not finished, not of task data, or its manifest is damaged.
        """
        return cls(Artefact.open(folder, KIND))

    @property
    def task(self) -> str:
        """The task's name."""
        return str(self.artefact.facts["task"])

    def path(self, split: str, language: str = SOURCE) -> Path:
        """The file of a split in a language, after it was found to be the one that was written.

        Raises:
            BadInput: there is none, or a byte of it has changed.
        """
        return self.artefact.path(file_of(split, language))

    def examples(self, split: str, language: str = SOURCE) -> Iterator[Example]:
        """The examples of a split in a language, in their order.

        Raises:
            BadInput: as `path`.
        """
        return read_examples(self.path(split, language))


def _images(transform: Transform, examples: Iterable[Example], account: Account) -> Iterator[Example]:
    """One at a time: all of them would take as much memory as the examples."""
    for number, example in enumerate(examples):
        if image := image_of_example(transform, example, number, account):
            yield image


def file_of(split: str, language: str = SOURCE) -> str:
    """The name of the file of a split in a language."""
    return f"{split}.jsonl" if language == SOURCE else f"{split}.{language}.jsonl"


def _counts(examples: Sequence[Example]) -> dict[str, Any]:
    sentences = [sentence for example in examples for text in example.texts for sentence in text]
    return {
        "examples": len(examples),
        "sentences": len(sentences),
        "words": sum(map(len, sentences)),
        "spans": sum(len(sentence.spans) for sentence in sentences),
    }
