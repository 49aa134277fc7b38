"""A store of a billion tokens: how fast it opens, what memory sampling takes, and how fast rows are read.

    python -m experiments.bench.store [--tokens 1000000000] [--folder DIR] [--out FILE]

Four languages of made text are written to a folder, below DIR or where temporary files are, and removed at the end
(3 GB for a billion tokens: what rows are not read from is a hole). A process of its own opens and samples them, so that
its memory is its own: `anonymous` is memory proper, `files` are pages of the store, which the system takes back when it
needs them. Beside it is the plainest data set there could be: fixed rows of a memory map through torch's DataLoader,
with no ends of lines, no languages and no bitexts.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from derive.artefact import write_manifest
from derive.files import write_json
from derive.folder import FORMAT, IMAGE, KIND, VOCABULARY
from derive.language import SOURCE
from derive.languages import Languages
from derive.types import OURS, SPECIALS
from experiments.bench.timing import Comparison, interleaved, report
from pretrain.mask import MASK_RATE
from pretrain.objective import Objective
from pretrain.objectives.mlm import MLM, Monolingual
from pretrain.objectives.xlm import xlm
from pretrain.train import Draws

TYPES = 16_000
NAMES = ("trans", "inv", "trans.inv")
LENGTH, BATCH, STEPS = 512, 128, 200
BLOCK = 1 << 22
"""Tokens that are drawn; they repeat."""


def write_corpus(folder: Path, tokens: int, shift: int) -> None:
    """A corpus of so many one-piece words, in lines of 20 on the average; pieces and places of words are holes."""
    random = np.random.default_rng(0)
    folder.mkdir(parents=True)
    block = (random.integers(len(OURS.ids), TYPES, BLOCK) + shift).astype(np.uint16)
    lengths = random.integers(5, 36, tokens // 20 + 1)
    ends = np.minimum(np.cumsum(lengths), tokens)
    lines = np.concatenate([[0], ends[: int(np.searchsorted(ends, tokens)) + 1]])
    with (folder / "tokens.bin").open("wb") as file:
        for start in range(0, tokens, BLOCK):
            file.write(block[: tokens - start].data)
    for name in ("lines", "words"):
        lines.tofile(folder / f"{name}.bin")
    np.arange(len(lines) - 1).tofile(folder / "source_line.bin")
    for name in ("pieces", "origin"):
        with (folder / f"{name}.bin").open("wb") as file:
            file.truncate(2 * tokens)
    about = {"sentences": len(lines) - 1, "words": tokens, "tokens": tokens, "dtype": "uint16"}
    write_json(folder / "corpus.json", about)


def write_store(folder: Path, tokens: int) -> None:
    """A source and three languages that derive from it, of as many tokens together."""
    image = np.arange(TYPES) + TYPES
    image[list(OURS.ids)] -= TYPES
    for name in (SOURCE, *NAMES):
        new_script = name.startswith("trans")
        write_corpus(folder / name, tokens // (1 + len(NAMES)), TYPES if new_script else 0)
        if name != SOURCE:
            np.save(folder / name / IMAGE, image if new_script else np.arange(TYPES))
    (folder / VOCABULARY).mkdir()
    words = {**{word: i for i, word in enumerate(SPECIALS)}, **{f"w{i}": i for i in OURS.ordinary(TYPES).tolist()}}
    Tokenizer(WordLevel(words, unk_token=SPECIALS[3])).save(str(folder / VOCABULARY / "tokenizer.json"))
    write_json(folder / VOCABULARY / "specials.json", asdict(OURS))
    np.save(folder / VOCABULARY / "counts.npy", np.ones(TYPES, np.int64))
    facts = {
        "format": FORMAT,
        "languages": {name: {"fingerprint": "made"} for name in (SOURCE, *NAMES)},
        "pairs": [{"languages": [SOURCE, name], "folder": name} for name in NAMES],
        VOCABULARY: {"size": TYPES},
    }
    write_manifest(folder, KIND, facts)


class FixedRows(Dataset[Tensor]):
    """The tokens of each corpus as a table of rows, mapped."""

    def __init__(self, folder: Path) -> None:
        maps = [np.memmap(folder / name / "tokens.bin", np.uint16, "r") for name in (SOURCE, *NAMES)]
        self.tables = [one[: len(one) // LENGTH * LENGTH].reshape(-1, LENGTH) for one in maps]
        self.ends = np.cumsum([len(table) for table in self.tables])

    def __len__(self) -> int:
        return int(self.ends[-1])

    def __getitem__(self, number: int) -> Tensor:
        of = int(np.searchsorted(self.ends, number, side="right"))
        row = self.tables[of][number - int(self.ends[of - 1]) if of else number]
        return torch.from_numpy(row.astype(np.int64))


def memory() -> dict[str, float]:
    """MiB of this process: memory proper, and pages of files."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    found = dict(line.split(":", 1) for line in lines)
    return {"anonymous": int(found["RssAnon"].split()[0]) / 1024, "files": int(found["RssFile"].split()[0]) / 1024}


