"""A parsed source: every sentence stays, gold stays gold, and nothing is parsed twice."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from calque.derive.parser import SHARD, ParsedTrees, StanzaParser
from calque.derive.sentence import Sentence, Span
from calque.derive.source import Source, TaskData
from calque.derive.sources.files import Files, TaskFiles


def chain(words: Sequence[str]) -> Sentence:
    """Nouns, each headed by the one before it."""
    n = len(words)
    return Sentence(tuple(words), ("NOUN",) * n, tuple(range(-1, n - 1)), ("root", *["dep"] * (n - 1))[:n])


@dataclass(frozen=True)
class Chains(StanzaParser):
    """A parser of chains, which cannot parse Paris. It notes in a file how many sentences each call brought."""

    name: str = "chains"

    def fingerprint(self, trees: bool = False) -> str:
        return self.name

    def trees(self, sentences: Sequence[Sequence[str]]) -> list[Sentence | str]:
        with (self.folder / "calls").open("a") as file:
            file.write(f"{len(sentences)}\n")
        return ["ValueError" if "Paris" in words else chain(words) for words in sentences]

    @property
    def calls(self) -> list[int]:
        path = self.folder / "calls"
        return [int(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def parser(tmp_path: Path) -> Chains:
    (tmp_path / "parser").mkdir()
    return Chains(tmp_path / "parser")


@pytest.fixture
def files(tmp_path: Path) -> Files:
    def write(name: str, text: str) -> tuple[Path]:
        (tmp_path / name).write_text(text)
        return (tmp_path / name,)

    text = write("text.txt", "Sara ate two apples. She lives in Paris.\n\nIs it raining?\nIs it raining?\n")
    pos = write("a.conllu", "1\tSara\t_\tPROPN\t_\t_\t2\tnsubj\t_\t_\n2\tate\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n")
    ner = write("a.iob2", "Rome B-LOC\nrains O\n\nParis B-LOC\nrains O\n\n")
    nli = write("a.tsv", "It rains. Now.\tIt rains.\tentailment\nSo Paris.\tIt rains.\tneutral\n")
    return Files(text, *(TaskFiles(path, path, path) for path in (pos, ner, nli)))


def read(source: Files) -> tuple[list[Sentence], Counter[str]]:
    sentences, counts = [], Counter[str]()
    for chunk in source.chunks():
        found, left_out = source.sentences(chunk)
        sentences += found
        counts += left_out
    return sentences, counts


def test_all_sentences_stay_and_those_without_a_tree_are_counted(files: Files, parser: Chains, tmp_path: Path) -> None:
    source = replace(files, trees=ParsedTrees(parser, tmp_path / "cache"))
    plain = [s for chunk in files.chunks() for s in files.sentences(chunk)[0]]
    for _ in range(2):  # parsed, and from the cache
        sentences, counts = read(source)
        assert [s.words for s in sentences] == [s.words for s in plain]
        assert [s == chain(s.words) for s in sentences] == [True, False, True, True]
        assert sentences[1] == Sentence(sentences[1].words)
        assert counts == {"sentences without a tree: ValueError": 1}
    assert parser.calls == [3]  # one call, and of the two sentences that are equal only one


def all_tasks(source: Source) -> dict[str, TaskData]:
    return {task: source.task_data(task) for task in source.tasks}


def test_gold_stays_and_the_rest_of_the_tasks_is_parsed(files: Files, parser: Chains, tmp_path: Path) -> None:
    gold, tasks = (
        all_tasks(source) for source in (files, replace(files, trees=ParsedTrees(parser, tmp_path / "cache")))
    )
    assert tasks["pos"] == gold["pos"]
    rome, paris = (example.texts[0][0] for example in tasks["ner"].examples["train"])
    assert rome == replace(chain(("Rome", "rains")), spans=(Span(0, 1, "LOC"),))
    assert paris == Sentence(("Paris", "rains"), spans=(Span(0, 1, "LOC"),))
    assert tasks["ner"].left_out["train"] == {"sentences without a tree: ValueError": 1}
    pair, other = tasks["nli"].examples["dev"]
    assert pair.texts == ((chain(("It", "rains", ".")), chain(("Now", "."))), (chain(("It", "rains", ".")),))
    assert (pair.label, other.label) == ("entailment", "neutral")
    assert [bool(text[0].heads) for text in other.texts] == [False, True]
    for name, data in tasks.items():
        assert {split: shape(data, split) for split in data.examples} == {
            split: shape(gold[name], split) for split in gold[name].examples
        }


def shape(data: TaskData, split: str) -> list[object]:
    """Words, spans and labels of a split's examples."""
    return [
        (example.label, [[(s.words, s.spans) for s in text] for text in example.texts])
        for example in data.examples[split]
    ]


class Dies(Chains):
    """Is killed by its second call."""

    def trees(self, sentences: Sequence[Sequence[str]]) -> list[Sentence | str]:
        if self.calls:
            raise KeyboardInterrupt
        return super().trees(sentences)


def test_a_killed_run_goes_on_with_the_next_shard(parser: Chains, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("".join(f"Number {i} rains.\n" for i in range(2 * SHARD + 1)))
    dies = replace(Files((text,)), trees=ParsedTrees(Dies(parser.folder), tmp_path / "cache"))
    with pytest.raises(KeyboardInterrupt):
        read(dies)
    assert parser.calls == [SHARD]
    sentences, _ = read(replace(dies, trees=ParsedTrees(parser, tmp_path / "cache")))
    assert parser.calls == [SHARD, SHARD, 1]
    assert sentences == [chain(("Number", str(i), "rains", ".")) for i in range(2 * SHARD + 1)]
