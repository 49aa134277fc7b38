import errno
import os
import signal
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch
import typer
from typer.testing import CliRunner

from calque.analysis.report.table import percent
from calque.derive.errors import BadInput
from calque.experiments.cli import Commands
from calque.pretrain.train import NonFinite
from tests.experiments.conftest import ROOT, SETTINGS, calque, sets, started
from tests.processes import below, descendants, wait_for

ZS_POS = ("ZS", "trans.inv", "accuracy")


def python(*words, **environment):
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True)


def test_show_prints_languages_and_names_an_invalid_one(monkeypatch):
    monkeypatch.delenv("CALQUE_STANZA", raising=False)
    code, out, _ = calque("show", "Sara ate .", "inv", "trans")
    assert code == 0 and "inv         ate Sara ." in out and "trans " in out
    twice = "trans-50.trans"
    for name, said in (
        ("klingon", "'klingon'"),
        (twice, f"{twice} changes the script twice"),
        ("syn-romance", "syn-romance needs parsed sentences; use --parser"),
    ):
        code, _, err = calque("show", "Sara ate .", "inv", name)
        assert code == 2 and said in err and len(err.splitlines()) == 1


def test_plan_runs_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = calque("plan", "pocket", "--jobs", "2", *SETTINGS)
    assert code == 0
    (row,) = [line.split() for line in out.splitlines() if line.endswith("trans.inv/ALIGN-MLM")]
    assert row[:2] == ["1", "12"] and max(map(len, out.splitlines())) <= 80
    assert list(tmp_path.iterdir()) == []


def test_finished_run_prints_a_summary(done):
    words = ("run", "pocket", "--runs", done.root, "--jobs", "1", *SETTINGS)
    code, out, err = calque(*words)
    report = out.splitlines()[-1]
    assert (code, err) == (0, "") and Path(report).is_file()
    assert max(map(len, out.splitlines()[:-1])) <= 80
    assert "pretrain " not in out
    (record,) = [r for r in done.records(done.model("MLM")) if (r.measure, r.language, r.metric) == ZS_POS]
    assert any(line.startswith("MLM ") and percent(record.value) in line for line in out.splitlines())


def test_light_commands_do_not_import_torch():
    commands = [
        *([*words, "--help"] for words in ([], ["align"], ["data", "plan"], ["run"])),
        ["studies"],
        ["run", "pockt"],
        ["plan", "pocket", "--set", "trian.steps=4", "--set", "train.stepz=4", "--set", "seeds=0,x"],
    ]
    ran = python(
        "-c",
        "import sys\nfrom calque.experiments.cli import app\n"
        f"for words in {commands}:\n"
        "    print({'numpy'} & sys.modules.keys())\n"
        "    try:\n        app(words)\n    except SystemExit:\n        pass\n"
        "print({'torch', 'transformers', 'matplotlib', 'scipy'} & sys.modules.keys())",
    )
    assert ran.returncode == 0 and "{'numpy'}" not in ran.stdout and ran.stdout.endswith("set()\n"), (
        ran.stderr
    )
    assert all(option in ran.stdout for option in ("--layer", "--to", "--set"))
    said = ("pocket?", "train?", "steps?", "not 'x'")
    assert [word in line for word, line in zip(said, ran.stderr.splitlines(), strict=True)] == [True] * 4


