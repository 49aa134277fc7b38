"""Toy studies, computed in a minute or two, whose artefacts are of every kind."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from calque.derive.links.fast_align import StatisticalAligner
from calque.derive.parser import ParsedTrees, StanzaParser
from calque.derive.pocket.language import Pocket
from calque.derive.reorder import TreebankFiles
from calque.derive.sentence import Sentence
from calque.derive.sources.files import Files
from calque.experiments.names import study
from calque.experiments.override import override
from calque.experiments.schedule import compute, do
from calque.experiments.step import Machine
from calque.experiments.study import Study
from tests.attack.targets import Target, stopped, targets_of
from tests.derive.natural.made import EN, written
from tests.experiments.conftest import TINY
from tests.experiments.test_natural import TINY as NATURAL
from tests.experiments.test_natural import made_study as natural
from tests.experiments.test_word_alignment import made_study as word_alignment
from tests.treebanks import write_treebank

POCKET = [*TINY, "source.size=300", "train.snapshots=1"]
OBJECTIVES = "objectives=MLM,XLM,XLM-ALIGN,PREALIGN-for-50,WEAM,PPA-queue24"
OTHER = [*POCKET, "objectives=MLM", "seeds=1", "vocabulary=500", "tasks.pos.finetune.epochs=2"]
"""Another study in the same folder: of other languages, seeds and settings."""


@dataclass(frozen=True)
class Chains(StanzaParser):
    """A parser that hangs every word on the one before it, or on the one after it."""

    name: str = "before"

    def fingerprint(self) -> str:
        return self.name

    def trees(self, sentences: Sequence[Sequence[str]]) -> list[Sentence | str]:
        return [self._tree(tuple(words)) for words in sentences]

    def _tree(self, words: tuple[str, ...]) -> Sentence:
        n = len(words)
        before = self.name == "before"
        heads = tuple(range(-1, n - 1)) if before else (*range(1, n), -1)
        return Sentence(words, ("NOUN",) * n, heads, tuple("dep" if head >= 0 else "root" for head in heads))


def targets(folder: Path) -> list[Target]:
    """All artefacts of the toy studies and of commands, made below a folder."""
    made: list[Target] = []
    for number, (name, toy) in enumerate(_studies(folder)):
        root = folder / "runs" / name
        steps = toy.steps(root)
        compute(steps, toy.home(root), 1)
        made += [*targets_of(name, steps), *states(name, toy, root, folder / "stopped" / str(number))]
    return [*made, *caches(folder / "caches"), *aligners(folder / "aligners")]


def states(name: str, toy: Study, done: Path, root: Path) -> Iterator[Target]:
    """The runs of a study, each stopped in the middle, below another root."""

    def stop(what: str, step: int, of: int) -> None:
        if what.startswith("pretrain") and 2 * step > of:
            raise KeyboardInterrupt

    shutil.copytree(done, root)
    steps = toy.steps(root)
    for target in stopped(name, steps):
        shutil.rmtree(target.folder)
        (run,) = (step for step in steps if step.folder == target.folder)
        try:
            do(run, Machine(stop))
        except KeyboardInterrupt:
            yield target


def _studies(folder: Path) -> Iterator[tuple[str, Study]]:
    yield "pocket", override(study("pocket"), [*POCKET, OBJECTIVES])
    yield "pocket", override(study("pocket"), OTHER)
    for lines, objectives in ((2, "WEAM,PPA-queue24"), (3, "WEAM,XLM-ALIGN")):
        toy = natural(folder / "data" / f"{lines} withheld")
        written(folder / "data" / f"{lines} withheld" / "withheld.txt", EN[:lines])
        yield "natural", override(toy, [*NATURAL, f"objectives={objectives}"])
    yield "word alignment", word_alignment(folder / "data" / "gold")


def caches(folder: Path) -> Iterator[Target]:
    """What studies keep for others: grammars, and sentences that were parsed."""
    trees = list(islice(Pocket().sentences(60, 1), 60))
    folder.mkdir(parents=True)
    for number in range(2):
        treebank = folder / f"{number}.conllu"
        write_treebank(treebank, trees[30 * number : 30 * number + 30])
        superstrate = TreebankFiles("en", (treebank,))
        yield from _cache("grammar", folder / "grammars", lambda its=superstrate: its.grammar(folder / "grammars"))
    text = folder / "text.txt"
    text.write_text("".join(" ".join(tree.words) + "\n" for tree in trees), encoding="utf-8")
    for name in ("before", "after"):
        source = Files((text,), trees=ParsedTrees(Chains(folder, name), folder / "trees"))
        yield from _cache("trees", folder / "trees", lambda its=source: [its.sentences(one) for one in its.chunks()])


def _cache(kind: str, folder: Path, read: Callable[[], Any]) -> Iterator[Target]:
    before = set(folder.glob("*"))
    read()
    for path in sorted(set(folder.glob("*")) - before):
        yield Target(f"{kind}, cache", folder, read, path.name)


def aligners(folder: Path) -> Iterator[Target]:
    """Aligners that a command saved in folders of the user's own names."""
    pairs = [(tree.words, tuple(word.upper() for word in reversed(tree.words))) for tree in Pocket().sentences(40, 2)]
    for number in range(2):
        place = folder / f"aligner-{number}"
        StatisticalAligner.train(pairs[20 * number : 20 * number + 20]).save(place)
        yield Target(
            "fast_align, saved",
            place,
            lambda place=place: list(StatisticalAligner.open(place).align_scored(pairs)),
            renamed=True,
        )
