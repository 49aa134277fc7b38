"""Packing text of four languages with a given vocabulary: Calque's corpora beside transformers' tokenizer, in one run.

    python -m experiments.bench.pack [--megabytes 24] [--out FILE]

The straightforward way gives the same lines to the tokenizer that AutoTokenizer loads, a thousand at a time as
`datasets.map` does, and writes their ids; its threads are as many as our workers. Each way runs in processes of its
own. The tokenizer is loaded before its time is taken; our time has the start of the workers in it. Needs CALQUE_DATA
and CALQUE_ENCODER.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from collections import Counter
from itertools import chain, islice
from pathlib import Path

import numpy as np

from derive.errors import BadInput
from derive.files import sha256
from derive.natural.build import derive_natural
from derive.natural.text import TextFiles
from derive.vocabulary import GivenVocabulary
from experiments.bench.apart import Row, apart, cpu_seconds, peak

TEXTS = {
    "en": ("wikipedia/wikipedia-1.txt",),
    "de": ("nli/xnli/test-labelled-de.tsv", "nli/xnli/dev-de.tsv", "parallel/multi30k/train.de"),
    "hi": ("nli/xnli/test-labelled-hi.tsv", "nli/xnli/dev-hi.tsv", "ud/UD_Hindi-PUD/hi_pud-ud-test.conllu"),
    "zh": ("nli/xnli/test-labelled-zh.tsv", "nli/xnli/dev-zh.tsv", "ner/panx/train-zh.tsv"),
}
"""Running text, sentences, and lines without a space."""
LINES = 1_000
"""Lines of a batch in the straightforward way."""
AT_ONCE = (1, 2)
"""Workers, or threads."""


def ours(texts: dict[str, TextFiles], encoder: Path, folder: Path, workers: int) -> Row:
    """Pack the text; seconds by language and in all, and memory of this process and of the largest worker."""
    started: dict[str, float] = {}
    ended: dict[str, float] = {}

    def note(stage: str, done: int, total: int) -> None:
        started.setdefault(stage, time.perf_counter())
        ended[stage] = time.perf_counter()

    derive_natural(texts, {}, GivenVocabulary(encoder), folder, workers, note, "all")
    return {
        "seconds": {name: ended[f"encoding {name}"] - started[f"encoding {name}"] for name in texts},
        "all CPU seconds": cpu_seconds(),
        "parent MiB": peak(resource.RUSAGE_SELF),
        "worker MiB": peak(resource.RUSAGE_CHILDREN),
    }


def straightforward(texts: dict[str, TextFiles], encoder: Path, folder: Path, threads: int) -> Row:
    """Write the ids that transformers' tokenizer gives each line."""
    os.environ |= {"TOKENIZERS_PARALLELISM": str(threads > 1).lower(), "RAYON_NUM_THREADS": str(threads)}
    from transformers import AutoTokenizer

    tokenizer, seconds = AutoTokenizer.from_pretrained(encoder), {}
    for name, files in texts.items():
        begun = time.perf_counter()
        with (folder / f"{name}.bin").open("wb") as out:
            lines = chain.from_iterable(piece.columns(Counter())[0] for piece in files.pieces())
            while batch := list(islice(lines, LINES)):
                for ids in tokenizer(batch, add_special_tokens=False, split_special_tokens=True, verbose=False)["input_ids"]:
                    out.write(np.array(ids, np.uint32).tobytes())
        seconds[name] = time.perf_counter() - begun
    return {"seconds": seconds, "all CPU seconds": cpu_seconds(), "parent MiB": peak(resource.RUSAGE_SELF)}


def measure(data: Path, encoder: Path, megabytes: int) -> list[Row]:
    """Both ways with one and two workers or threads, and how many times faster ours is."""
    texts = {name: TextFiles(tuple(data / file for file in files), "text", megabytes) for name, files in TEXTS.items()}
    sizes = {name: _megabytes(files) for name, files in texts.items()}
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for many in AT_ONCE:
            other = apart(straightforward, texts, encoder, folder, many)
            row = apart(ours, texts, encoder, folder / str(many), many)
            for language in texts:
                if sha256(folder / str(many) / language / "tokens.bin") != sha256(folder / f"{language}.bin"):
                    raise RuntimeError(f"the two ways give different ids for {language}")
            for way, one in (("transformers", other), ("calque", row)):
                speeds = {language: size / one["seconds"][language] for language, size in sizes.items()}
                speeds["all"] = sum(sizes.values()) / sum(one.pop("seconds").values())
                rows.append({"bench": "pack", "way": way, "at once": many, "megabytes": sizes, "MB/s": speeds, **one})
            theirs, mine = (made["MB/s"] for made in rows[-2:])
            ratios = {language: mine[language] / theirs[language] for language in mine}
            rows.append({"bench": "pack", "way": "ratio", "at once": many, "ratio": ratios})
    scaling = rows[4]["MB/s"]["all"] / rows[1]["MB/s"]["all"]
    rows.append({"bench": "pack", "way": "calque, two workers to one", "ratio": scaling})
    return rows


def _megabytes(files: TextFiles) -> float:
    """Of text that is packed, in UTF-8."""
    return sum(len(line.encode()) for piece in files.pieces() for line in piece.columns(Counter())[0]) / 1e6


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return round(value, 2) if isinstance(value, float) else value


def main() -> None:
    """Measure, print, and with --out append the rows as JSON lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=24)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    data, encoder = (os.environ.get(name) for name in ("CALQUE_DATA", "CALQUE_ENCODER"))
    if not data or not encoder:
        raise BadInput("this benchmark needs real text and an encoder's tokenizer: set CALQUE_DATA and CALQUE_ENCODER")
    rows = measure(Path(data), Path(encoder), options.megabytes)
    for row in rows:
        print(json.dumps(_rounded(row)))
    if options.out:
        with options.out.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
