"""Files as a source: splits, hold-outs, limits, and a fingerprint of contents."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from calque.derive.build import derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.errors import BadInput
from calque.derive.example import Example
from calque.derive.order import Invert
from calque.derive.script import Transliterate
from calque.derive.sentence import Span
from calque.derive.source import SPLITS, Source, TaskData
from calque.derive.sources.files import READERS, Files, TaskFiles, check_language, written
from calque.derive.sources.pocket import PocketEnglish, Sizes
from calque.derive.transform import compose

TEXT = "Sara ate two apples. She lives in Paris.\nIs it raining?\n"


def ner_file(path: Path, size: int) -> Path:
    path.write_text("".join(f"w{i} O\nParis B-LOC\n\n" for i in range(size)))
    return path


@pytest.fixture
def source(tmp_path: Path) -> Files:
    (tmp_path / "text.txt").write_text(TEXT)
    (tmp_path / "a.conllu").write_text(
        "1\tSara\t_\tPROPN\t_\t_\t2\tnsubj\t_\t_\n2\tate\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n" * 3
    )
    (tmp_path / "a.tsv").write_text("It rains. Now.\tIt rains.\tentailment\n" * 4)
    files = TaskFiles((tmp_path / "a.conllu",), (tmp_path / "a.conllu",), (tmp_path / "a.conllu",))
    ner = TaskFiles((ner_file(tmp_path / "a.iob2", 20),), (ner_file(tmp_path / "b.iob2", 3),), held_out=5, limit=9)
    nli = TaskFiles((tmp_path / "a.tsv",), (tmp_path / "a.tsv",), (tmp_path / "a.tsv",))
    return Files((tmp_path / "text.txt",), files, ner, nli)


def words(data: TaskData, split: str) -> list[str]:
    return [example.texts[0][0].words[0] for example in data.examples[split]]


def test_text_is_read_as_sentences(source: Files) -> None:
    (chunk,) = source.chunks()
    sentences, _ = source.sentences(chunk)
    assert [" ".join(s.words) for s in sentences] == [
        "Sara ate two apples .",
        "She lives in Paris .",
        "Is it raining ?",
    ]


def all_tasks(source: Source) -> dict[str, TaskData]:
    return {task: source.task_data(task) for task in source.tasks}


def test_tasks_have_their_labels(source: Files) -> None:
    tasks = all_tasks(source)
    assert tasks["pos"].examples["train"][0].texts[0][0].tags == ("PROPN", "VERB")
    assert tasks["ner"].examples["test"][0].texts[0][0].spans == (Span(1, 2, "LOC"),)
    pair = tasks["nli"].examples["dev"][0]
    assert [len(text) for text in pair.texts] == [2, 1]
    assert pair.label == "entailment"


def test_the_files_of_a_split_are_those_it_is_drawn_from(source: Files) -> None:
    assert [[path.name for path in source.files_of("ner", split)] for split in SPLITS] == [["a.iob2"]] * 2 + [
        ["b.iob2"]
    ]


def test_held_out_limited_and_kept_examples_are_counted_and_apart(source: Files) -> None:
    data = source.task_data("ner")
    train, dev, test = (words(data, split) for split in ("train", "dev", "test"))
    assert (len(train), len(dev), len(test)) == (9, 5, 3)
    assert not set(train) & set(dev)
    assert set(train + dev) <= {f"w{i}" for i in range(20)}
    assert train == sorted(train, key=lambda word: int(word[1:]))
    assert data.left_out["train"] == Counter({"held out as dev": 5, "over the limit": 6})
    assert source.task_data("ner") == data


def test_pairs_that_share_a_text_with_one_held_out_are_left_out_where_they_are_to_be_apart(tmp_path: Path) -> None:
    """Ten first texts and eight second ones, in forty pairs."""

    def texts(examples: list[Example]) -> list[set[str]]:
        return [{" ".join(text[0].words) for text in one.texts} for one in examples]

    (path := tmp_path / "a.tsv").write_text(
        "".join(f"The {i % 10} is .\tIt was {i % 8} .\t{i % 2}\n" for i in range(40)), encoding="utf-8"
    )
    files = TaskFiles((path,), held_out=2, limit=5, apart=True)
    everything = texts(TaskFiles((path,), (path,), held_out=0).load(written("paraphrase")).examples["train"])
    data = files.load(written("paraphrase"))
    train, dev, test = (texts(data.examples[split]) for split in SPLITS)
    held_out = set().union(*dev, *test)
    free = [both for both in everything if both.isdisjoint(held_out)]
    assert (len(train), len(dev), len(test)) == (5, 2, 2)
    assert all(both in free for both in train)
    assert data.left_out["train"]["with a text of one held out"] == 36 - len(free) > 0
    assert data.left_out["train"]["over the limit"] == len(free) - 5
    assert files.identity != replace(files, apart=False).identity
    with pytest.raises(BadInput, match="every example shares a text with a held-out example"):
        replace(files, held_out=10).load(written("paraphrase"))


def test_nothing_need_be_held_out(tmp_path: Path) -> None:
    path = ner_file(tmp_path / "a.iob2", 3)
    data = Files((), ner=TaskFiles((path,), (path,), held_out=0)).task_data("ner")
    assert (words(data, "train"), data.examples["dev"], data.left_out["train"]) == (["w0", "w1", "w2"], [], {})


def test_defaults_are_those_that_records_were_made_with() -> None:
    """A seed is in no name: another default would change numbers and tell nobody."""
    path = (Path("a"),)
    assert TaskFiles(path, path) == TaskFiles(path, path, held_out=1_000, limit=0, seed=0)


def test_without_a_test_file_the_test_is_held_out_too(tmp_path: Path) -> None:
    path = ner_file(tmp_path / "a.iob2", 20)
    data = Files((), ner=TaskFiles((path,), held_out=4, limit=9)).task_data("ner")
    train, dev, test = (words(data, split) for split in ("train", "dev", "test"))
    assert (len(train), len(dev), len(test)) == (9, 4, 4)
    assert len({*train, *dev, *test}) == 17
    assert data.left_out["train"] == Counter({"held out as dev": 4, "held out as test": 4, "over the limit": 3})
    with pytest.raises(BadInput, match="cannot hold out 20 of 20"):
        Files((), ner=TaskFiles((path,), held_out=10)).task_data("ner")


def test_of_translations_the_same_lines_are_tested(tmp_path: Path) -> None:
    path, other = ner_file(tmp_path / "a.iob2", 20), ner_file(tmp_path / "b.iob2", 20)
    files = TaskFiles((path,), (path,), (path,), tested=6)
    data, counts = Files((), ner=files).task_data("ner"), Counter[str]()
    assert [len(data.examples[split]) for split in ("train", "dev", "test")] == [20, 6, 6]
    assert data.left_out["test"] == {"over the limit": 14}
    same = files.read_tested((other,), READERS["ner"], counts)
    assert same == data.examples["test"] and counts == {"over the limit": 14}
    assert len(files.read_tested((ner_file(tmp_path / "c.iob2", 6),), READERS["ner"], counts)) == 6
    assert files.identity != TaskFiles((path,), (path,), (path,)).identity
    assert Files((), ner=files).drawn == ("the test items of ner",)
    assert Files((), ner=files).redrawn(1).ner == replace(files, seed=1)
    drawn = ("the training examples of ner", "the test items of ner")
    assert Files((), ner=replace(files, limit=3)).drawn == drawn


def nli_file(path: Path, count: int, said: str = "rains") -> Path:
    labels = ("entailment", "neutral", "contradiction")
    path.write_text("".join(f"It {said} {i} .\tIt {said} .\t{labels[i % 3]}\n" for i in range(count)), encoding="utf-8")
    return path


def test_translations_are_those_of_the_examples_that_are_learnt_from(tmp_path: Path) -> None:
    own, other = nli_file(tmp_path / "a.tsv", 20), nli_file(tmp_path / "b.tsv", 20, "pluit")
    files = TaskFiles((own,), held_out=4, limit=9)
    learnt = Files((), nli=files).task_data("nli").examples["train"]
    counts = Counter[str]()
    translated = files.read_translated((other,), READERS["nli"], counts, READERS["nli"])
    assert [one.texts[0][0].words[2] for one in translated] == [one.texts[0][0].words[2] for one in learnt]
    assert {one.texts[0][0].words[1] for one in translated} == {"pluit"} and counts["over the limit"] == 11


@pytest.mark.parametrize(
    ("count", "first", "said"),
    [
        (19, 0, r"c\.tsv: 19 examples; expected a translation of each of the 20 of .*a\.tsv"),
        (20, 1, r"c\.tsv: example 1 has the label 'neutral', but 'entailment' in .*a\.tsv: expected transl"),
    ],
)
def test_translations_that_are_out_of_step_are_refused(tmp_path: Path, count: int, first: int, said: str) -> None:
    own, other = nli_file(tmp_path / "a.tsv", 20), nli_file(tmp_path / "c.tsv", count)
    lines = other.read_text(encoding="utf-8").splitlines(keepends=True)
    other.write_text("".join([lines[first], *lines[1:]]), encoding="utf-8")
    with pytest.raises(BadInput, match=said):
        TaskFiles((own,), held_out=4).read_translated((other,), READERS["nli"], Counter(), READERS["nli"])


def test_more_held_out_than_there_is(tmp_path: Path) -> None:
    path = ner_file(tmp_path / "a.iob2", 3)
    with pytest.raises(BadInput, match="cannot hold out 3 of 3"):
        Files((), ner=TaskFiles((path,), (path,), held_out=3)).task_data("ner")


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_a_split_without_a_label_is_refused(tmp_path: Path, split: str) -> None:
    labelled, hidden = tmp_path / "a.tsv", tmp_path / "hidden.tsv"
    labelled.write_text("It rains.\tIt rains.\tentailment\n")
    hidden.write_text("It rains.\tIt rains.\t-\n")
    files = {name: (hidden if name == split else labelled,) for name in ("train", "dev", "test")}
    with pytest.raises(BadInput, match=r"hidden\.tsv: no labelled example"):
        Files((), nli=TaskFiles(**files)).task_data("nli")


def test_impossible_values_are_refused_before_anything_is_read() -> None:
    path = (Path("a"),)
    for make, what in (
        (lambda: TaskFiles((), path), "at least one file of training data"),
        (lambda: TaskFiles(path, (), held_out=0), "at least one file of test data"),
        (lambda: TaskFiles(path, path, held_out=-1), "not -1, 0, 0"),
        (lambda: TaskFiles(path, path, limit=-1), "not 1000, -1, 0"),
        (lambda: TaskFiles(path, path, tested=-1), "not 1000, 0, -1"),
        (lambda: Files(path, megabytes=-1), "megabytes"),
    ):
        with pytest.raises(BadInput, match=what):
            make()


def test_the_fingerprint_follows_contents_not_places(source: Files, tmp_path: Path) -> None:
    base, tasks = source.corpus_fingerprint(), [source.task_fingerprint(task) for task in source.tasks]
    moved = tmp_path / "moved.txt"
    (tmp_path / "text.txt").rename(moved)
    same = Files((moved,), source.pos, source.ner, source.nli)
    assert same.corpus_fingerprint() == base
    moved.write_text(TEXT + "More.\n")
    assert same.corpus_fingerprint() != base
    assert [same.task_fingerprint(task) for task in same.tasks] == tasks
    with pytest.raises(BadInput, match="no such file"):
        source.corpus_fingerprint()


def test_task_sizes_are_nothing_to_the_corpus_and_a_task_nothing_to_another() -> None:
    base, other = PocketEnglish(), PocketEnglish(pos=Sizes(1, 1, 1))
    assert other.corpus_fingerprint() == base.corpus_fingerprint() != PocketEnglish(size=9).corpus_fingerprint()
    assert other.task_fingerprint("pos") != base.task_fingerprint("pos")
    assert other.task_fingerprint("ner") == base.task_fingerprint("ner") != base.task_fingerprint("nli")
    assert other.task_data("ner") == base.task_data("ner")


def test_megabytes_takes_the_head_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("A line of text.\n" * 800_000)
    assert len(list(Files((path,)).chunks())) == 4
    assert len(list(Files((path,), megabytes=5).chunks())) == 2


def test_a_study_of_files(source: Files, tmp_path: Path) -> None:
    folder = derive_languages(
        source, (compose(Transliterate(), Invert()),), 265, DictionaryConfig(), tmp_path / "study", tmp_path / "cache"
    )
    assert {path.name for path in folder.iterdir() if path.is_dir()} == {"source", "trans.inv", "vocabulary"}
    assert "apples two ate Sara" in " ".join((folder / "preview.txt").read_text().split())


def test_real_task_files(calque_data: Path) -> None:
    treebank, panx, nli = calque_data / "ud" / "UD_English-EWT", calque_data / "ner" / "panx", calque_data / "nli"
    dev = treebank / "en_ewt-ud-dev.conllu"
    source = Files(
        (),
        TaskFiles((dev,), (treebank / "en_ewt-ud-test.conllu",), held_out=1),
        TaskFiles((panx / "train-en.tsv",), (panx / "dev-en.tsv",), limit=500),
        TaskFiles((nli / "mnli" / "mnli_val_matched.jsonl",), (nli / "xnli" / "dev-en.tsv",), limit=100),
    )
    tasks = all_tasks(source)
    assert {k: len(v) for k, v in tasks["pos"].examples.items()} == {"train": 2_000, "dev": 1, "test": 2_077}
    assert {k: len(v) for k, v in tasks["ner"].examples.items()} == {"train": 500, "dev": 1_000, "test": 10_000}
    assert {k: len(v) for k, v in tasks["nli"].examples.items()} == {"train": 100, "dev": 1_000, "test": 2_490}
    assert tasks["nli"].left_out["train"]["over the limit"] == 9_815 - 1_000 - 100


def test_redrawn_files_hold_out_other_examples_and_read_the_same_text_and_test(source: Files) -> None:
    other = source.redrawn(1)
    assert source.drawn == ("the training examples of ner",)
    assert source.redrawn(0) == source and source.corpus_fingerprint() == other.corpus_fingerprint()
    assert source.task_fingerprint("pos") == other.task_fingerprint("pos")
    ours, theirs = source.task_data("ner"), other.task_data("ner")
    assert ours.examples["test"] == theirs.examples["test"]
    assert words(ours, "dev") != words(theirs, "dev") and words(ours, "train") != words(theirs, "train")
    assert len(words(ours, "dev")) == len(words(theirs, "dev")) == 5


def test_files_of_which_nothing_is_a_sample_draw_nothing(source: Files) -> None:
    whole = Files(source.text, pos=source.pos)
    assert whole.drawn == () and whole.redrawn(5) == whole


def test_lemmas_are_those_of_the_tagged_files(source: Files, tmp_path: Path) -> None:
    assert source.lemmas() == {}  # the column is empty
    (tmp_path / "a.conllu").write_text("1\tate\teat\tVERB\t_\t_\t0\troot\t_\t_\n\n")
    assert source.lemmas() == {"ate": frozenset({"eat"})}
    assert Files((tmp_path / "text.txt",)).lemmas() == {}


def asked(path: Path, *ids: str) -> Path:
    """Questions of such ids."""
    qas = [{"id": i, "question": "Who?", "answers": [{"text": "Ada", "answer_start": 0}]} for i in ids]
    path.write_text(json.dumps({"data": [{"paragraphs": [{"context": "Ada ran.", "qas": qas}]}]}))
    return path


def test_of_training_files_examples_are_chosen_by_their_ids(tmp_path: Path) -> None:
    train = asked(tmp_path / "a", "english-1", "finnish-1", "english-2", "korean-englishman")
    files = TaskFiles((train,), (asked(tmp_path / "b", "finnish-9"),), held_out=0, trained_id="english-")
    data = files.load(READERS["qa"])
    ids = {split: [example.id for example in examples] for split, examples in data.examples.items()}
    assert ids == {"train": ["english-1", "english-2"], "dev": [], "test": ["finnish-9"]}
    assert data.left_out["train"] == {"ids that do not begin with english-": 2}
    with pytest.raises(BadInput, match="no id starts with 'x'; the first is 'english-1'"):
        replace(files, trained_id="x").load(READERS["qa"])
    with pytest.raises(BadInput, match="'english-' needs ids"):
        replace(files, numbered=True)
    assert files.identity != replace(files, trained_id="").identity


def test_of_parallel_sets_the_same_ids_are_tested(tmp_path: Path) -> None:
    """Where one lacks some of the other's, as MLQA's languages do: all that are drawn of the larger and stand there."""
    names = [f"q{number}" for number in range(40)]
    large, small = asked(tmp_path / "large", *names), asked(tmp_path / "small", *names[::-3])
    files = TaskFiles((large,), (large,), (large,), tested=9)
    drawn = {example.id for example in files.read_tested((large,), READERS["qa"], Counter())}
    other = {example.id for example in files.read_tested((small,), READERS["qa"], Counter())}
    assert len(drawn) == len(other) == 9 and drawn & set(names[::-3]) <= other
    again = replace(files, seed=1).read_tested((large,), READERS["qa"], Counter())
    assert {example.id for example in again} != drawn


def test_ids_tell_examples_apart_or_are_counted(tmp_path: Path) -> None:
    a, b, c = asked(tmp_path / "a", "1", "2"), asked(tmp_path / "b", "2"), asked(tmp_path / "c", "1")
    files = TaskFiles(train=(a, b), test=(c,), held_out=1)
    with pytest.raises(BadInput, match="a: 1 ids belong to several examples, such as '2'"):
        files.load(READERS["qa"])
    counted = replace(files, numbered=True)
    data = counted.load(READERS["qa"])
    assert sorted(example.id for split in ("train", "dev") for example in data.examples[split]) == ["1", "2", "3"]
    assert counted.identity != files.identity


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_that_nothing_can_be_drawn_with_is_refused(seed: int) -> None:
    with pytest.raises(BadInput, match="a seed is at least 0"):
        TaskFiles((Path("a"),), seed=seed)


def test_files_of_one_language_are_those_that_say_nothing_else(tmp_path: Path) -> None:
    """A file without a mark, or marked with a name that is not a code, may be in any language."""
    for mark in ("", "fr", "de", "german"):
        (tmp_path / (mark or "none")).write_text(f"{mark and mark + ':'}Paris\tB-LOC\n", encoding="utf-8")

    def check(*names: str, language: str = "") -> None:
        check_language("ner", [tmp_path / name for name in names], language)

    check("none", "fr", "none", "fr")
    check("german", "none", "german")
    check("none", "fr", language="fr")
    check("fr", "none", language="fr-ca")
    for names in (("fr", "de"), ("none", "fr", "de"), ("fr", "none", "de")):
        with pytest.raises(BadInput, match=r"de: is marked as 'de'; .*fr is marked as 'fr'"):
            check(*names)
    with pytest.raises(BadInput, match=r"fr: is marked as 'fr'; the study lists it for 'de'"):
        check("none", "fr", "de", language="de")
