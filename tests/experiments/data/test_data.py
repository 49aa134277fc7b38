import hashlib
import io
import os
import signal
import subprocess
import sys
import tarfile
import zipfile
from functools import partial
from pathlib import Path

import pytest

from calque.derive.errors import BadInput
from calque.derive.files import claimed
from calque.derive.transforms import transform
from calque.experiments.data import fetch as downloading
from calque.experiments.data import recipe as recipes
from calque.experiments.data.fetch import download, state, unpack
from calque.experiments.data.recipe import File, Recipe, names, read_recipe
from tests.experiments.conftest import ROOT, calque
from tests.experiments.data import site as served
from tests.experiments.data.site import serving
from tests.processes import below, wait_for

CONTENT = bytes(range(256)) * 4_000  # larger than a socket's buffer, so that transfers break in the middle
SIZE = len(CONTENT)
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def site(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "CALQUE_DATA"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with serving() as made:
        yield made


# Recipes


@pytest.mark.parametrize("name", names())
def test_recipes_state_digests_and_members(name):
    files = read_recipe(name).files
    assert len({file.place for file in files}) == len(files)
    for file in files:
        is_archive = not file.unpacked and file.url.endswith((".zip", ".tar.gz", ".tgz"))
        assert bool(file.inside) == is_archive
        assert "{" not in f"{file}"
    # Their addresses change, or have not been measured.
    assert read_recipe(name).pinned or name in ("xlm_align", "manythings", "xlm_r_base", "cc_100")


def test_real_files_are_those_that_recipes_describe(calque_data):
    for name in ("gold_alignments", "xquad", "lingnli", "multi30k"):
        assert {state(calque_data, file) for file in read_recipe(name).files} == {"there"}, name


# Downloads


def pinned(url, digest=DIGEST):
    return File(url, url.rpartition("/")[2], sha256=digest)


def fetched(one, folder, times=1):
    """Return what the last of several attempts fetched."""
    folder.mkdir(exist_ok=True)
    for _ in range(times - 1):
        with pytest.raises(BadInput, match="run the command again"):
            download(one, folder / "part", lambda *_: None)
    return download(one, folder / "part", lambda *_: None).read_bytes()


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        (
            [served.sends(3 * 10**5), served.sends(2 * 10**5), served.whole],
            ["", "bytes=300000-", "bytes=500000-"],
        ),
        ([served.sends(0), served.sends(1), served.whole], ["", "", "bytes=1-"]),
        ([served.sends(400_000), served.ignores_range], ["", "bytes=400000-"]),
        ([served.status(500), served.status(503), served.whole], ["", "", ""]),
        ([served.status(302, Location="/here")], [""]),
    ],
)
def test_interrupted_downloads_are_continued(answers, asked, site, tmp_path):
    site.serve("/here", CONTENT)
    one = pinned(site.serve("/f", CONTENT, *answers))
    assert fetched(one, tmp_path / "work", len(answers)) == CONTENT
    assert asked == site.ranges("/f")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (served.status(404), "404"),
        (served.status(500), "500"),
        (served.without_length, "states no length"),
        (served.other_bytes, f"expected SHA-256 {DIGEST}"),
        (served.status(302, Location="/f"), "30 redirects"),
        (served.hangs(5), "timed out"),
    ],
)
def test_failed_downloads_give_a_reason(answer, said, site, tmp_path, monkeypatch):
    if said == "timed out":
        monkeypatch.setattr(downloading, "TIMEOUT", 0.3)
    url = site.serve("/f", CONTENT, answer)
    with pytest.raises(BadInput, match=said) as refused:
        fetched(pinned(url), tmp_path)
    assert str(refused.value).startswith(url)


def test_progress_ends_once_if_no_length_is_known(site, tmp_path):
    site.serve("/x?token=1", CONTENT, served.in_pieces)
    reports, url = [], site.serve("/f", CONTENT, served.status(302, Location="/x?token=1"))
    download(File(url, "f"), tmp_path / "part", lambda *report: reports.append(report))
    assert [done for _, done, of in reports if done == of] == [SIZE] and len(reports) > 2
    assert {title for title, *_ in reports} == {"fetching f"}


# Archives

TABLE = b"language\tlabel\nen\tyes\nde\tno\n"


def zipped(members):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


