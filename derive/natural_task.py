"""A task's examples in one natural language, and its test sets in others, as a folder that `TaskFolder` opens.

<split>.jsonl            the language that a model is fine-tuned on
train.<language>.jsonl   translations of its training examples, line by line
test.<language>.jsonl    what annotators of another language made
dev.<language>.jsonl     the same for model selection, in languages that have it
manifest.json            last: the contents, and what was left out and why

A pair that one of several parallel sets lacks is left out of all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from derive.artefact import making
from derive.digests import digest
from derive.errors import BadInput
from derive.example import write_examples
from derive.files import fingerprint
from derive.readers.compressed import check_file
from derive.readers.conllu import WORDS
from derive.sources.files import PICKED, WHOLE, WRITTEN, Lacking, TaskFiles, check_language, written
from derive.task_data import KIND, file_of

FORMAT = 3
"""Goes up when the same files would give another folder."""
Tests = Mapping[str, tuple[Path, ...]]
"""Annotated files by language."""
NONE: Tests = MappingProxyType({})


def natural_task_fingerprint(
    task: str, files: TaskFiles, tests: Tests, devs: Tests = NONE, translations: Tests = NONE, source: str = ""
) -> str:
    """Twelve hexadecimal digits that change whenever the files of the folder would.

    Raises:
        BadInput: a file is missing.
    """
    for path in chain(*tests.values(), *devs.values(), *translations.values()):
        check_file(path)
    parts = [_digests(tests), *([_digests(devs)] if devs else [])]
    parts += [{"translations": _digests(translations)}] if translations else []
    by_language = task in PICKED or files.units != WORDS
    parts += [{"source": source}] if by_language and source not in ("", "en") else []  # once it was always English
    return fingerprint(FORMAT, task, files.identity, *parts)


def _digests(sets: Tests) -> dict[str, Any]:
    return {language: [digest(path) for path in paths] for language, paths in sets.items()}


def write_natural_task(
    task: str,
    files: TaskFiles,
    tests: Tests,
    folder: Path,
    devs: Tests = NONE,
    translations: Tests = NONE,
    source: str = "",
) -> Path:
    """Write the examples of `files`, of `tests` and `devs`, and of `translations` of what is learnt from.

    `source` is the language of `files`, for those that say what they are of: where pairs of several languages are in
    one file, only those of the language that it is listed for are read. `folder` is whole or absent, its manifest
    written last.

    Returns:
        `folder`.

    Raises:
        BadInput: a file that cannot be used, one that says it is of another language, one without an example, or a task
            that no reader is there for.
    """
    if task not in WRITTEN:
        raise BadInput(f"no files of the task {task} can be read; expected one of {', '.join(WRITTEN)}")
    check_language(task, files.all, source)
    for name, paths in chain(tests.items(), devs.items(), translations.items()):
        check_language(task, paths, name)
    own = written(task, source, files.units)
    lacking: dict[str, Lacking] = {}
    if task in PICKED:
        for split, sets in (("train", translations), ("dev", devs), ("test", tests)):
            ours = {"train": files.train, "dev": files.dev, "test": files.test}[split]
            others = [(paths, written(task, language)) for language, paths in sets.items()]
            lacking[split] = files.lacking([*([(ours, own)] if ours else []), *others])
    data = files.load(own, lacking)
    facts: dict[str, Any] = {
        "format": FORMAT,
        "fingerprint": natural_task_fingerprint(task, files, tests, devs, translations, source),
        "task": task,
        "languages": list(tests),
        "splits": {
            split: {"examples": len(examples), "left out": dict(data.left_out.get(split, {}))}
            for split, examples in data.examples.items()
        },
        "tests": {},
        "devs": {},
    }
    with making(folder, KIND, facts) as part:
        for split, examples in data.examples.items():
            write_examples(part / file_of(split), examples)
        translated = partial(files.read_translated, own=own)
        of_others = (("test", tests, files.read_tested), ("dev", devs, files.read_tested))
        for split, sets, reading in (*of_others, ("train", translations, translated)):
            for language, paths in sets.items():
                counts: Counter[str] = Counter()
                examples = reading(
                    paths, written(task, language, files.units), counts, lacking=lacking.get(split, WHOLE)
                )
                if not examples:
                    raise BadInput(f"no example of {task} for {language}", paths[0] if paths else None)
                many = write_examples(part / file_of(split, language), examples)
                facts.setdefault(f"{split}s", {})[language] = {"examples": many, "left out": dict(+counts)}
    return folder
