"""Alignment error rate against CPU time, and reliability: `python -m experiments.bench.aligner_curve --out FOLDER`.

An encoder after 0 to 220 updates of aligner training, always read in the same way, next to fast_align and, where it is
installed, eflomal. The encoder learns from English–French and English–German text, the others from the part of it that
is in the languages of the test, and from the sentences of the test. The CPU seconds of aligner training include the
whole command, and eflomal's include aligning the test, because it learns and aligns at once. The reliability of scores
is measured after all updates, with and without calibration.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from calque.analysis.aligners.methods import SOFTMAX
from calque.analysis.aligners.pair_encoder import EncoderAligner
from calque.analysis.measures.aer import SETS, GoldSet, gold_set, reliability, score_all
from calque.analysis.papers.xlm_align.continued import set_title
from calque.analysis.report.drawing import LOOKS, key, legend, small_multiples
from calque.analysis.report.plot import save_figure
from calque.derive.files import write_json
from calque.derive.links.aligner import Links, Pair
from calque.derive.links.fast_align import StatisticalAligner
from calque.derive.links.symmetrise import grow_diag_final_and
from calque.derive.readers.links import read_links
from calque.experiments.bench.harness import cpu, folder_of
from calque.experiments.languages import NaturalLanguages, lowered
from calque.experiments.runs import provenance
from calque.experiments.studies.aligner import aligner
from calque.pretrain.objectives.aligner_training import AlignerTraining
from calque.pretrain.saved_model import read_config

STEPS = (0, 55, 110, 220)
PAIRS = 20_000  # sentence pairs of each language that are read
TRAINED, FAST_ALIGN, EFLOMAL = "aligner training", "fast_align", "eflomal"
RAW, CALIBRATED = "raw", "calibrated"


def spent() -> float:
    """CPU seconds of this process and of its finished children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@cache
def text(language: str) -> list[Pair]:
    """Sentences in English and their translations, drawn from the study's text, in lower case."""
    languages = aligner().languages
    assert isinstance(languages, NaturalLanguages)
    parts = languages.bitexts["en", language]
    pairs = [pair for files in parts for pair in files.words("en", language, Counter())]
    return lowered(random.Random(0).sample(pairs, PAIRS))


def write(pairs: Iterable[Pair], folder: Path, name: str) -> list[Path]:
    """A file for each side, one sentence per line."""
    paths = [folder / f"{name}.{side}" for side in ("source", "target")]
    for path, sentences in zip(paths, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(" ".join(words) + "\n" for words in sentences), encoding="utf-8")
    return paths


def trained(steps: int, folder: Path) -> Path:
    """The encoder after some updates, by the command."""
    encoder = folder_of("CALQUE_ENCODER")
    if steps == 0:
        return encoder
    files = [path for language in ("fr", "de") for path in write(text(language), folder, language)]
    command = [sys.executable, "-m", "calque.experiments", "train-aligner", *map(str, files), "--model", str(encoder)]
    command += ["--labels", "agreement", "--threads", "1"]
    options = ["--out", str(folder / f"after-{steps}"), "--steps", str(steps)]
    subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder / f"after-{steps}"


def by_fast_align(pairs: Sequence[Pair], tested: Sequence[Pair], folder: Path) -> Iterable[Links]:
    """The links of the tested pairs, learnt from them and from other pairs; aligned lazily, outside the time."""
    return StatisticalAligner.train([*tested, *pairs]).align(tested)


def by_eflomal(pairs: Sequence[Pair], tested: Sequence[Pair], folder: Path) -> Iterable[Links]:
    """The links of the tested pairs, learnt from them and from other pairs, and symmetrised as fast_align's."""
    from eflomal import Aligner

    sides = write([*tested, *pairs], folder, "eflomal")
    found = [folder / f"{way}.links" for way in ("forward", "reverse")]
    with sides[0].open(encoding="utf-8") as source, sides[1].open(encoding="utf-8") as target:
        Aligner().align(source, target, *map(str, found))
    both = zip(*(list(read_links(path))[: len(tested)] for path in found), strict=True)
    return [grow_diag_final_and(*ways) for ways in both]


