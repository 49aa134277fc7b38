"""A parsed source: every sentence stays, gold stays gold, and nothing is parsed twice."""

import json
import multiprocessing
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from calque.derive.artefact import read_sealed
from calque.derive.build import derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.errors import BadInput
from calque.derive.order import Invert
from calque.derive.parser import MANY, SHARD, ParsedTrees, StanzaParser
from calque.derive.pocket.language import Pocket
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


def test_a_shard_says_how_much_was_parsed_and_why_some_was_not(files: Files, parser: Chains, tmp_path: Path) -> None:
    read(replace(files, trees=ParsedTrees(parser, tmp_path / "cache")))
    (shard,) = (tmp_path / "cache").iterdir()
    content = read_sealed(shard)
    assert (content["sentences"], content["words"], content["trees"][1]) == (3, 14, "ValueError")


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


def test_gold_tags_stay_where_only_heads_lack(parser: Chains, tmp_path: Path) -> None:
    counts = Counter(strange=2)
    tagged = [Sentence(("Sara", "ate"), ("PROPN", "VERB")), Sentence(())]
    found = ParsedTrees(parser, tmp_path / "cache").add_to(tagged, counts)
    assert found == [replace(chain(("Sara", "ate")), tags=("PROPN", "VERB")), Sentence(())]
    assert counts == {"strange": 2}


def test_words_stay_as_they_are(parser: Chains, tmp_path: Path) -> None:
    words = ("20 000", "_", "#", " ", "a\tb")
    trees = ParsedTrees(parser, tmp_path / "cache")
    for _ in range(2):
        assert trees.add_to([Sentence(words)], Counter()) == [chain(words)]
    assert parser.calls == [1]


def test_sentences_with_trees_ask_no_parser(tmp_path: Path) -> None:
    gold = list(Pocket().sentences(30))
    assert ParsedTrees(Chains(tmp_path / "absent"), tmp_path / "cache").add_to(gold, Counter()) == gold
    assert not (tmp_path / "cache").exists()


def test_treebanks_need_no_parser_and_text_does(tmp_path: Path) -> None:
    treebank, text = tmp_path / "a.conllu", tmp_path / "b.txt"
    treebank.write_text("1\tdogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\t_\t_\t0\troot\t_\t_\n\n")
    text.write_text("dogs bark\n")
    assert (files := Files((treebank,))).ready(tmp_path, trees=True) == files
    with pytest.raises(BadInput, match="needs trees, which text lacks"):
        Files((treebank, text)).ready(tmp_path, trees=True)


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


@pytest.mark.parametrize("count", [MANY - 1, MANY])
def test_a_parser_that_parses_nothing_of_much_is_refused(count: int, parser: Chains, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("".join(f"Number {i} is Paris.\n" for i in range(count)))
    source = replace(Files((text,)), trees=ParsedTrees(parser, tmp_path / "cache"))
    if count < MANY:
        assert read(source)[1] == {"sentences without a tree: ValueError": count}
    else:
        with pytest.raises(BadInput, match=f"none of {count} sentences could be parsed; the last: ValueError"):
            read(source)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def rehead(path: Path) -> None:
    """Another tree of the same words."""
    text = path.read_text()
    path.write_text(text.replace("-1 0 1", "-1 0 0"))
    assert path.read_text() != text


def excuse(path: Path) -> None:
    path.write_text(path.read_text().replace("ValueError", "TypeError"))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut, r"json: damaged, expected parsed sentences"),
        (rehead, r"json: changed since it was written"),
        (excuse, r"json: changed since it was written"),
    ],
)
def test_a_damaged_shard_is_refused(
    files: Files, parser: Chains, tmp_path: Path, damage: Callable[[Path], None], message: str
) -> None:
    source = replace(files, trees=ParsedTrees(parser, tmp_path / "cache"))
    read(source)
    damage(next((tmp_path / "cache").iterdir()))
    with pytest.raises(BadInput, match=message):
        read(source)


def test_trees_of_other_sentences_are_refused(files: Files, parser: Chains, tmp_path: Path) -> None:
    """Two whole files that were exchanged."""
    source = replace(files, trees=ParsedTrees(parser, tmp_path / "cache"))
    read(source)
    read(replace(files, trees=ParsedTrees(replace(parser, name="other"), tmp_path / "cache")))
    one, other = (tmp_path / "cache").iterdir()
    one.write_bytes(other.read_bytes())
    with pytest.raises(BadInput, match="belongs to"):
        read(source)
        read(replace(files, trees=ParsedTrees(replace(parser, name="other"), tmp_path / "cache")))


def test_another_parser_or_text_has_shards_of_its_own(files: Files, parser: Chains, tmp_path: Path) -> None:
    source = replace(files, trees=ParsedTrees(parser, tmp_path / "cache"))
    read(source)
    other = replace(files, trees=ParsedTrees(replace(parser, name="other"), tmp_path / "cache"))
    read(other)
    assert parser.calls == [3, 3]


def test_two_processes_may_parse_the_same_at_once(files: Files, parser: Chains, tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    source = replace(files, trees=ParsedTrees(parser, tmp_path / "cache"))
    processes = [spawn.Process(target=read, args=(source,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert len(list((tmp_path / "cache").iterdir())) == 1
    assert read(source)[1] == {"sentences without a tree: ValueError": 1}


def test_a_study_is_derived_with_the_same_vocabulary_as_without_trees(
    files: Files, parser: Chains, tmp_path: Path
) -> None:
    source = replace(files, trees=ParsedTrees(parser, tmp_path / "cache"))
    plain, parsed = (
        derive_languages(each, [Invert()], 290, DictionaryConfig(), tmp_path / name, tmp_path / "cache")
        for name, each in (("plain", files), ("parsed", source))
    )
    told, told_parsed = (json.loads((folder / "manifest.json").read_text()) for folder in (plain, parsed))
    corpora = [name for name in told["files"] if name.split("/")[0] in ("source", "vocabulary", "inv")]
    assert len(corpora) > 6
    assert [told["files"][name] for name in corpora] == [told_parsed["files"][name] for name in corpora]
    assert told_parsed["languages"]["source"]["left out"] == {"sentences without a tree: ValueError": 1}