def sample(folder: Path, objective: Objective) -> dict[str, Any]:
    """Open the store and draw steps from it: seconds, and memory by and by."""
    np.random.default_rng(0).permutation(10)  # what is loaded when it is asked for first
    before, begun = memory(), time.perf_counter()
    languages = Languages.open(folder, NAMES)
    opened = time.perf_counter()
    draws = Draws(objective.streams(languages, LENGTH, 0), BATCH, 0)
    made = time.perf_counter()
    draws.at(0)
    first = time.perf_counter()
    grown = []
    for step in range(STEPS):
        draws.at(step + 1)
        if step % (STEPS // 4) == 0:
            grown.append({kind: round(now - before[kind], 1) for kind, now in memory().items()})
    return {
        "objective": objective.name,
        "rows": sum(stream.instances for stream in draws.streams),
        "seconds to open": opened - begun,
        "seconds to make the streams": made - opened,
        "seconds to the first batch": first - made,
        "seconds a batch": (time.perf_counter() - first) / STEPS,
        "MiB grown while sampling": grown,
    }


def speeds(folder: Path, rounds: int) -> tuple[float, float]:
    """Rows a second that ours and the plain data set give, in a shuffled order, neither masked."""
    stream = Monolingual(Languages.open(folder, NAMES), LENGTH, MASK_RATE)
    order, plain = np.random.default_rng(1).permutation(stream.instances), FixedRows(folder)
    batches = iter(DataLoader(plain, BATCH, shuffle=True))
    place = iter(range(0, len(order), BATCH))

    def timed(draw: Callable[[], object]) -> float:
        begun = time.perf_counter()
        for _ in range(20):
            draw()
        return 20 * BATCH / (time.perf_counter() - begun)

    def ours() -> float:
        return timed(lambda: stream.read(order[(at := next(place)) : at + BATCH].tolist()))

    mine, theirs = interleaved([ours, lambda: timed(lambda: next(batches))], rounds)
    return mine, theirs


def main() -> None:
    """Write the store, measure and report."""
    parser = argparse.ArgumentParser(description="a store of many tokens")
    parser.add_argument("--tokens", type=int, default=1_000_000_000, help="tokens of all languages together")
    parser.add_argument("--rounds", type=int, default=10, help="rounds in which the sides take turns")
    parser.add_argument("--folder", type=Path, help="where to write the store")
    parser.add_argument("--out", type=Path, help="a file to append a row of JSON to")
    options = parser.parse_args()
    home = Path(tempfile.mkdtemp(dir=options.folder))
    try:
        write_store(home / "store", options.tokens)
        for objective in (MLM(), xlm()):
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
                print(json.dumps(alone.submit(sample, home / "store", objective).result(), indent=1))
        mine, theirs = speeds(home / "store", options.rounds)
    finally:
        shutil.rmtree(home)
    what = f"rows of {LENGTH} in batches of {BATCH}, {options.tokens:,} tokens, beside fixed rows of a map"
    report([Comparison("store", what, mine, theirs, "rows/s", mine / theirs)], ["torch", "numpy"], options.out)


if __name__ == "__main__":
    main()
