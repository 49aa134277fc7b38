"""`calque align`: two files in, a line of links a pair out, and every mistake one line."""

import shutil
import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import get_args

import pytest
import typer
from typer.testing import CliRunner

from calque.analysis.aligners.methods import BY_NAME
from calque.derive.artefact import write_manifest
from calque.derive.errors import BadInput
from calque.derive.files import MANIFEST, claimed
from calque.derive.links.aligner import score_of
from calque.derive.links.symmetrise import SYMMETRISATIONS
from calque.derive.pocket.language import Pocket
from calque.derive.readers.links import read_links, read_scored
from calque.derive.readers.parallel import pair_of_line
from calque.derive.vocabulary import SMALLEST
from calque.experiments.cli import Commands
from calque.experiments.commands.align import Symmetrise, align
from calque.pretrain.saved_model import RUN
from tests.encoders import small_roberta
from tests.processes import below, wait_for
from tests.vocabularies import learn, read_as_saved

PAIRS = 60
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `a.txt`, `b.txt` (the same words in reverse) and `model`, whose states know no place."""
    folder = tmp_path_factory.mktemp("align")
    short = (sentence.words for sentence in Pocket().sentences(10 * PAIRS) if len(sentence) <= 12)
    sentences = list(islice(short, PAIRS))
    for name, step in (("a.txt", 1), ("b.txt", -1)):
        text = "".join(" ".join(words[::step]) + "\n" for words in sentences)
        (folder / name).write_text(text, encoding="utf-8")
    vocabulary = learn(sentences, SMALLEST + 60)
    model = small_roberta(vocabulary.size, 64)
    model.roberta.embeddings.position_embeddings.weight.data.zero_()
    model.save_pretrained(folder / "model")
    vocabulary.save(folder / "model")
    read_as_saved(folder / "model")
    return folder


def run(*words: object) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    app = typer.Typer(cls=Commands)
    app.callback()(lambda: None)
    app.command()(align)
    ran = CliRunner().invoke(app, ["align", *map(str, words)])
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return ran.exit_code, ran.stdout, ran.stderr


@pytest.fixture
def checkpoint(here: Path, tmp_path: Path) -> Path:
    """The same model as the checkpoint of a run."""
    shutil.copytree(here / "model", tmp_path / "run" / "checkpoint")
    write_manifest(tmp_path / "run", RUN, {})
    return tmp_path / "run" / "checkpoint"


def test_every_method_can_be_asked_for(here: Path) -> None:
    code, _, told = run("--method", "itremax", "--model", here / "model", here / "a.txt", here / "b.txt")
    assert code == 2 and "did you mean itermax? there are fast-align, ot, " in told
    assert {*get_args(Symmetrise)} == {*SYMMETRISATIONS}


def test_without_a_method_a_model_decides(here: Path) -> None:
    texts = (here / "a.txt", here / "b.txt")
    for words, same in (
        ([], ["--method", "fast-align"]),
        (["--model", here / "model"], ["--method", "argmax-centred", "--model", here / "model", "--layer", 1]),
        (["--model", here / "model", "--precision", "float32"], ["--model", here / "model", "--device", "cpu"]),
    ):
        code, said, _ = run(*words, *texts)
        assert code == 0 and said.count("\n") == PAIRS
        assert said == run(*same, *texts)[1]


def test_words_are_parted_by_spaces_and_tabs_only(tmp_path: Path) -> None:
    """Other white space is part of a word, or a word, as in sets whose makers counted it so."""
    for name, text in (("a", "1\u00a0000 \u3000 Ja\twohl\n"), ("b", "a b c d\n")):
        (tmp_path / name).write_text(text * 40, encoding="utf-8")
    code, _, told = run(tmp_path / "a", tmp_path / "b", "--out", tmp_path / "links")
    assert (code, told) == (0, "")
    assert max(max(i for i, _ in links) for links in read_links(tmp_path / "links")) == 3


@pytest.mark.parametrize("method", ["fast-align", *BY_NAME])
def test_links_go_to_a_file_a_line_a_pair(here: Path, tmp_path: Path, method: str) -> None:
    of_model = [] if method == "fast-align" else ["--model", here / "model", "--layer", 1]
    code, _, told = run("--method", method, *of_model, here / "a.txt", here / "b.txt", "--out", tmp_path / "links")
    assert (code, told) == (0, "")
    found = list(read_links(tmp_path / "links"))
    lengths = [len(line.split()) for line in (here / "a.txt").read_text(encoding="utf-8").splitlines()]
    gold = [{(i, n - 1 - i) for i in range(n)} for n in lengths]
    right = sum(len(known & set(links)) for known, links in zip(gold, found, strict=True))
    if method != "fast-align":  # the same word is most like itself
        assert right / sum(lengths) > 0.8
    assert [path.name for path in tmp_path.iterdir()] == ["links"]


def test_without_out_links_are_printed_and_scores_stand_behind_them(here: Path, tmp_path: Path) -> None:
    common = ["--model", here / "model", "--layer", 1, here / "a.txt", here / "b.txt"]
    for words, distinct in ((common, 1), ([here / "a.txt", here / "b.txt"], 50)):  # a word is exactly like itself
        _, bare, _ = run(*words)
        _, scored, _ = run(*words, "--scores")
        (tmp_path / "scored").write_text(scored)
        (tmp_path / "bare").write_text(bare)
        assert [list(links) for links in read_scored(tmp_path / "scored")] == list(read_links(tmp_path / "bare"))
        scores = [score for links in read_scored(tmp_path / "scored") for score in links.values()]
        assert all(0 < score < 1.001 for score in scores) and len(set(scores)) >= distinct


def test_fast_align_is_symmetrised_as_asked(here: Path) -> None:
    texts = (here / "a.txt", here / "b.txt")
    _, union, _ = run("--method", "fast-align", "--symmetrise", "union", *texts)
    _, both, _ = run("--method", "fast-align", "--symmetrise", "intersect", *texts)
    pairs = list(zip(both.splitlines(), union.splitlines(), strict=True))
    assert len(pairs) == PAIRS
    assert all(set(few.split()) <= set(many.split()) for few, many in pairs)


def test_what_fast_align_learnt_is_saved_and_aligns_other_text(here: Path, tmp_path: Path) -> None:
    """The text that it learnt from has the same links; new text has links too, and unknown words do no harm."""
    texts = (here / "a.txt", here / "b.txt")
    _, learnt, _ = run(*texts, "--save", tmp_path / "model")
    assert run(*texts) == run(*texts, "--model", tmp_path / "model") == (0, learnt, "")
    _, union, _ = run(*texts, "--symmetrise", "union")
    assert union != learnt
    assert run(*texts, "--model", tmp_path / "model", "--symmetrise", "union", "--method", "fast-align")[1] == union
    for name, text in (("a", "Sara ate two qqq .\n"), ("b", ". zzz two ate Sara\n")):
        seen = (here / f"{name}.txt").read_text(encoding="utf-8").splitlines(keepends=True)[5:]
        (tmp_path / name).write_text(text + "".join(seen), encoding="utf-8")
    new = [tmp_path / "a", tmp_path / "b", "--model", tmp_path / "model"]
    code, _, told = run(*new, "--scores", "--out", tmp_path / "links", "--draw", 1)
    assert (code, told) == (0, "") and (tmp_path / "links-pair-1.svg").is_file()
    first, *rest = read_scored(tmp_path / "links")
    assert first and all(0 < score <= 1 for score in first.values())
    (tmp_path / "learnt").write_text(learnt)
    assert list(map(list, rest)) == list(read_links(tmp_path / "learnt"))[5:]
    assert run(*texts, "--save", tmp_path / "model")[0] == 0  # over a saved one
    words = tmp_path / "model" / "source.json"
    words.write_bytes(words.read_bytes().replace(b"the", b"thx"))
    code, said, told = run(*new)
    assert (code, said) == (2, "") and f"{words}: changed since it was written" in told


def test_a_changed_checkpoint_of_a_run_is_refused(here: Path, checkpoint: Path) -> None:
    """A weight with a flipped bit is a number like any other: only the run's manifest can tell."""
    words = ["--model", checkpoint, here / "a.txt", here / "b.txt"]
    assert run(*words)[0] == 0
    weights = checkpoint / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    code, said, told = run(*words)
    assert (code, said, len(told.splitlines())) == (2, "", 1)
    assert f"{weights}: changed since it was written" in told
    (checkpoint.parent / MANIFEST).write_text("{}")  # of somebody else
    assert run(*words)[0] == 0