WRONG = {
    "run pocket --jobs 0": "--jobs",
    "run pocket --jobs two": "--jobs",
    "run pocket --jobs": "--jobs",
    "run pocket --on cloud": "--on",
    "run pocket more": "more",
    "run pocket --nosuch": "--nosuch",
    "run pocket --dry-run": "--dry-run",
    "run": "STUDY",
    "nonsens": "nonsens",
    "pln": "Did you mean 'plan'?",
    "--nosuch": "--nosuch",
    "data nosuch": "nosuch",
    "data plan --nosuch": "--nosuch",
    "paper align-mlm table-3 --runs": "--runs",
    "run wikipedia": "data/wikipedia",
    "plan xtreme_small": "CALQUE_ENCODER",
    "show text klingon": "'klingon'",
    "show": "quotes",
    "show Sara ate trans": "in quotes",
    "show text syn-ko": "'ko'",
    "show text syn-romance": "needs parsed sentences",
    "show text syn-romance --parser none": "none",
    "derive align_mlm": "no such file",
    "derive pocket --jobs 1 --set vocabulary=60000 --set source.size=50 --set transforms=trans": "60,000",
    "derive file": "--language",
    f"derive {ROOT}/calque/derive/everyday/ewt-dev.conllup.xz --language trans": "is a treebank",
    "run pocket --runs file": "file",
    "report pocket --runs elsewhere": "calque run",
    "report missing/folder": "contains no records",
    "look nowhere": "nowhere",
    "aer file file --source file": "--target",
    "train-aligner file --model m --out out": "expected pairs of files",
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_commands_are_one_line_and_leave_nothing(words, tmp_path, monkeypatch):
    for name in ("CALQUE_DATA", "CALQUE_ENCODER", "CALQUE_STANZA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    code, _, err = calque(*words.split())
    assert (code, err.count("\n")) == (2, 1), err
    assert err.startswith("calque: error: ") and WRONG[words] in err
    files = {path.name for path in tmp_path.rglob("*") if path.is_file() or ".part" in path.name}
    assert files - {"uses.json"} == {"file"}


def test_output_is_utf_8_in_every_locale(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("Sara aß two apples .\n")
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    words = ["-m", "calque", "derive", str(text), "--language", "trans.inv"]
    found = python(*words, **locale)
    assert calque(*words[2:])[1] == found.stdout and found.stderr == ""
    named = python(*words[:3], str(tmp_path / "é.txt"), **locale)
    assert (named.returncode, named.stdout, named.stderr.count("\n")) == (2, "", 1)
    assert "LC_ALL=C.UTF-8" in named.stderr


def of_torch():
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**48)
    return caught.value


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (BadInput("two\nlines", "here", 3), 2, "here:3: two lines"),
        (NonFinite("a cell: step 3"), 1, "a cell: step 3"),
        (BrokenProcessPool("a long story"), 1, "a worker process was killed"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (MemoryError("models/large: too much"), 1, "models/large: too much"),
        (torch.cuda.OutOfMemoryError("CUDA"), 1, "--jobs"),
        (of_torch(), 1, "not enough memory"),
        (OSError(errno.ENOSPC, "No space left on device", "runs/x"), 2, "runs/x: No space left on device"),
        (PermissionError(errno.EACCES, "Permission denied", "runs/x"), 2, "runs/x: Permission denied"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "runs/x"), 2, "runs/x: No such file"),
    ],
)
def test_errors_are_one_line(error, code, said):
    ran = CliRunner().invoke(raising(error), [])
    assert (ran.exit_code, ran.stderr.count("\n"), said in ran.stderr) == (code, 1, True)


def raising(error):
    toy = typer.Typer(cls=Commands, invoke_without_command=True, pretty_exceptions_enable=False)

    @toy.callback()
    def command():
        raise error

    return toy


@pytest.fixture
def temporary():
    with TemporaryDirectory() as folder:
        yield folder


@pytest.fixture
def at_work(derived, temporary):
    settings = [*SETTINGS, *sets("train.steps=1000000")]
    words = ["run", "pocket", "--runs", derived.root, "--jobs", "2", *settings]
    with started(*words, TMPDIR=temporary) as running:
        wait_for(lambda: len(below(derived.home, "metrics.jsonl")) == 2, running)
        yield running


@pytest.mark.slow
def test_interrupt_is_one_line_and_leaves_no_process(at_work):
    os.killpg(at_work.pid, signal.SIGINT)  # as a terminal does
    _, err = at_work.communicate()  # it waits until no process holds standard error
    assert at_work.returncode == 130
    assert err == "calque: interrupted; rerun the command to resume\n"


@pytest.mark.slow
def test_sigterm_leaves_no_process_and_no_partial_file(at_work, derived, temporary):
    maps = [Path(f"/proc/{process}/maps").read_text() for process in descendants(at_work.pid)]
    shared = {line.split()[5] for text in maps for line in text.splitlines() if "/dev/shm/" in line}
    assert len(maps) > 2
    at_work.send_signal(signal.SIGTERM)
    _, err = at_work.communicate()
    assert at_work.returncode == 128 + signal.SIGTERM
    assert err == "calque: stopped by SIGTERM; rerun the command to resume\n"
    assert not [path for path in shared if Path(path).exists()] and not list(Path(temporary).iterdir())
    assert not list(derived.home.rglob(".*"))
