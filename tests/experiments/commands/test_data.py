"""`calque data`: its tables, what it refuses, and that what is killed resumes."""

import hashlib
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from calque.experiments.cli import app
from calque.experiments.data.download import TIMEOUT
from calque.experiments.data.recipe import LOCK, recipes_of
from tests.experiments.data import site as served
from tests.experiments.data.site import Site, serving
from tests.processes import below, wait_for

ROOT = Path(__file__).parents[3]
CONTENT = bytes(range(256)) * 4_000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("CALQUE_DATA", raising=False)
    with serving() as made:
        yield made


def data(*words: str | Path) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `calque data`."""
    ran = CliRunner().invoke(app, ["data", *map(str, words)])
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return ran.exit_code, ran.stdout, ran.stderr


def recipe(folder: Path, url: str, *more: str) -> Path:
    """A recipe with a file at `sub/f`, which is `CONTENT`, and what `more` says."""
    path = folder / "mine.toml"
    text = f'about = "Mine"\nlicence = "free"\nterms = "https://x.org/l"\n[[file]]\nurl = "{url}"\nplace = "sub/f"\n'
    stated = f'source = "this test"\nbytes = {len(CONTENT)}\nsha256 = "{DIGEST}"\n'
    path.write_text(text + stated + "\n".join(more), encoding="utf-8")
    return path


def process(*words: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "experiments", "data", *map(str, words)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_plan_asks_no_network_and_writes_nothing(site: Site, tmp_path: Path) -> None:
    to = tmp_path / "data"
    mine = recipe(tmp_path, site.serve("/f", CONTENT))
    code, out, err = data("plan", mine, "--to", to)
    assert (code, err, site.asked, to.exists()) == (0, "", [], False)
    row = next(line.split() for line in out.splitlines() if line.endswith("sub/f"))
    assert row == ["missing", f"{len(CONTENT):,}", "stated", "free", "sub/f"]
    assert f"to fetch: 1 download, {len(CONTENT):,} bytes; `calque data fetch mine`" in out
    assert "free: https://x.org/l" in out
    (to / "sub").mkdir(parents=True)
    (to / "sub" / "f").write_bytes(CONTENT)
    assert "1 there below" in data("plan", mine, "--to", to)[1]
    (to / "sub" / "f").write_bytes(CONTENT[::-1])
    assert f"altered: {to / 'sub' / 'f'}" in data("plan", mine, "--to", to)[1]


def test_plan_lists_all_recipes(tmp_path: Path) -> None:
    code, out, _ = data("plan", "--to", tmp_path)
    assert code == 0
    listed = {line.split()[0]: line for line in out.splitlines()}
    assert {"ud", "panx", "xnli", "wikitext_103", "word_alignment"} <= listed.keys()
    assert all(re.fullmatch(r"\S+ +\d+ missing +\S.*", line) for line in listed.values())


def test_plan_says_what_is_an_estimate_and_what_has_no_digest(tmp_path: Path) -> None:
    more = ['[[file]]\nurl = "https://x.org/g"\nplace = "g"\nsource = "Table 8"\nabout_bytes = 1000']
    more += ['[[file]]\nurl = "https://x.org/h"\nplace = "h"\nsource = "none"\nnote = "of 1999"']
    out = data("plan", recipe(tmp_path, "https://x.org/f", *more), "--to", tmp_path)[1]
    assert [line.split()[1:4] for line in out.splitlines() if line.endswith(" g")] == [["about", "1,000", "none"]]
    assert f"{len(CONTENT):,} bytes, about 1,000 more (estimates of 1), 1 of unknown size;" in out
    assert "; `calque data fetch mine --trust`" in out
    assert "h: of 1999" in out.splitlines()
    assert "to fetch: 2 downloads, 2 of unknown size; `calque data fetch manythings --trust`" in (
        data("plan", "manythings", "--to", tmp_path)[1].splitlines()
    )
    assert "without a stated digest: 2; only `--trust` fetches them" in out


def test_fetch_puts_files_in_place_and_says_where(site: Site, tmp_path: Path) -> None:
    more = [f'[[file]]\nurl = "{site.serve("/g", b"other")}"\nplace = "g"\nsource = "none"']
    mine, to = recipe(tmp_path, site.serve("/f", CONTENT), *more), tmp_path / "data"
    code, out, err = data("fetch", mine, "--to", to)
    assert (code, (to / "sub" / "f").read_bytes()) == (2, CONTENT)
    assert "mine: 1 files put below" in out
    assert err.startswith("calque: error: 1 not fetched, since nobody states their digests: ") and err.count("\n") == 1
    code, out, err = data("fetch", mine, "--to", to, "--trust")
    assert (code, err, (to / "g").read_bytes()) == (0, "", b"other")
    assert out.endswith(f"export CALQUE_DATA={to}\n")
    assert {path.name for path in to.iterdir()} == {"sub", "g", LOCK}


def test_a_download_that_fails_is_one_line(site: Site, tmp_path: Path) -> None:
    code, _, err = data("fetch", recipe(tmp_path, f"{site.address}/gone"), "--to", tmp_path / "data")
    assert (code, err) == (2, f"calque: error: {site.address}/gone: its server answers 404 (Not Found)\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plan", "xnil"], "no recipe is called 'xnil'; did you mean xnli?"),
        (["fetch", "no.toml"], "no.toml: there is no such file; expected a recipe"),
        (["fetch", "damaged.toml"], "damaged.toml: cannot be read as TOML"),
        (["fetch", "mine.toml", "--to", "file"], "file: is a file; expected the data folder"),
        (["fetch", "mine.toml", "--to", "file/data"], "file/data"),
        (["fetch", "mine.toml", "--to", "/proc/none/data"], "/proc/none"),
        (["plan", "mine.toml", "--to", "file"], "file: is a file; expected the data folder"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    words: list[str], said: str, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("damaged.toml").write_text("about = ", encoding="utf-8")
    Path("file").write_text("", encoding="utf-8")
    recipe(tmp_path, site.serve("/f", CONTENT))
    code, _, err = data(*words)
    assert (code, err.count("\n"), err.startswith("calque: error: "), said in err) == (2, 1, True, True), err
    assert {path.name for path in tmp_path.rglob("*")} == {"damaged.toml", "file", "mine.toml"}
    assert site.asked == []


def test_a_fetch_that_was_killed_resumes(site: Site, tmp_path: Path) -> None:
    """Killed, and the second time interrupted, in the middle of a file; the third fetch asks for the rest."""
    url = site.serve("/f", CONTENT, served.hangs(300_000), served.hangs(300_000), served.whole)
    mine, to = recipe(tmp_path, url), tmp_path / "data"
    for number, kill in enumerate((signal.SIGKILL, signal.SIGINT)):
        ran = process("fetch", mine, "--to", to)
        wait_for(lambda number=number: len(site.asked) > number and size(to) >= 300_000, ran)  # type: ignore[misc]
        ran.send_signal(kill)
        began = time.monotonic()
        _, err = ran.communicate()
        assert time.monotonic() - began < TIMEOUT  # it does not wait until the server counts as silent
        assert not (to / "sub").exists()
    assert (ran.returncode, err) == (
        130,
        "calque: interrupted; what has come is kept, and the same command resumes\n",
    )
    ran = process("fetch", mine, "--to", to)
    out, err = ran.communicate()
    assert (ran.returncode, err, (to / "sub" / "f").read_bytes()) == (0, "", CONTENT)
    assert site.ranges("/f")[0] == "" and site.ranges("/f")[2] == "bytes=300000-"
    assert re.search(r"fetching sub/f: \d+\.\d s", out)  # a line without a terminal
    assert {path.name for path in to.iterdir()} == {"sub", LOCK}


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in below(folder, "part"))


def test_a_full_disk_is_one_line(site: Site, tmp_path: Path) -> None:
    """A limit of the size of files stands in for it: writing fails in the middle."""
    mine, to = recipe(tmp_path, site.serve("/f", CONTENT)), tmp_path / "data"
    ran = subprocess.run(
        [sys.executable, "-m", "experiments", "data", "fetch", mine, "--to", to],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)),
    )
    assert ran.returncode == 2, ran.stderr
    assert ran.stderr.startswith(f"calque: error: {to}") and ran.stderr.count("\n") == 1
    assert "File too large; nothing is left half-written" in ran.stderr
    assert not (to / "sub").exists()


def test_a_study_whose_file_is_missing_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALQUE_DATA", str(tmp_path))
    ran = CliRunner().invoke(app, ["derive", "align_mlm", "--runs", str(tmp_path / "runs")])
    assert (ran.exit_code, ran.stderr.count("\n")) == (2, 1)
    told = re.fullmatch(r"calque: error: (.*): no such file; `calque data fetch (\w+)` gets it\n", ran.stderr)
    assert told and told[2] == recipes_of(Path(told[1]))[0]
    monkeypatch.delenv("CALQUE_DATA")
    for study in ("word_alignment", "wikipedia"):
        ran = CliRunner().invoke(app, ["plan", study])
        assert (ran.exit_code, f"`calque data fetch {study}` fetches" in ran.stderr) == (2, True)
