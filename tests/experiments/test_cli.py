"""The command line: what it prints, and one line with an exit code for everything that goes wrong."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch
import typer
from typer.testing import CliRunner

from calque.derive.errors import BadInput
from calque.experiments.cli import Commands, app
from calque.experiments.names import studies
from calque.experiments.study import Study
from calque.pretrain.train import NonFinite
from tests.experiments.conftest import TINY, Done
from tests.processes import below, descendants, wait_for

ROOT = Path(__file__).parents[2]
ALONE = ["--jobs", "1", "--set", "transforms=trans"]
ZS_POS = ("ZS", "trans.inv", "accuracy")
SETTINGS = [part for setting in TINY for part in ("--set", setting)]


def calque(*words: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    ran = CliRunner().invoke(app, list(words))
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return ran.exit_code, ran.stdout, ran.stderr


def python(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, timeout=600
    )


def of_torch(size: int) -> RuntimeError:
    """What torch raises where that many numbers are asked for."""
    with pytest.raises(RuntimeError) as caught:
        torch.empty(size)
    return caught.value


def too_large(note: str) -> torch.OutOfMemoryError:
    """A batch that a card has no memory for, with what the training loop notes."""
    error = torch.OutOfMemoryError("CUDA")
    error.add_note(note)
    return error


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("report", "pocket", "--runs", ""), "an empty argument"),
        (("data", "plan", "--to", ""), "an empty argument"),
        (("report", "pocket", "--runs", os.fsdecode(b"a\xff")), r"b'a\xff' is not UTF-8"),
    ],
)
def test_paths_that_are_none_are_refused(words: tuple[str, ...], said: str) -> None:
    code, out, err = calque(*words)
    assert (code, out, err.count("\n")) == (2, "", 1) and said in err


def test_a_folder_of_the_environment_that_is_not_utf_8_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALQUE_DATA", os.fsdecode(b"/data\xff"))
    code, _, err = calque("report", "pocket")
    assert code == 2 and err.count("\n") == 1 and r"b'/data\xff' is not UTF-8" in err


def test_a_file_that_was_found_and_is_not_utf_8_is_one_line() -> None:
    with pytest.raises(UnicodeEncodeError) as caught:
        os.fsdecode(b"text\xff.txt").encode()
    ran = CliRunner().invoke(raising(caught.value), [])
    assert ran.exit_code == 2 and ran.stderr.count("\n") == 1 and r"b'text\xff.txt' is not UTF-8" in ran.stderr


def test_a_current_folder_that_is_not_utf_8_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff"))
    folder.mkdir()
    monkeypatch.chdir(folder)
    code, _, err = calque("report", "pocket")
    assert code == 2 and err.count("\n") == 1 and "is not UTF-8" in err


def test_show_prints_the_good_languages_and_names_every_bad_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALQUE_STANZA", raising=False)
    twice = "trans-100-function.trans-stems-50"
    code, out, err = calque("show", "Sara ate .", "inv", "klingon", "syn-romance", "trans", "vulcan", twice)
    assert code == 2
    assert "inv         ate Sara ." in out and "trans " in out
    for said in (
        "'klingon'",
        "'vulcan'",
        f"{twice} changes the script twice",
        "syn-romance needs a tree: name a folder of Stanza models",
    ):
        assert said in err
    assert all(line.startswith("calque: error: ") for line in err.splitlines())
    assert len(err.splitlines()) == 5  # a line for each of the four, and one with the names that there are


@pytest.mark.parametrize(
    ("words", "whole"),
    [("Sara ate apples trans", "Sara ate apples"), ("Sara ate trans.inv syn-fr", "Sara ate"), ("Sara trnas trans", "")],
)
def test_show_says_where_quotes_are_forgotten(words: str, whole: str) -> None:
    code, _, err = calque("show", *words.split())
    assert code == 2
    assert (f'calque show "{whole}" trans' in err) == bool(whole)
    assert calque("show", "Sara", "inv")[0] == 0  # a text of one word needs none


def test_show_draws_trees_of_pocket_english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALQUE_STANZA", raising=False)
    code, out, err = calque("show", "--pocket", "2", "syn-romance", "--runs", str(tmp_path))
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in lines if line.startswith(("source", "syn"))] == ["source", "syn-romance"] * 2
    orders = [line.split() for line in lines if line.strip() and line.split()[0].isdigit()]
    assert [sorted(order, key=int) for order in orders[1::2]] == orders[::2] != orders[1::2]


OWN = """
from dataclasses import dataclass, replace
from calque.derive.order import Invert
from calque.experiments.studies.pocket import pocket

