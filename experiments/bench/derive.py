"""Deriving Trans+Inv from raw text: Calque's shards beside the straightforward way, in one run.

    python -m experiments.bench.derive [--megabytes 50] [--out FILE]

The straightforward way reads the same text with the same reader, turns each line's words round in Python and
gives the lines of both languages to `tokenizers`' `encode_batch`, whose threads use all cores. Each way runs in
processes of its own, so that its peak of memory is its own. Needs CALQUE_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np

from derive.build import derive_languages
from derive.dictionary import DictionaryConfig
from derive.errors import BadInput
from derive.files import sha256
from derive.languages import Languages
from derive.order import FINAL_MARKS, Invert
from derive.script import Transliterate
from derive.sources.files import Files
from derive.transform import compose
from experiments.bench.apart import Row, apart, cpu_seconds, peak

SIZE = 20_000
WORKERS = 2
LINES = 1_000
"""Lines of a batch in the straightforward way."""
TRANSFORM = compose(Transliterate(), Invert())


def ours(source: Files, folder: Path) -> Row:
    """Derive the study; seconds by stage, and memory of this process and of the largest worker."""
    started: dict[str, float] = {}

    def note(stage: str, done: int, total: int) -> None:
        started.setdefault(stage, time.perf_counter())

    begun = time.perf_counter()
    derive_languages(source, (TRANSFORM,), SIZE, DictionaryConfig(), folder, folder.parent / "cache", WORKERS, note)
    ended = time.perf_counter()
    training, encoding = started["training the vocabulary"], started["encoding"]
    return {
        "counting seconds": training - started["counting words"],
        "vocabulary seconds": encoding - training,
        "shards seconds": ended - encoding,
        "all seconds": ended - begun,
        "all CPU seconds": cpu_seconds(),
        "parent MiB": peak(resource.RUSAGE_SELF),
        "worker MiB": peak(resource.RUSAGE_CHILDREN),
    }


def straightforward(source: Files, study: Path, folder: Path) -> Row:
    """Write the ids of both languages with the study's tokenizer, line by line."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Languages.open(study, [TRANSFORM.name]).tokenizer))
    tokenizer.encode_special_tokens = True
    image = TRANSFORM.image(SIZE)
    begun = time.perf_counter()
    with (folder / "source.bin").open("wb") as source_file, (folder / "derived.bin").open("wb") as derived_file:
        for chunk in source.chunks():
            sentences = iter(source.sentences(chunk)[0])
            while batch := list(islice(sentences, LINES)):
                lines = [" ".join(sentence.words) for sentence in batch]
                turned = [" ".join(_turn(sentence.words)) for sentence in batch]
                for encoding in tokenizer.encode_batch(lines, add_special_tokens=False):
                    source_file.write(np.array(encoding.ids, np.uint16).tobytes())
                for encoding in tokenizer.encode_batch(turned, add_special_tokens=False):
                    derived_file.write(image[encoding.ids].astype(np.uint16).tobytes())
    return {
        "shards seconds": time.perf_counter() - begun,
        "all CPU seconds": cpu_seconds(),
        "parent MiB": peak(resource.RUSAGE_SELF),
    }


def measure(text: Path, megabytes: int) -> list[Row]:
    """Both ways on the head of `text`, and ours on half of it, for the memory's sake."""
    with tempfile.TemporaryDirectory() as name:
        folder, rows = Path(name), []
        for size in (megabytes // 2, megabytes):
            source = Files((text,), megabytes=size)
            read = sum(chunk.length for chunk in source.chunks()) / 1e6
            row = {"bench": "derive", "way": "calque", "megabytes": read, **apart(ours, source, folder / str(size))}
            row["MB/s with the vocabulary given"] = read / row["shards seconds"]
            row["MB/s with words counted"] = read / (row["shards seconds"] + row["counting seconds"])
            row["MB/s in all"] = read / row["all seconds"]
            rows.append(row)
        study = folder / str(megabytes)
        other = apart(straightforward, source, study, folder)
        for mine, theirs in (("source", "source.bin"), (TRANSFORM.name, "derived.bin")):
            if sha256(study / mine / "tokens.bin") != sha256(folder / theirs):
                raise RuntimeError(f"the two ways give different ids for {mine}")
    speed = read / other["shards seconds"]
    rows.append(
        {
            "bench": "derive",
            "way": "straightforward",
            "megabytes": read,
            **other,
            "MB/s with the vocabulary given": speed,
        }
    )
    rows.append({"bench": "derive", "way": "ratio", "ratio": rows[1]["MB/s with the vocabulary given"] / speed})
    return rows


def _turn(words: tuple[str, ...]) -> tuple[str, ...]:
    """`Invert` without its labels."""
    if words[-1] in FINAL_MARKS:
        return words[-2::-1] + words[-1:] if len(words) > 1 else words
    first = next(i for i, word in enumerate(words) if word not in FINAL_MARKS)
    return words[:first] + words[first:][::-1]


def main() -> None:
    """Measure, print, and with --out append the rows as JSON lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if not (data := os.environ.get("CALQUE_DATA")):
        raise BadInput("this benchmark reads real text: set CALQUE_DATA to the folder that holds it")
    rows = measure(Path(data) / "wikipedia" / "wikipedia-1.txt", options.megabytes)
    for row in rows:
        print(json.dumps({key: round(value, 2) if isinstance(value, float) else value for key, value in row.items()}))
    if options.out:
        with options.out.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
