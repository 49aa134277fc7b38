"""Packing text of four languages with a given vocabulary: Calque's corpora beside transformers' tokenizer, in one run.

    python -m experiments.bench.pack [--megabytes 24] [--out FILE]

The straightforward way gives the same lines to the tokenizer that AutoTokenizer loads, a thousand at a time as
`datasets.map` does, and writes their ids; its threads are as many as our workers. Each way runs in processes of its
own. The tokenizer is loaded before its time is taken; our time has the start of the workers in it. CPU seconds say how
fast one process is whatever runs beside it, seconds how far two help on a machine that does nothing else. Needs
CALQUE_DATA and CALQUE_ENCODER.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from derive.errors import BadInput
from derive.files import sha256
from derive.natural.build import derive_natural
from derive.natural.text import TextFiles
from derive.vocabulary import GivenVocabulary
from experiments.bench.apart import Row, apart, peak

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
KINDS = ("second", "CPU second")
"""What a rate is counted by."""


def ours(texts: dict[str, TextFiles], encoder: Path, folder: Path, workers: int) -> Row:
    """Pack the text; seconds by language, and memory of this process and of the largest worker."""
    os.environ |= {"TOKENIZERS_PARALLELISM": "false"}  # a worker has one thread
    times: dict[str, list[tuple[float, float]]] = {}

    def note(stage: str, done: int, total: int) -> None:
        times.setdefault(stage.removeprefix("encoding "), []).append(_now())

    derive_natural(texts, {}, GivenVocabulary(encoder), folder, workers, note, "all")
    return {
        **_taken({name: (times[name][0], times[name][-1]) for name in texts}),
        "parent MiB": peak(resource.RUSAGE_SELF),
        "worker MiB": peak(resource.RUSAGE_CHILDREN),
    }


def straightforward(texts: dict[str, TextFiles], encoder: Path, folder: Path, threads: int) -> Row:
    """Write the ids that transformers' tokenizer gives each line."""
    os.environ |= {"TOKENIZERS_PARALLELISM": str(threads > 1).lower(), "RAYON_NUM_THREADS": str(threads)}
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(encoder)
    encode = partial(tokenizer, add_special_tokens=False, split_special_tokens=True, verbose=False)
    times = {}
    for name, files in texts.items():
        begun = _now()
        with (folder / f"{name}.bin").open("wb") as out:
            lines = chain.from_iterable(piece.columns(Counter())[0] for piece in files.pieces())
            while batch := list(islice(lines, LINES)):
                for ids in encode(batch)["input_ids"]:
                    out.write(np.array(ids, np.uint32).tobytes())
        times[name] = begun, _now()
    return {**_taken(times), "parent MiB": peak(resource.RUSAGE_SELF)}


def _now() -> tuple[float, float]:
    """Seconds, and seconds that this process computed."""
    return time.perf_counter(), time.process_time()


def _taken(times: Mapping[str, tuple[tuple[float, float], tuple[float, float]]]) -> Row:
    """What each language took, in seconds of both kinds."""
    return {kind: {name: ended[i] - begun[i] for name, (begun, ended) in times.items()} for i, kind in enumerate(KINDS)}


def measure(data: Path, encoder: Path, megabytes: int) -> list[Row]:
    """Both ways with one and two workers or threads, and how many times faster ours is."""
    texts = {name: TextFiles(tuple(data / file for file in files), "text", megabytes) for name, files in TEXTS.items()}
    sizes = {name: _megabytes(files) for name, files in texts.items()}
    rows: list[Row] = []
    all_at_once: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for many in AT_ONCE:
            other = apart(straightforward, texts, encoder, folder, many)
            row = apart(ours, texts, encoder, folder / str(many), many)
            for language in texts:
                if sha256(folder / str(many) / language / "tokens.bin") != sha256(folder / f"{language}.bin"):
                    raise RuntimeError(f"the two ways give different ids for {language}")
            kinds = KINDS[: 3 - many]  # CPU seconds of workers are not told apart
            speeds = [{f"MB/{kind}": _speeds(one[kind], sizes) for kind in kinds} for one in (other, row)]
            for way, one, speed in zip(("transformers", "calque"), (other, row), speeds, strict=True):
                about = {key: value for key, value in one.items() if key not in KINDS}
                rows.append({"bench": "pack", "way": way, "at once": many, "megabytes": sizes, **speed, **about})
            theirs, mine = speeds
            ratios = {kind: {name: mine[kind][name] / theirs[kind][name] for name in mine[kind]} for kind in mine}
            rows.append({"bench": "pack", "way": "ratio", "at once": many, **ratios})
            all_at_once.append(mine[f"MB/{KINDS[0]}"]["all"])
    rows.append({"bench": "pack", "way": "calque, two workers to one", "ratio": all_at_once[1] / all_at_once[0]})
    return rows


def _speeds(took: dict[str, float], sizes: dict[str, float]) -> dict[str, float]:
    """Megabytes by second, of each language and of all."""
    return {name: size / took[name] for name, size in sizes.items()} | {"all": sum(sizes.values()) / sum(took.values())}


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