@dataclass(frozen=True)
class Backwards(Invert):
    name = "backwards"

def own_transform():
    return pocket().changed(name="own_transform", transforms=(Backwards(),))
"""


def test_show_finds_the_transforms_of_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "own_transform.py"
    path.write_text(OWN, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for languages in (["backwards"], []):
        code, out, err = calque("show", "Sara ate .", *languages, "--study", str(path))
        assert (code, err) == (0, "")
        assert ["backwards", "ate", "Sara", "."] in [line.split() for line in out.splitlines()]


def test_show_prints_where_words_went() -> None:
    code, out, _ = calque("show", "Sara ate two apples .", "trans.inv", "inv")
    assert code == 0
    rows = [line.split() for line in out.splitlines()]
    assert rows[0] == ["1", "2", "3", "4", "5"]
    assert rows[1] == ["source", *"Sara ate two apples .".split()]
    assert ["4", "3", "2", "1", "5"] in rows
    assert ["gloss", "apples", "two", "ate", "Sara", "."] in rows
    assert ["inv", "apples", "two", "ate", "Sara", "."] in rows
    assert any(row[:1] == ["trans.inv"] and row[1] != "apples" for row in rows)


def test_studies_are_listed_with_time_and_needs() -> None:
    code, out, _ = calque("studies")
    heads = [line.split() for line in out.splitlines() if not line.startswith(" ")]
    assert code == 0 and max(map(len, out.splitlines())) <= 80
    assert [name for name, *_ in heads] == list(studies())
    assert all(rest for _, *rest in heads)
    rows = json.loads(calque("studies", "--json")[1])
    assert [row["name"] for row in rows] == list(studies())
    assert all(row["description"] and row["time"] for row in rows)
    assert all("".join(row["description"].split()) in "".join(out.split()) for row in rows)
    assert "CALQUE_DATA" in next(row["needs"] for row in rows if row["name"] == "word_alignment")


def test_plan_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = calque("plan", "pocket", "--jobs", "2", *SETTINGS)
    assert code == 0
    assert "2 models of 12 steps of 8 x 32 ids" in out
    assert "trans.inv/ALIGN-MLM/seed-0" in out
    assert list(tmp_path.iterdir()) == []


def test_run_finds_everything_done_and_prints_a_summary(done: Done) -> None:
    words = ("run", "pocket", "--runs", str(done.root), "--jobs", "1", *SETTINGS)
    code, out, err = calque(*words)
    report = out.splitlines()[-1]
    assert (code, err) == (0, "") and Path(report).is_file()
    assert max(map(len, out.splitlines()[:-1])) <= 80 and out.isascii()
    assert "pretrain " not in out
    assert calque(*words, "--quiet") == (0, f"{report}\n", "")
    outcome = json.loads(calque(*words, "--json")[1])
    assert outcome["report"] == report and outcome["claims"]
    (record,) = [r for r in done.records(done.model("MLM")) if (r.measure, r.language, r.metric) == ZS_POS]
    (score,) = [s for s in outcome["scores"] if s["objective"] == "MLM" and s.get("task") == "pos"]
    assert score["ZS"]["mean"] == record.value
    assert score["DELTA"]["mean"] == pytest.approx(score["SUP"]["mean"] - score["ZS"]["mean"])


def test_the_version_is_printed() -> None:
    assert calque("--version") == (0, f"calque {version('calque')}\n", "")


def test_the_help_the_studies_and_a_typo_need_no_torch() -> None:
    commands = [
        *([*words, "--help"] for words in ([], ["align"], ["data", "plan"], ["run"])),
        *(
            ["studies"],
            ["run", "pockt"],
            ["plan", "pocket", "--set", "trian.steps=4", "--set", "train.stepz=4", "--set", "seeds=0,x"],
        ),
    ]
    ran = python(
        "-c",
        "import sys\nfrom calque.experiments.cli import app\n"
        f"for words in {commands}:\n"
        "    try:\n        app(words)\n    except SystemExit:\n        pass\n"
        "print({'torch', 'transformers', 'matplotlib', 'scipy', 'numpy'} & sys.modules.keys())",
    )
    assert ran.returncode == 0, ran.stderr
    assert all(command in ran.stdout for command in ("show", "derive", "pretrain", "evaluate", "report", "run", "plan"))
    assert all(option in ran.stdout for option in ("--words", "--to", "--set"))
    assert ran.stdout.endswith("set()\n")
    said = ("pocket?", "train?", "steps?", "expected int, not 'x'")
    assert [word in line for word, line in zip(said, ran.stderr.splitlines(), strict=True)] == [True] * 4


def test_every_mistake_is_a_line(tmp_path: Path) -> None:
    wrong = ["seeds=x", "model.heads=3", "train.batch=0", "trian.steps=4", "objectives=BERT"]
    code, _, err = calque("plan", "pocket", *(word for setting in wrong for word in ("--set", setting)))
    lines = err.splitlines()
    assert code == 2 and len(lines) >= 5
    assert all(line.startswith("calque: error: ") for line in lines)
    for word in ("seeds=x", "heads", "batch", "did you mean train?", "no objective is called"):
        assert any(word in line for line in lines), word


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "pockt"], "no study is called 'pockt'; did you mean pocket? there are pocket, align_mlm"),
        (["plan", "pocket", "--set", "objectives=BERT"], "no objective is called 'BERT'"),
        (["show", "a b", "klingon"], "no transform is called 'klingon'"),
        (["show", "  ", "trans"], "no word in the text"),
        (["plan", "wikipedia"], "set CALQUE_DATA"),
        (["derive", "align_mlm"], ": no such file"),
        (["derive", "pocket", *ALONE, "--set", "vocabulary=60000", "--set", "source.size=50"], "60,000"),
        (["derive", "pocket", "--jobs", "1", "--set", "source.size=0"], "sentences, not 0"),
        (["derive", "pocket", "--jobs", "1", "--set", "source.language.types=10"], "a lexicon of 10 word types"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CALQUE_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    code, _, err = calque(*words)
    assert code == 2
    assert err.startswith("calque: error: ")
    assert err.count("\n") == 1
    assert said in err
    assert [path for path in tmp_path.rglob("*") if path.is_file() or ".part" in path.name] == []


def test_a_file_in_the_place_of_the_results_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("", encoding="utf-8")
    code, _, err = calque("run", "pocket", "--runs", str(tmp_path / "runs"))
    assert code == 2
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run pocket --jobs 0", "--jobs"),
        ("run pocket --jobs two", "--jobs"),
        ("run pocket --jobs", "--jobs"),
        ("run pocket --on cloud", "--on"),
        ("run pocket more", "more"),
        ("run", "EXP"),
        ("nonsense", "nonsense"),
        ("--nosuch", "--nosuch"),
        ("run pocket --nosuch", "--nosuch"),
        ("data nosuch", "nosuch"),
        ("bench stp", "step?"),
        ("align only-one --layer x", "--layer"),
        ("paper align-mlm table-3 --runs", "--runs"),
    ],
)
def test_words_that_are_no_command_are_one_line_with_the_command_for_help(words: str, said: str) -> None:
    code, out, err = calque(*words.split())
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith("calque: ") and said in err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", ""])
def test_data_on_standard_output_are_utf_8_in_every_locale(encoding: str, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("Sara aß two apples .\n", encoding="utf-8")
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": encoding}
    words = [sys.executable, "-m", "experiments", "derive", str(text), "--language", "trans.inv"]
    found = subprocess.run(words, cwd=ROOT, env=os.environ | locale, capture_output=True, timeout=600)
    assert calque(*words[3:])[1] == found.stdout.decode("utf-8") and found.stderr == b""


def test_a_name_that_the_locale_cannot_say_is_refused_with_the_locale(tmp_path: Path) -> None:
    (tmp_path / "é.txt").write_text("a b\n", encoding="utf-8")
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    found = python("-m", "experiments", "derive", str(tmp_path / "é.txt"), "--language", "inv", **locale)
    assert (found.returncode, found.stdout, found.stderr.count("\n")) == (2, "", 1)
    assert "locale" in found.stderr and "LC_ALL=C.UTF-8" in found.stderr and ".txt" in found.stderr


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (BadInput("two\nlines", "here", 3), 2, "here:3: two lines"),
        (NonFinite("a cell: step 3"), 1, "numbers that are not finite: a cell: step 3"),
        (BrokenProcessPool("a long story"), 1, "a worker process was killed"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError("models/large: too much"), 1, "not enough memory: models/large: too much"),
        (torch.cuda.OutOfMemoryError("CUDA"), 1, "the card's memory ran out: run with fewer --jobs; the same command"),
        (too_large("with --set a=b"), 1, "run with fewer --jobs, or with --set a=b; the same command"),
        (of_torch(2**48), 1, "not enough memory: "),
        (of_torch(2**62), 1, "not enough memory: "),
        (OSError(errno.ENOSPC, "No space left on device", "runs/x"), 2, "runs/x: No space left on device"),
        (PermissionError(errno.EACCES, "Permission denied", "runs/x"), 2, "runs/x: Permission denied"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "runs/x"), 2, "runs/x: No such file"),
    ],
)
def test_what_stops_a_command_is_one_line(error: BaseException, code: int, said: str) -> None:
    ran = CliRunner().invoke(raising(error), [])
    assert ran.exit_code == code
    assert ran.stderr.startswith("calque: " if code == 130 else "calque: error: ")
    assert ran.stderr.count("\n") == 1
    assert said in ran.stderr


@pytest.mark.parametrize("error", [ZeroDivisionError("a bug"), KeyError("a bug"), FileNotFoundError("a bug")])
def test_a_mistake_of_the_program_s_own_keeps_its_traceback(error: Exception) -> None:
    assert CliRunner().invoke(raising(error), []).exception is error


def test_only_of_what_resumes_is_it_said_when_it_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A study whose function is stopped while a command reads it."""
    path = tmp_path / "stopped_here.py"
    path.write_text("import os, signal\n\ndef stopped_here():\n    os.kill(os.getpid(), signal.SIGTERM)\n")
    monkeypatch.syspath_prepend(tmp_path)
    resumes = "; the same command resumes"
    for command, more in (
        *((name, resumes) for name in ("derive", "pretrain", "evaluate", "run")),
        *((name, "") for name in ("plan", "report")),
    ):
        code, out, err = calque(command, str(path))
        assert (code, out, err) == (128 + signal.SIGTERM, "", f"calque: stopped by SIGTERM{more}\n")


