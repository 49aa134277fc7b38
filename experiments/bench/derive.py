"""Deriving a language from raw text, compared with tokenization in batches and reversal in Python."""

import os
import tempfile
import time
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from calque.derive.build import derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.fingerprint import sha256
from calque.derive.languages import Languages
from calque.derive.order import FINAL_MARKS, Invert
from calque.derive.script import Transliterate
from calque.derive.sources.files import Files
from calque.derive.transform import compose
from calque.experiments.bench.harness import Comparison, check_equal, folder_of, interleaved

MEGABYTES = 50
SIZE, WORKERS = 20_000, 2
TRANSFORM = compose(Transliterate(), Invert())
LINES = 1_000  # lines per batch in the straightforward implementation, as in `datasets.map`


def derive(rounds: int) -> list[Comparison]:
    """Compare two ways to derive Trans + Inv from raw text: Calque with two workers, and a straightforward
    implementation, which uses the same reader and vocabulary, reverses words in Python, and passes the lines
    of both languages to `encode_batch`, whose threads use all cores."""
    os.environ["TOKENIZERS_PARALLELISM"] = "true"
    source = Files((folder_of("CALQUE_DATA") / "wikipedia" / "wikipedia-1.txt",), megabytes=MEGABYTES)
    megabytes = sum(chunk.length for chunk in source.chunks()) / 1e6
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sides = [partial(side, source, folder / "study") for side in (_derive, _derive_line_by_line)]
        ours, theirs = interleaved(sides, rounds)
        pairs = (("source", "source.bin"), (TRANSFORM.name, "derived.bin"))
        same = sum(sha256(folder / "study" / a / "tokens.bin") == sha256(folder / b) for a, b in pairs)
    equal = check_equal(same, len(pairs), "languages' ids")
    what = f"{TRANSFORM.name} from {megabytes:.0f} MB of text, {WORKERS} workers; {equal}"
    rates = (tuple(megabytes / seconds for seconds in side) for side in (ours, theirs))
    return [Comparison(what, "encode_batch and inversion in Python", "MB/s", *rates)]


def _derive(source: Files, folder: Path) -> float:
    """Return the seconds from the end of vocabulary training to the end of the derivation."""
    starts: dict[str, float] = {}

    def progress(stage: str, done: int, total: int) -> None:
        starts.setdefault(stage, time.perf_counter())

    cache = folder.with_name("cache")
    derive_languages(source, (TRANSFORM,), SIZE, DictionaryConfig(), folder, cache, WORKERS, progress)
    return time.perf_counter() - starts["encoding"]


def _derive_line_by_line(source: Files, study: Path) -> float:
    """Write the ids of both languages next to the study's folder, using its tokenizer, and return the
    seconds taken."""
    tokenizer = Tokenizer.from_file(str(Languages.open(study, [TRANSFORM.name]).tokenizer))
    tokenizer.encode_special_tokens = True
    image, start = TRANSFORM.image(SIZE), time.perf_counter()
    sentences = (sentence for chunk in source.chunks() for sentence in source.sentences(chunk)[0])
    files = study.with_name("source.bin"), study.with_name("derived.bin")
    with files[0].open("wb") as source_file, files[1].open("wb") as derived_file:
        while batch := list(islice(sentences, LINES)):
            for encoding in tokenizer.encode_batch(
                [" ".join(s.words) for s in batch], add_special_tokens=False
            ):
                source_file.write(np.array(encoding.ids, np.uint16).tobytes())
            inverted = [" ".join(_invert(s.words)) for s in batch]
            for encoding in tokenizer.encode_batch(inverted, add_special_tokens=False):
                derived_file.write(image[encoding.ids].astype(np.uint16).tobytes())
    return time.perf_counter() - start


def _invert(words: tuple[str, ...]) -> tuple[str, ...]:
    """`Invert` without its labels."""
    if words[-1] in FINAL_MARKS:
        return words[-2::-1] + words[-1:] if len(words) > 1 else words
    first = next(i for i, word in enumerate(words) if word not in FINAL_MARKS)
    return words[:first] + words[first:][::-1]