def measure(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The error of every aligner on every gold set with the CPU seconds that it took to learn, and the reliability of
    the longest trained encoder's scores."""
    sets, rows = [gold_set(folder_of("CALQUE_DATA") / "align", name) for name in SETS], list[dict[str, Any]]()
    for steps in STEPS:
        before = spent()
        encoder = trained(steps, folder)
        seconds = spent() - before if steps else 0.0
        layer = AlignerTraining().main_layer(int(read_config(encoder).num_hidden_layers))
        opened = EncoderAligner.open(encoder, SOFTMAX, layer)
        for gold in sets:
            aer = score_all(gold.gold.pairs, opened.align(gold.pairs)).aer
            rows.append({"aligner": TRAINED, "steps": steps, "set": gold.name, "seconds": seconds, "aer": aer})
    statistical = {FAST_ALIGN: by_fast_align} | ({EFLOMAL: by_eflomal} if find_spec("eflomal") else {})
    for name, align in statistical.items():
        for gold in sets:
            (other,) = {*gold.name.split("-")} - {"en"}
            more = text(other) if other in ("fr", "de") else []
            pairs = more if gold.name.startswith("en") else [(target, source) for source, target in more]
            before = spent()
            links = align(pairs, lowered(gold.pairs), folder)
            seconds = spent() - before
            aer = score_all(gold.gold.pairs, links).aer
            rows.append({"aligner": name, "set": gold.name, "seconds": seconds, "aer": aer})
    errors = [{**row, "seconds": round(row["seconds"], 1), "aer": round(row["aer"], 5)} for row in rows]
    return {"rows": errors, "reliability": list(reliabilities(opened, sets))}


def reliabilities(opened: EncoderAligner, sets: Sequence[GoldSet]) -> Iterator[dict[str, Any]]:
    """Bins of the scores of links, and their expected calibration error, for every gold set."""
    for scores, reading in {RAW: EncoderAligner(opened.encoder, opened.reading), CALIBRATED: opened}.items():
        for gold in sets:
            bins, error = reliability(gold.gold.pairs, reading.align_scored(gold.pairs))
            of_bins = [{**asdict(each), "score": round(each.score, 5)} for each in bins]
            yield {"scores": scores, "set": gold.name, "error": round(error, 5), "bins": of_bins}


def draw(numbers: dict[str, Any], out: Path) -> None:
    """A figure of errors, and one of reliability: one panel per gold set, one line or point per aligner or score."""
    rows = numbers["rows"]
    found = {row["aligner"] for row in rows}
    names = [name for name in (TRAINED, FAST_ALIGN, EFLOMAL) if name in found]

    def errors(axes: Axes, gold: str) -> None:
        for name, (colour, marker) in zip(names, LOOKS, strict=False):
            mine = [row for row in rows if (row["aligner"], row["set"]) == (name, gold)]
            points = [row["seconds"] for row in mine], [100 * row["aer"] for row in mine]
            axes.plot(*points, "-", color=colour, marker=marker, markersize=5)
        axes.set_ylim(bottom=0)

    def correct(axes: Axes, gold: str) -> None:
        axes.plot((0, 100), (0, 100), "--", color="0.6", linewidth=0.8)
        for name, (colour, marker) in zip((RAW, CALIBRATED), LOOKS, strict=False):
            (mine,) = [row for row in numbers["reliability"] if (row["scores"], row["set"]) == (name, gold)]
            rates = [(100 * each["score"], 100 * each["correct"] / each["links"]) for each in mine["bins"]]
            axes.plot(*zip(*rates, strict=True), "-", color=colour, marker=marker, markersize=5)

    panels = [(set_title(gold), gold) for gold in SETS]
    for name, title, panel, labels, keys in (
        ("aligner-seconds", "Alignment error by CPU time", errors, ("CPU seconds", "AER, %"), names),
        (
            "aligner-reliability",
            "Correct links by their score",
            correct,
            ("mean score, %", "correct, %"),
            [RAW, CALIBRATED],
        ),
    ):
        with small_multiples(title, panels, panel, 2, 1.9, labels, sharex=True) as (figure, _):
            legend(figure, [key(each, *look) for each, look in zip(keys, LOOKS, strict=False)], len(keys))
        save_figure(figure, out, name)


def main() -> None:
    """Measure, unless the numbers are there, and draw."""
    parser = argparse.ArgumentParser(prog="python -m experiments.bench.aligner_curve", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder of aligner.json and of both figures")
    out = parser.parse_args().out
    numbers = out / "aligner.json"
    if not numbers.exists():
        with tempfile.TemporaryDirectory() as folder:
            measured = measure(Path(folder))
        eflomal = {"eflomal": version("eflomal")} if find_spec("eflomal") else {}
        about = provenance(f"python -m experiments.bench.aligner_curve --out {out}")
        write_json(numbers, {**about, **eflomal, "processor": cpu(), "threads": 1, **measured})
    draw(json.loads(numbers.read_text(encoding="utf-8")), out)


if __name__ == "__main__":
    main()