def raising(error: BaseException) -> typer.Typer:
    """A command line whose only command raises."""
    toy = typer.Typer(cls=Commands, invoke_without_command=True, pretty_exceptions_enable=False)

    @toy.callback()
    def command() -> None:
        raise error

    return toy


def test_what_a_worker_finds_wrong_is_one_line(tmp_path: Path) -> None:
    """Two processes count words; one meets a byte that is no text."""
    text = tmp_path / "text.txt"
    text.write_bytes(b"A sentence .\nAnother \xff one .\n")
    ran = python(
        *("-m", "experiments", "derive", "align_mlm", "--runs", str(tmp_path / "runs"), "--jobs", "2"),
        *("--set", f"source.text={text}", "--set", "source.ner=none", "--set", "source.nli=none"),
        *("--set", "tasks=pos", *(f"--set=source.pos.{split}={text}" for split in ("train", "dev", "test"))),
        *("--set", "transforms=trans"),
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"calque: error: {text}:2: byte 0xff is not UTF-8")
    assert ran.stderr.count("\n") == 1
    assert [path for path in tmp_path.rglob("*") if path.is_file() or ".part" in path.name] == [text]


def test_numbers_that_are_not_finite_are_one_line(derived: Done) -> None:
    code, _, err = calque(
        *("pretrain", "pocket", "--runs", str(derived.root), "--jobs", "1", *SETTINGS),
        *("--set", "train.learning_rate=1e38", "--set", "train.warmup=0"),
    )
    assert code == 1
    assert err.startswith(
        "calque: error: stopped before an update with numbers that are not finite: pretrain trans.inv/MLM/seed-0: "
    )
    assert err.count("\n") == 1


