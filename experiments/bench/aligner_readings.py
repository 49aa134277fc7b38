"""Alignment error by reading before and after aligner training: `python -m experiments.bench.aligner_readings --out F`.

The text that is learnt from is large or small, and in a language near to English or far from it. Besides the gold sets,
two of them have one side in Cyrillic letters, a script that is in none of the text. Encoders that are in the folder
`--encoders` already are not trained again.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from calque.analysis.aligners.methods import DEFAULT, SOFTMAX, TRAINED
from calque.analysis.aligners.pair_encoder import EncoderAligner, LinkReading
from calque.analysis.measures.aer import SETS, GoldSet, gold_set, score_each
from calque.analysis.papers.xlm_align.continued import set_title
from calque.analysis.records.record import LinkCounts
from calque.analysis.report.table import Table
from calque.derive.links.aligner import Pair
from calque.derive.readers.conllu import read_treebank
from calque.experiments.bench.aligner_curve import text, write
from calque.experiments.bench.harness import folder_of
from calque.experiments.runs import provenance
from calque.experiments.studies.given import pud

LAYERS = 8, 7  # the default before and after training
READINGS = tuple(LinkReading(method, layer) for layer in LAYERS for method in (DEFAULT, SOFTMAX, TRAINED))
CYRILLIC = str.maketrans("abcdefghijklmnopqrstuvwxyzßäöüăâîșțşţ", "абцдефгхийклмнопкрстувшхызсаоуааистст")


def treebanks() -> list[Pair]:
    """A thousand sentences in English and Hindi."""
    sides = (read_treebank(pud(folder_of("CALQUE_DATA"), code)) for code in ("en", "hi"))
    return [(source.words, target.words) for source, target in zip(*sides, strict=True)]


def encoders(folder: Path) -> Iterator[tuple[str, Path]]:
    """The start, and the encoders after training, with the names of their text."""
    start = folder_of("CALQUE_ENCODER")
    yield "none", start
    for title, name, labels, bitexts in (
        ("20,000 pairs each of en-fr and en-de", "both20k", "agreement", [text("fr"), text("de")]),
        ("500 pairs of en-fr", "fr500", "agreement", [text("fr")[:500]]),
        ("1,000 pairs of en-hi", "hi1000", "agreement", [treebanks()]),
        ("1,000 pairs of en-hi, self-made links", "hi1000self", "self", [treebanks()]),
    ):
        if not (out := folder / f"m-{name}").exists():
            files = [path for number, pairs in enumerate(bitexts) for path in write(pairs, folder, f"{name}-{number}")]
            command = [sys.executable, "-m", "calque.experiments", "train-aligner", *map(str, files)]
            options = ["--model", str(start), "--out", str(out), "--labels", labels, "--threads", "1"]
            subprocess.run([*command, *options], check=True)
        yield title, out


def in_cyrillic(gold: GoldSet) -> GoldSet:
    """The set with its first side in Cyrillic letters."""
    pairs = [(tuple(word.lower().translate(CYRILLIC) for word in first), second) for first, second in gold.pairs]
    return replace(gold, pairs=tuple(pairs))


def errors(encoder: Path, sets: Sequence[GoldSet]) -> Iterator[list[float]]:
    """The error of each reading on each set, in percent."""
    opened = EncoderAligner.open(encoder, SOFTMAX, max(LAYERS)).encoder
    for gold in sets:
        columns = score_each(gold.gold.pairs, opened.links(gold.pairs, READINGS), len(READINGS))
        yield [100 * (sum(counts, LinkCounts()).aer or 0) for counts in columns]


def main() -> None:
    """Train where needed, measure, and write `aer.md`."""
    parser = argparse.ArgumentParser(prog="python -m experiments.bench.aligner_readings", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder of aer.md")
    parser.add_argument("--encoders", type=Path, required=True, help="the folder of trained encoders")
    options = parser.parse_args()
    natural = [gold_set(folder_of("CALQUE_DATA") / "align", name) for name in SETS]
    cyrillic = [in_cyrillic(gold) for gold in natural if gold.name in ("de-en", "ro-en")]
    rows = []
    for title, encoder in encoders(options.encoders):
        by_set = list(errors(encoder, [*natural, *cyrillic]))
        for number, reading in enumerate(READINGS):
            cells = [f"{column[number]:.1f}" for column in by_set]
            rows.append((title, reading.method.name, str(reading.layer), *cells))
    about = provenance("python -m experiments.bench.aligner_readings")
    head = ("text", "links by", "layer", *(set_title(gold.name) for gold in natural))
    scripts = [f"{set_title(gold.name)}, Cyrillic" for gold in cyrillic]
    note = f"One seed, 220 steps. `{about['command']}`, {about['date']}, commit {about['commit']}."
    table = Table("Alignment error rate, percent, lower is better", (*head, *scripts), tuple(rows), note)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "aer.md").write_text(table.markdown, encoding="utf-8")


if __name__ == "__main__":
    main()