def tarred(members, mode="w:gz"):
    """A tar file; content of type str is the target of a symbolic link."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            if isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
                archive.addfile(info)
            else:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


def unpacked(folder, content, name, inside, where=""):
    (folder / name).write_bytes(content)
    return unpack(folder / name, File(name, "", inside, where)).read_bytes()


@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tgz"])
def test_members_are_unpacked(name, tmp_path):
    members = {"a/b": b"one", "c.tgz": tarred({"t": TABLE})}
    content = zipped(members) if name == "x.zip" else tarred(members, "w" if name == "x.tar" else "w:gz")
    folder = tmp_path / "inner"
    folder.mkdir()
    assert unpacked(folder, content, name, "a/b") == b"one"
    assert unpacked(folder, content, name, "c.tgz > t", "language=en") == b"language\tlabel\nen\tyes\n"
    assert unpacked(folder, content, name, "c.tgz > t", "label=no") == b"language\tlabel\nde\tno\n"
    with pytest.raises(BadInput, match="'tongue' is not in list"):
        unpacked(folder, content, name, "c.tgz > t", "tongue=en")
    assert [path.name for path in tmp_path.iterdir()] == ["inner"]


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (zipped({"xx": b"1"}), "x.zip", "no file 'x'"),
        (tarred({"x": "/etc/passwd"}), "x.tgz", "absolute path"),
        (tarred({"../x": b"1"}), "x.tgz", "outside the destination"),
        (zipped({"../x": b"1"}), "x.zip", "no file 'x'"),
        (b"no archive", "x.zip", "damaged"),
        (b"no archive", "x.tar", "damaged"),
        (tarred({"x": os.urandom(20_000)})[:-9_000], "x.tgz", "damaged"),
        (zipped({"x": b"1"}), "x.rar", "damaged"),
    ],
)
def test_missing_members_links_and_damage_are_rejected(content, name, said, tmp_path):
    with pytest.raises(BadInput, match=said) as refused:
        unpacked(tmp_path, content, name, "x")
    assert str(refused.value).startswith(name)


# The data folder


def fetch(folder, *files):
    return downloading.fetch(Recipe("test", "A test", "L", "https://x", files), folder, lambda *_: None)


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files if path.stat().st_size}


# The commands


@pytest.fixture
def mine(site, monkeypatch):
    files = [{"url": site.serve("/f", CONTENT), "place": "sub/f", "sha256": DIGEST}]
    files += [{"url": site.serve("/g", b"g"), "place": "g"}]
    about = {"about": "A", "licence": "L", "terms": "https://x.org/l"}
    other = {"url": site.serve("/h", CONTENT), "place": "h", "sha256": DIGEST}
    tables = {"mine": {**about, "file": files}, "other": {**about, **other}}
    monkeypatch.setattr(recipes, "_tables", lambda: tables)
    read_recipe.cache_clear()
    return "mine"


def test_plan_and_fetch(mine, site, tmp_path):
    to = tmp_path / "data"
    code, out, err = calque("data", "plan", mine, "--to", to)
    assert (code, err, site.asked, to.exists()) == (0, "", [], False)
    row = next(line.split() for line in out.splitlines() if line.endswith("sub/f"))
    assert row == ["missing", "sub/f"] and "mine --trust\n" in out
    code, _, err = calque("data", "fetch", mine, "other", "--to", to)
    assert (code, err.count("\n"), contents(to)) == (2, 1, {"sub/f": CONTENT, "h": CONTENT})
    assert "--trust" in err
    code, out, err = calque("data", "fetch", mine, "--to", to, "--trust")
    assert (code, err, (to / "g").read_bytes()) == (0, "", b"g")
    assert out.endswith(f"export CALQUE_DATA={to}\n")
    (to / "sub" / "f").write_bytes(CONTENT[::-1])
    lines = calque("data", "plan", mine, "--to", to)[1].splitlines()
    assert ["altered", "sub/f"] in [line.split() for line in lines]
    assert "mine" in calque("data", "plan", "--to", to)[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("plan xnil", "did you mean xnli"),
        ("fetch xnli --to file", "file: cannot create"),
        ("fetch xnli --to file/data", "file/data"),
        ("fetch xnli --to /proc/none/data", "/proc/none"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    code, _, err = calque("data", *words.split())
    assert (code, err.count("\n"), said in err) == (2, 1, True), err
    assert {path.name for path in tmp_path.rglob("*")} == {"file"}


FETCH = """
from pathlib import Path
from tests.experiments.data.test_data import fetch, pinned
fetch(Path({to!r}), pinned({url!r}))
"""


@pytest.mark.slow
def test_killed_fetch_resumes(site, tmp_path):
    url = site.serve("/f", CONTENT, served.hangs(300_000), served.whole)
    command = [sys.executable, "-c", FETCH.format(to=str(tmp_path), url=url)]
    with subprocess.Popen(command, cwd=ROOT) as process:
        parts = partial(below, tmp_path, f".fetching-{'?' * 16}")
        wait_for(lambda: sum(path.stat().st_size for path in parts()) >= 300_000, process)
        process.send_signal(signal.SIGKILL)
    assert not (tmp_path / "f").exists()
    assert fetch(tmp_path, pinned(url)) == ["f"]
    assert site.ranges("/f") == ["", "bytes=300000-"] and (tmp_path / "f").read_bytes() == CONTENT


def test_altered_file_is_not_overwritten(site, tmp_path):
    one = pinned(site.serve("/f", b"file"), hashlib.sha256(b"file").hexdigest())
    (tmp_path / "f").write_bytes(b"mine")
    with pytest.raises(BadInput, match="f: differs from the recipe"):
        fetch(tmp_path, one)
    (tmp_path / "f").unlink()
    name = f".fetching-{hashlib.sha256(one.url.encode()).hexdigest()[:16]}"
    with claimed(tmp_path / name), pytest.raises(BadInput, match="another process"):
        fetch(tmp_path, one)
    assert fetch(tmp_path, one) == ["f"]


def test_lexicons_are_inputs(monkeypatch):
    monkeypatch.setenv("CALQUE_DATA", "folder")
    assert recipes.inputs([transform("trans.lex-fr")]) == [Path("folder/lexicons/en-fr.tsv")]
