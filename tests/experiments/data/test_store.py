"""The data folder: what is there of a recipe, and fetching the rest: everything in its place, or a reason."""

import gzip
import hashlib
import os
import shutil
import threading
from pathlib import Path

import pytest

from calque.derive.errors import BadInput
from calque.derive.files import claimed
from calque.experiments.data.download import PART
from calque.experiments.data.recipe import LOCK, Download, Output, Recipe
from calque.experiments.data.store import Fetched, Placed, State, Store
from tests.experiments.data import site as served
from tests.experiments.data.archives import zipped
from tests.experiments.data.site import Site

TEXT = b"some text\n"
DIGEST = hashlib.sha256(TEXT).hexdigest()
DOWNLOAD = Download("https://x.org/f", (Output("a"),), "none", "https://x.org", "this test")


@pytest.mark.parametrize(
    ("output", "state"),
    [
        (Output("a"), State.UNKNOWN),
        (Output("a", bytes=len(TEXT)), State.UNKNOWN),
        (Output("a", bytes=len(TEXT) + 1), State.ALTERED),
        (Output("a", sha256=DIGEST), State.THERE),
        (Output("a", bytes=len(TEXT), sha256=DIGEST), State.THERE),
        (Output("a", sha256=DIGEST[::-1]), State.ALTERED),
        (Output("b"), State.MISSING),
        (Output("a/b"), State.MISSING),
        (Output("folder"), State.ALTERED),
        (Output("folder/a"), State.MISSING),
    ],
)
def test_a_file_is_held_against_the_recipe(output: Output, state: State, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(TEXT)
    (tmp_path / "folder").mkdir()
    assert Store(tmp_path).state(output) is state


def test_a_file_is_held_against_the_lock_file(tmp_path: Path) -> None:
    path, output = tmp_path / "a", Output("a")
    path.write_bytes(TEXT)
    Store(tmp_path).remember(DOWNLOAD, DIGEST, {"a": Placed.of(path)})
    assert Store(tmp_path).state(output) is State.THERE
    assert Store(tmp_path).seen(DOWNLOAD) == DIGEST
    path.touch()  # another time, the same bytes
    assert Store(tmp_path).state(output) is State.THERE
    path.write_bytes(TEXT.upper())
    assert Store(tmp_path).state(output) is State.ALTERED
    assert Store(tmp_path).state(Output("a", sha256=hashlib.sha256(TEXT.upper()).hexdigest())) is State.THERE
    path.unlink()
    assert Store(tmp_path).state(output) is State.MISSING


def test_size_and_time_stand_for_a_digest_that_was_seen(tmp_path: Path) -> None:
    """A file is not read again while they stay; another digest in the recipe is believed over that."""
    path = tmp_path / "a"
    path.write_bytes(TEXT)
    known = Placed.of(path)
    Store(tmp_path).remember(DOWNLOAD, DIGEST, {"a": known})
    path.write_bytes(TEXT.upper())
    os.utime(path, ns=(known.changed, known.changed))
    assert Store(tmp_path).state(Output("a")) is State.THERE
    assert Store(tmp_path).state(Output("a", sha256=DIGEST[::-1])) is State.ALTERED


def test_a_damaged_lock_file_is_refused(tmp_path: Path) -> None:
    Store(tmp_path).remember(DOWNLOAD, DIGEST, {})
    text = (tmp_path / LOCK).read_text(encoding="utf-8")
    for damaged in (text.replace(DIGEST, DIGEST[::-1]), text[:-5], "{}\n"):
        (tmp_path / LOCK).write_text(damaged, encoding="utf-8")
        with pytest.raises(BadInput, match=LOCK):
            Store(tmp_path)


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("", encoding="utf-8")
    with pytest.raises(BadInput, match="is a file; expected the data folder"):
        Store(tmp_path / "data")


TABLE = b"language\ttext\nen\tone\nfr\tun\n"
ZIP = zipped({"t.tsv": TABLE, "x": b"x"})


def sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def download(url: str, content: bytes | None, *outputs: Output) -> Download:
    """One whose size and digest are those of the content, or unknown."""
    size, known = (0, "") if content is None else (len(content), sha256_of(content))
    outputs = outputs or (Output(url.rpartition("/")[2], bytes=size, sha256=known),)
    return Download(url, outputs, "none", "https://x.org", "this test", bytes=size, sha256=known)


def fetched(folder: Path, *downloads: Download, trust: bool = False) -> Fetched:
    recipe = Recipe("test", "A test", downloads)
    return Store(folder).fetch(recipe, lambda *_: None, trust=trust)


def contents(folder: Path) -> dict[str, bytes]:
    """What lies below a folder, but for the lock file."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != LOCK
    }


def test_files_members_and_rows_come_to_their_places(site: Site, tmp_path: Path) -> None:
    files = [
        download(site.serve(f"/f{number}", bytes([number]) * 5_000), bytes([number]) * 5_000) for number in range(5)
    ]
    members = download(
        site.serve("/z.zip", ZIP),
        ZIP,
        Output("t/en.tsv", ("t.tsv",), where={"language": "en"}),
        Output("t/fr.tsv", ("t.tsv",), where={"language": "fr"}),
        Output("x", ("x",), sha256=sha256_of(b"x"), bytes=1),
    )
    packed = gzip.compress(b"packed")
    single = download(site.serve("/p.gz", packed), packed, Output("p", decompress=True))
    done = fetched(tmp_path, *files, members, single)
    assert not done.failed
    assert contents(tmp_path) == {
        **{f"f{number}": bytes([number]) * 5_000 for number in range(5)},
        "t/en.tsv": b"language\ttext\nen\tone\n",
        "t/fr.tsv": b"language\ttext\nfr\tun\n",
        "x": b"x",
        "p": b"packed",
    }
    assert sorted(done.placed) == sorted(contents(tmp_path))
    site.asked.clear()
    assert fetched(tmp_path, *files, members, single).placed == []
    assert site.asked == []
    (tmp_path / "t" / "en.tsv").unlink()
    assert fetched(tmp_path, *files, members, single).placed == ["t/en.tsv"]
    assert [path for path, _ in site.asked] == ["/z.zip"]


def test_one_that_fails_stops_no_other_and_leaves_nothing(site: Site, tmp_path: Path) -> None:
    good = download(site.serve("/good", b"good"), b"good")
    other = download(site.serve("/other", b"other", served.other_bytes), b"other")
    gone = download(f"{site.address}/gone", b"gone")
    wrong = download(site.serve("/z.zip", ZIP), ZIP, Output("y", ("y",)), Output("x2", ("x",)))
    unlike = download(site.serve("/y.zip", ZIP), ZIP, Output("x3", ("x",), sha256=sha256_of(b"y"), bytes=1))
    longer = download(site.serve("/w.zip", ZIP), ZIP, Output("x4", ("x",), bytes=2))
    done = fetched(tmp_path, good, other, gone, wrong, unlike, longer)
    assert done.placed == ["good"]
    assert len(done.failed) == 5
    for said in ("the recipe names", "answers 404", "no member 'y'", "x3: another file", "x4: 1 bytes"):
        assert sum(said in one for one in done.failed) == 1, said
    assert contents(tmp_path) == {"good": b"good"}


def test_what_breaks_off_resumes_with_the_next_fetch(site: Site, tmp_path: Path) -> None:
    content = os.urandom(100_000)
    answers = served.breaks(30_000), *4 * (served.breaks(0),), served.whole
    one = download(site.serve("/f", content, *answers), content)
    assert "after 30,000 bytes" in fetched(tmp_path, one).failed[0]
    assert not (tmp_path / "f").exists()
    assert fetched(tmp_path, one).placed == ["f"]
    assert contents(tmp_path) == {"f": content}
    assert site.ranges("/f")[-1] == "bytes=30000-"


def test_without_a_digest_only_trust_fetches_and_later_fetches_keep_to_it(site: Site, tmp_path: Path) -> None:
    url = site.serve("/f", b"first")
    one, known = download(url, None), download(site.serve("/g", b"known"), b"known")
    done = fetched(tmp_path, one, known)
    assert (done.without_digest, done.placed) == ([one], ["g"])
    assert site.ranges("/f") == []
    assert fetched(tmp_path, one, known, trust=True).placed == ["f"]
    assert Store(tmp_path).seen(one) == sha256_of(b"first")
    (tmp_path / "f").unlink()
    assert fetched(tmp_path, one).placed == ["f"]  # it is known from now on
    (tmp_path / "f").unlink()
    site.serve("/f", b"other")
    for trust in (False, True):
        assert "was fetched first (fetched.json)" in fetched(tmp_path, one, trust=trust).failed[0]
    assert contents(tmp_path) == {"g": b"known"}


def test_members_with_digests_need_no_trust(site: Site, tmp_path: Path) -> None:
    packed = gzip.compress(b"text")
    one = download(site.serve("/f.gz", packed), None, Output("f", decompress=True, bytes=4, sha256=sha256_of(b"text")))
    assert fetched(tmp_path, one).placed == ["f"]


def test_what_is_altered_is_not_written_over(site: Site, tmp_path: Path) -> None:
    one, two = download(site.serve("/f", b"file"), b"file"), download(site.serve("/g", b"file"), b"file")
    (tmp_path / "f").write_bytes(b"mine")
    with pytest.raises(BadInput, match=r"f: differs from the recipe; remove it"):
        fetched(tmp_path, one, two)
    assert (contents(tmp_path), site.asked) == ({"f": b"mine"}, [])


def test_a_file_that_nobody_can_check_stays(site: Site, tmp_path: Path) -> None:
    """One member is there and another is not: the first is not written over, and is taken as ours if it is the same."""
    outputs = Output("one", ("t.tsv",)), Output("two", ("x",))
    (tmp_path / "one").write_bytes(b"mine")
    store = Store(tmp_path)
    assert fetched(tmp_path, download(site.serve("/z.zip", ZIP), ZIP, *outputs)).placed == ["two"]
    assert contents(tmp_path) == {"one": b"mine", "two": b"x"}
    assert store.state(outputs[0]) is State.UNKNOWN
    (tmp_path / "one").write_bytes(TABLE)
    (tmp_path / "two").unlink()
    assert fetched(tmp_path, download(site.serve("/z.zip", ZIP), ZIP, *outputs)).placed == ["two"]
    (tmp_path / "one").write_bytes(b"mine")
    assert Store(tmp_path).state(outputs[0]) is State.ALTERED


def test_files_that_a_killed_process_had_unpacked_are_unpacked_again(site: Site, tmp_path: Path) -> None:
    one = download(site.serve("/z.zip", ZIP), ZIP, Output("x", ("x",), sha256=sha256_of(b"x"), bytes=1))
    half = Store(tmp_path).work_folder(one) / "unpacked" / "members"
    half.mkdir(parents=True)
    (half / "0").write_bytes(b"half")
    done = fetched(tmp_path, one)
    assert (done.placed, done.failed, contents(tmp_path)) == (["x"], [], {"x": b"x"})


def test_one_process_at_a_time(site: Site, tmp_path: Path) -> None:
    one = download(site.serve("/f", b"file"), b"file")
    with claimed(tmp_path / "fetching"), pytest.raises(BadInput, match="another process is using this folder"):
        fetched(tmp_path, one)
    assert site.asked == []
    assert fetched(tmp_path, one).placed == ["f"]


def test_a_folder_that_is_a_link_to_another_disk(site: Site, tmp_path: Path) -> None:
    elsewhere = Path("/dev/shm")
    if not elsewhere.is_dir() or elsewhere.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no other disk")
    target = elsewhere / f"calque-{os.getpid()}-{threading.get_ident()}"
    target.mkdir()
    try:
        (tmp_path / "big").symlink_to(target)
        one = download(site.serve("/f", b"file"), b"file", Output("big/f", bytes=4, sha256=sha256_of(b"file")))
        assert fetched(tmp_path, one).placed == ["big/f"]
        assert (target / "f").read_bytes() == b"file"
    finally:
        shutil.rmtree(target)


def test_progress_ends_when_the_file_is_in_its_place(site: Site, tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    heard: list[tuple[str, int, int, bool]] = []
    recipe = Recipe("test", "A test", (download(site.serve("/f", content), content),))

    def report(what: str, done: int, of: int) -> None:
        heard.append((what, done, of, (tmp_path / "f").exists()))

    Store(tmp_path).fetch(recipe, report)
    assert {what for what, *_ in heard} == {"fetching f"}
    assert heard[-1] == ("fetching f", 3_000_000, 3_000_000, True)
    assert all(done < of and not there for _, done, of, there in heard[:-1])


def test_a_mistake_of_the_program_s_own_is_not_hidden(site: Site, tmp_path: Path) -> None:
    """Here that there is a folder in the place of a file of Calque's own."""
    one = download(site.serve("/f", b"file"), b"file")
    (Store(tmp_path).work_folder(one) / PART).mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        fetched(tmp_path, one)