@pytest.fixture
def temporary() -> Iterator[str]:
    """A temporary folder whose name is short enough for sockets."""
    with TemporaryDirectory() as folder:
        yield folder


@pytest.fixture
def at_work(derived: Done, temporary: str) -> Iterator[subprocess.Popen[str]]:
    """A command whose two workers pretrain."""
    ran = subprocess.Popen(
        [
            *(sys.executable, "-m", "experiments", "pretrain", "pocket", "--runs", str(derived.root), "--jobs", "2"),
            *(*SETTINGS, "--set", "train.steps=1000000"),
        ],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "TMPDIR": temporary},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    wait_for(lambda: len(below(derived.home, "metrics.jsonl")) == 2, ran)
    yield ran
    with suppress(ProcessLookupError):
        os.killpg(ran.pid, signal.SIGKILL)


@pytest.mark.slow
def test_an_interrupt_is_one_line_and_leaves_no_process(at_work: subprocess.Popen[str]) -> None:
    os.killpg(at_work.pid, signal.SIGINT)  # as a terminal does
    _, err = at_work.communicate()  # which waits for all that hold standard error: the processes are gone
    assert at_work.returncode == 130
    assert err == "calque: interrupted; the same command resumes\n"


@pytest.mark.slow
def test_a_command_that_is_asked_to_end_leaves_no_process_and_nothing_half_written(
    at_work: subprocess.Popen[str], derived: Done, temporary: str
) -> None:
    maps = [Path(f"/proc/{process}/maps").read_text() for process in descendants(at_work.pid)]
    shared = {line.split()[5] for text in maps for line in text.splitlines() if "/dev/shm/" in line}
    assert len(maps) > 2
    at_work.send_signal(signal.SIGTERM)
    _, err = at_work.communicate()
    assert at_work.returncode == 128 + signal.SIGTERM
    assert err == "calque: stopped by SIGTERM; the same command resumes\n"
    assert not [path for path in shared if Path(path).exists()] and not list(Path(temporary).iterdir())
    assert not list(derived.home.rglob(".*"))