@pytest.mark.parametrize("method", ["ot", "fast-align"])
def test_empty_and_long_lines_keep_their_place_and_are_counted(here: Path, tmp_path: Path, method: str) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("Sara ate .\n\n" + "apple " * 1100 + "\nSara\n")
    b.write_text("Sara ate .\nSara\n" + "apple " * 1000 + "\n\n")
    of_model = [] if method == "fast-align" else ["--model", here / "model", "--layer", 1]
    code, out, told = run("--method", method, *of_model, a, b)
    assert code == 0
    first, no_source, long, no_target, end = out.split("\n")
    assert first and not (no_source or no_target or end)
    assert bool(long) == (method == "ot")
    assert "without links: 2 sentence pairs with an empty side (line 2, 4)" in told.splitlines()
    cut = "words beyond the 64 ids that the model takes (line 3)"
    assert (cut if method == "ot" else "1 sentence pairs with more than 1,024 words on a side (line 3)") in told
    assert len(told.splitlines()) == 2


def test_a_pair_can_be_drawn(here: Path, tmp_path: Path) -> None:
    common = [here / "a.txt", here / "b.txt", "--out", tmp_path / "links", "--draw", 2]
    assert run("--model", here / "model", "--layer", 1, *common)[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["links", "links-pair-2.png", "links-pair-2.svg"]


def test_mistakes_are_one_line_and_leave_nothing(here: Path, tmp_path: Path) -> None:
    a, b, model = here / "a.txt", here / "b.txt", ["--model", here / "model"]
    (tmp_path / "short").write_text("Sara .\n")
    (tmp_path / "two").write_text("Sara .\nSara .\n")
    (tmp_path / "gap").write_text("Sara .\n\n")
    (tmp_path / "latin").write_bytes(b"Sara .\n\xe9t\xe9\n")
    (tmp_path / "untold").mkdir()
    for name in ("config.json", "model.safetensors"):
        (tmp_path / "untold" / name).write_bytes((here / "model" / name).read_bytes())
    (tmp_path / "of-others").mkdir()
    write_manifest(tmp_path / "of-others", RUN, {})
    before = sorted(tmp_path.rglob("*"))
    two = ["--method", "fast-align", tmp_path / "two", tmp_path / "two"]
    for words, expected in (
        ([*model, "--layer", 1, a, tmp_path / "short"], f"1 lines for the {PAIRS} of"),
        ([*model, "--layer", 8, a, b], "no layer 8: the model has 2"),
        ([*model, "--layer", -1, a, b], "no layer -1"),
        (["--method", "ot", a, b], "name one with --model"),
        (["--method", "itermx", a, b], "no alignment method is called 'itermx'; did you mean itermax?"),
        (["--model", tmp_path, a, b], "no model here"),
        (["--model", "no/such/folder", a, b], "no model here"),
        ([*model, "--symmetrise", "union", a, b], "leave out --symmetrise"),
        (["--layer", 0, "--joint", a, b], "leave out --layer and --joint"),
        (["--device", "cpu", a, b], "leave out --device"),
        ([*model, "--save", tmp_path / "new", a, b], "is a folder already: leave out --save"),
        ([*two, "--save", tmp_path], "there is something else; expected the name of a new folder"),
        ([*two, "--save", tmp_path / "two"], "there is something else"),
        ([*two, "--save", tmp_path / "of-others"], "the manifest of run; expected fast_align"),
        ([*two, "--save", "."], ".: expected the name of a new folder"),
        (["--model", tmp_path / "of-others", a, b], "the manifest of run; expected fast_align"),
        (["--model", tmp_path / "of-others", "--method", "match", a, b], "holds what fast-align learnt"),
        (["--model", tmp_path / "of-others", "--save", tmp_path / "new", a, b], "is saved already"),
        (["--method", "fast-align", *model, a, b], "no aligner that fast-align saved is in"),
        ([*model, "--layer", 1, a, tmp_path / "none"], "no such file"),
        ([*model, "--layer", 1, "--draw", 1 + PAIRS, a, b], f"--draw {1 + PAIRS}"),
        (["--method", "fast-align", "--draw", 2, tmp_path / "two", tmp_path / "gap"], "nothing to draw"),
        (["--method", "fast-align", tmp_path / "two", tmp_path / "latin"], f"{tmp_path / 'latin'}:2: byte 0xe9"),
        (["--model", tmp_path / "untold", "--layer", 1, a, b], "tokenizer.json: no tokenizer here"),
        ([*two, "--out", tmp_path / "untold"], "untold: is a folder or a device; expected"),
        ([*two, "--out", "/dev/null"], "/dev/null: is a folder or a device"),
        ([*two, "--out", tmp_path / "two"], "two: is an input"),
        ([*two, "--out", tmp_path / "two" / "links"], f"{tmp_path / 'two' / 'links'}: cannot be written"),
    ):
        code, _, told = run("--out", tmp_path / "links", *words)
        assert (code, len(told.splitlines())) == (2, 1), told
        assert expected in told
    with claimed(tmp_path / "new"):
        code, _, told = run(*two, "--save", tmp_path / "new")
    assert (code, len(told.splitlines())) == (2, 1) and "new: another process is using this folder" in told
    assert sorted(tmp_path.rglob("*")) == before
    code, said, told = run(*two, "--draw", 1)
    assert (code, said, len(told.splitlines())) == (2, "", 1) and "needs --out" in told


def test_when_it_is_stopped_the_file_is_as_it_was(here: Path, tmp_path: Path) -> None:
    files, out = [tmp_path / name for name in ("a.txt", "b.txt")], tmp_path / "links"
    for path in files:
        path.write_text((here / path.name).read_text(encoding="utf-8") * 20_000, encoding="utf-8")
    out.write_text("0-0\n", encoding="utf-8")
    words = ["-m", "experiments", "align", "--model", here / "model", "--layer", 1, *files, "--out", out]
    with subprocess.Popen(
        [sys.executable, *map(str, words)], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_for(lambda: below(tmp_path, ".links.*"), process)
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate()
    assert (process.returncode, told) == (128 + signal.SIGTERM, f"calque: stopped by SIGTERM; {out} is as it was\n")
    assert out.read_text(encoding="utf-8") == "0-0\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt", "links"]


def served(here: Path, data: bytes, *words: object) -> tuple[int, list[str], str]:
    """Exit code, lines and standard error of `calque align` with pairs on standard input."""
    command = [sys.executable, "-m", "calque.experiments", "align", "--model", here / "model", *words]
    ran = subprocess.run([*map(str, command)], input=data, capture_output=True, cwd=ROOT, check=False)
    return ran.returncode, ran.stdout.decode().splitlines(), ran.stderr.decode()


def test_pairs_on_standard_input_have_the_links_of_files(here: Path) -> None:
    texts = [(here / name).read_text("utf-8").splitlines() for name in ("a.txt", "b.txt")]
    code, lines, _ = served(here, "\n".join(f"{a} ||| {b}" for a, b in zip(*texts, strict=True)).encode(), "--words")
    _, printed, _ = run("--model", here / "model", "--words", here / "a.txt", here / "b.txt")
    assert code == 0 and lines == printed.splitlines()
    for line, a, b in zip(lines, *texts, strict=True):
        links, score, words = line.split("\t")
        pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
        assert words.split() == [f"{a.split()[i]}={b.split()[j]}" for i, j in pairs]
        assert 0 < float(score) < 1.001


def test_the_score_of_a_pair_is_the_mean_of_the_best_links_of_its_words() -> None:
    assert score_of({(0, 0): 0.8, (0, 1): 0.6}, (("a",), ("b", "c", "d"))) == pytest.approx((0.8 + 0.8 + 0.6 + 0) / 4)
    assert score_of({}, ((), ())) == 0


@pytest.mark.parametrize("line", [b"a ||| b ||| c", b"a b", b"a\tb\tc", b"a ||| \xff", b"a\0 ||| b"])
def test_a_line_that_is_no_pair_is_refused_with_its_number(line: bytes) -> None:
    with pytest.raises(BadInput, match=r"^x:4: "):
        pair_of_line(line, Path("x"), 4)


def test_pairs_before_a_line_that_is_none_have_links(here: Path) -> None:
    code, lines, told = served(here, b"the ||| the\n\nthe\tthe\nthe |||\n" + b"a" * (1 << 21))
    assert code == 2 and lines == ["0-0", "", "0-0", ""] and "standard input:5: no line end" in told.splitlines()[-1]


def test_a_pair_is_answered_before_the_next_one_is_asked(here: Path) -> None:
    command = [sys.executable, "-m", "calque.experiments", "align", "--model", str(here / "model")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
        assert process.stdin and process.stdout
        for _ in range(2):
            process.stdin.write("the ||| the\n")
            process.stdin.flush()
            assert process.stdout.readline() == "0-0\n"
        process.stdin.close()
        assert process.wait() == 0


@pytest.mark.parametrize("words", [[], ["a.txt"], ["--model", "model", "--out", "x"], ["--model", "model", "a.txt"]])
def test_standard_input_needs_a_saved_model_and_no_files(here: Path, words: list[str]) -> None:
    code, _, told = run(*(here / word if "-" not in word else word for word in words))
    assert code == 2 and "expected two files of sentences" in told