@pytest.mark.slow
def test_no_worker_outlives_a_command_that_was_killed(at_work: subprocess.Popen[str]) -> None:
    at_work.kill()
    at_work.communicate()
    assert at_work.returncode == -signal.SIGKILL


@pytest.mark.slow
def test_an_interrupt_while_deriving_is_no_want_of_memory(tmp_path: Path) -> None:
    """Workers that count words get the signal too, and their pool breaks: that is not told."""
    command = [sys.executable, "-m", "experiments", "derive", "pocket", "--runs", str(tmp_path), "--jobs", "2"]
    for wait in (0.0, 0.3):
        ran = subprocess.Popen(
            [*command, "--set", "source.size=400000"],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        wait_for(lambda: below(tmp_path, "*.part"), ran)
        time.sleep(wait)
        os.killpg(ran.pid, signal.SIGINT)
        _, err = ran.communicate()
        assert (ran.returncode, err) == (130, "calque: interrupted; the same command resumes\n")
        assert not list(tmp_path.rglob("*.part"))


def test_derive_names_its_folder_and_counts_its_languages(tmp_path: Path) -> None:
    code, out, err = calque("derive", "pocket", "--runs", str(tmp_path), "--jobs", "1", *SETTINGS)
    (folder,) = tmp_path.glob("pocket/languages-*")
    assert code == 0 and str(folder) in out, err
    assert all(f"{name}: " in out for name in json.loads((folder / "manifest.json").read_text())["languages"])


@pytest.mark.parametrize("make", [lambda path: path.write_text(""), lambda path: path.symlink_to("elsewhere")])
def test_what_is_no_folder_where_one_is_expected_is_one_line(
    make: Callable[[Path], object], tiny: Study, tmp_path: Path
) -> None:
    languages = Done(tmp_path, tiny).data
    for path in (languages, languages.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        make(path)
        code, _, err = calque("derive", "pocket", "--runs", str(tmp_path), "--jobs", "1", *SETTINGS)
        assert (code, err.count("\n")) == (2, 1), err
        path.unlink()
        shutil.rmtree(languages.parent, ignore_errors=True)


def test_a_path_that_no_system_takes_is_one_line(tmp_path: Path) -> None:
    code, _, err = calque("derive", "pocket", "--runs", str(tmp_path / ("x" * 300)), "--jobs", "1", *SETTINGS)
    assert (code, err.count("\n")) == (2, 1), err
    assert "File name too long" in err


def test_an_environment_that_torchrun_did_not_make_is_one_line(monkeypatch: pytest.MonkeyPatch, derived: Done) -> None:
    monkeypatch.setenv("RANK", "abc")
    code, _, err = calque("pretrain", "pocket", "--runs", str(derived.root), "--jobs", "1", *SETTINGS)
    assert (code, err.count("\n"), "RANK='abc'" in err) == (2, 1, True), err


def test_a_report_of_nothing_computes_nothing(tmp_path: Path) -> None:
    code, _, err = calque("report", "pocket", "--runs", str(tmp_path), *SETTINGS)
    assert code == 2
    assert "not computed yet: languages, " in err and "`calque run` does it" in err
    assert list(tmp_path.iterdir()) == []
