"""A download ends with the file's own bytes or with a reason, whatever the server does."""

import hashlib
import io
import time
from email.utils import formatdate
from pathlib import Path

import pytest
import requests

from calque.derive.errors import BadInput
from calque.experiments.data import download as downloading
from calque.experiments.data.download import PART, Downloader, Session
from calque.experiments.data.recipe import Download, Output
from tests.experiments.data import site as served
from tests.experiments.data.site import Answer, Site

CONTENT = bytes(range(256)) * 4_000
"""A million bytes: more than a socket holds, so that a break comes in the middle."""
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """For servers that send nothing more; a busy machine may take longer for others."""
    monkeypatch.setattr(downloading, "TIMEOUT", 0.3)


def download(url: str, size: int = len(CONTENT), digest: str = DIGEST) -> Download:
    return Download(url, (Output("x"),), "none", "https://x", "this test", bytes=size, sha256=digest)


def fetched(one: Download, folder: Path, known: str = "") -> bytes:
    """What a download leaves."""
    place = work(one, folder)
    downloader = Downloader(one, place, known, lambda done, of: None)
    digest = downloader.run()
    assert digest == hashlib.sha256(downloader.whole.read_bytes()).hexdigest()
    assert {path.name for path in place.iterdir()} <= {"whole", "version"}
    return downloader.whole.read_bytes()


def work(one: Download, folder: Path) -> Path:
    """Where a download grows."""
    place = folder / hashlib.sha256(one.url.encode()).hexdigest()
    place.mkdir(parents=True, exist_ok=True)
    return place


@pytest.mark.parametrize(
    "answers",
    [
        [served.whole],
        [served.breaks(300_000), served.breaks(300_000), served.whole],
        [served.breaks(0), served.breaks(1), served.whole],
        [served.ignores_range_and_breaks(400_000), served.ignores_range],
        [served.status(500), served.status(503), served.whole],
        [served.in_chunks],
        [served.breaks(300_000), served.other_part, served.whole],
        [served.breaks(300_000), served.another_file_since, served.whole],
        [served.breaks(300_000), served.status(416), served.whole],
        [served.first_part, served.whole],
    ],
)
def test_it_ends_with_the_file(answers: list[Answer], site: Site, tmp_path: Path) -> None:
    assert fetched(download(site.serve("/f", CONTENT, *answers)), tmp_path) == CONTENT


@pytest.mark.usefixtures("short")
def test_a_server_that_hangs_is_asked_again(site: Site, tmp_path: Path) -> None:
    url = site.serve("/f", CONTENT, served.hangs(100_000), served.whole)
    assert fetched(download(url), tmp_path) == CONTENT
    url = site.serve("/g", CONTENT, served.hangs(5))
    with pytest.raises(BadInput, match="failed after 5 bytes: timed out"):
        fetched(download(url), tmp_path)


def test_what_breaks_off_goes_on_where_it_was(site: Site, tmp_path: Path) -> None:
    url = site.serve("/f", CONTENT, served.breaks(300_000), served.breaks(200_000), served.whole)
    assert fetched(download(url), tmp_path) == CONTENT
    assert site.ranges("/f") == ["", "bytes=300000-", "bytes=500000-"]


def test_progress_forgives_failures(site: Site, tmp_path: Path) -> None:
    """Eleven breaks are more than three tries, but each brings something new."""
    url = site.serve("/f", CONTENT, *[served.breaks(90_000)] * 11, served.whole)
    assert fetched(download(url), tmp_path) == CONTENT


@pytest.mark.parametrize("after", ["1", "a date"])
def test_who_is_asked_to_wait_waits(after: str, site: Site, tmp_path: Path) -> None:
    asked = formatdate(time.time() + 2, usegmt=True) if after == "a date" else after
    began = time.monotonic()
    url = site.serve("/f", CONTENT, served.status(429, Retry_After=asked), served.whole)
    assert fetched(download(url), tmp_path) == CONTENT
    assert time.monotonic() - began > 0.9


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (served.status(404), "answers 404"),
        (served.status(403), "answers 403"),
        (served.status(500), "answers 500 (Internal Server Error)"),
        (served.breaks(0), r"failed after 0 bytes: IncompleteRead"),
        (served.ignores_range_and_breaks(1_000), "failed after 1,000 bytes: IncompleteRead"),
        (served.says_length(len(CONTENT) + 1), f"failed after {len(CONTENT):,} bytes: IncompleteRead"),
        (served.says_length(10), f"received 10 bytes; the recipe says {len(CONTENT):,}"),
        (served.without_length, "states no length"),
        (served.other_bytes, f"not the file that the recipe names: expected SHA-256 {DIGEST} but got"),
        (served.status(302, Location="http://example.org/f"), "only https is fetched"),
        (served.status(302, Location="file:///etc/passwd"), "redirects to 'file:///etc/passwd' is not an address"),
        (served.status(302, Location="/f"), "failed after 0 bytes: Exceeded 30 redirects"),
        (served.status(302, Location="http://[f"), "failed after 0 bytes: Invalid IPv6"),
        (served.status(302, Location=f"https://{'a' * 70}/f"), "redirects to 'https://a+/f' is not an address"),
        (served.status(429, Retry_After="Mon, 01 Jan 99999999999999 00:00:00 GMT"), "failed after 0 bytes: "),
        (served.status(206, Content_Range=f"bytes {'9' * 5_000}-1/2"), "sent another part than requested"),
        (served.status(204), "answers 204"),
        (served.status(202), "answers 202"),
        (served.two_lengths, "Content-Length contained multiple unmatching values"),
    ],
)
def test_it_ends_with_a_reason_and_leaves_no_wrong_byte(answer: Answer, said: str, site: Site, tmp_path: Path) -> None:
    url = site.serve("/f", CONTENT, answer)
    with pytest.raises(BadInput, match=said.replace("(", r"\(").replace(")", r"\)")) as refused:
        fetched(download(url), tmp_path)
    assert str(refused.value).startswith(url)
    left = b"".join(path.read_bytes() for path in tmp_path.glob(f"*/{PART}"))
    assert CONTENT.startswith(left)
    assert not list(tmp_path.glob("*/whole"))


@pytest.mark.parametrize("answer", [served.status(204), served.status(205), served.two_lengths])
def test_an_answer_without_a_file_is_refused_whatever_its_size(answer: Answer, site: Site, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"answers 20[45]|multiple unmatching values"):
        fetched(download(site.serve("/f", CONTENT, answer), size=0, digest=""), tmp_path)


def test_a_part_is_not_taken_for_the_whole_where_nobody_states_a_size(site: Site, tmp_path: Path) -> None:
    one = download(site.serve("/f", CONTENT, served.first_part, served.whole), size=0, digest="")
    assert fetched(one, tmp_path) == CONTENT
    assert site.ranges("/f") == ["", ""]


@pytest.mark.parametrize("line", [b"NONE \x1b[2J\x1b]0;title\x07", b"HTTP/1.1 404 \x1b[31mNot\x07 here \xc2\x9b"])
def test_nothing_that_a_server_says_reaches_a_terminal_raw(line: bytes, site: Site, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        fetched(download(site.serve("/f", CONTENT, served.says_line(line))), tmp_path)
    assert str(refused.value).isprintable()


def test_another_size_is_refused(site: Site, tmp_path: Path) -> None:
    url = site.serve("/f", CONTENT, served.in_chunks)
    with pytest.raises(BadInput, match=f"received {len(CONTENT):,} bytes; the recipe says 5,000"):
        fetched(download(url, size=5_000, digest=""), tmp_path)
    assert not list(tmp_path.glob("*/*"))


def test_a_redirect_within_what_may_be_asked_is_followed(site: Site, tmp_path: Path) -> None:
    site.serve("/here", CONTENT)
    assert fetched(download(site.serve("/f", b"", served.status(302, Location="/here"))), tmp_path) == CONTENT


def test_a_redirect_from_https_leads_to_https_only() -> None:
    response = requests.Response()
    response.status_code, response.url, response.raw = 302, "https://x.org/f", io.BytesIO()
    response.headers["Location"] = "/g"
    assert Session().get_redirect_target(response) == "https://x.org/g"
    response.headers["Location"] = "http://localhost/g"
    with pytest.raises(BadInput, match=r"^https://x\.org/f: redirects to http://localhost/g: only https is fetched"):
        Session().get_redirect_target(response)


@pytest.mark.usefixtures("short")
def test_the_body_of_a_redirect_is_not_read(site: Site, tmp_path: Path) -> None:
    def endless(request: served.Handler, content: bytes) -> None:
        request.say(302, 10**12, Location="/here")
        request.site.closed.wait(120)

    site.serve("/here", CONTENT)
    assert fetched(download(site.serve("/f", b"", endless)), tmp_path) == CONTENT


def test_no_password_of_netrc_is_sent(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    sent: list[str | None] = []

    def listening(request: served.Handler, content: bytes) -> None:
        sent.append(request.headers["Authorization"])
        served.whole(request, content)

    assert fetched(download(site.serve("/f", CONTENT, listening)), tmp_path) == CONTENT
    assert sent == [None]


def test_what_is_complete_is_not_asked_for_again(site: Site, tmp_path: Path) -> None:
    """As after a process that was killed before it put the file in place; other bytes are found out."""
    one = download(site.serve("/f", CONTENT))
    assert fetched(one, tmp_path) == fetched(one, tmp_path) == CONTENT
    assert site.ranges("/f") == [""]
    (work(one, tmp_path) / "whole").write_bytes(CONTENT[::-1])
    assert fetched(one, tmp_path) == CONTENT


@pytest.mark.parametrize(
    ("size", "asked"),
    [
        (1_000, ["bytes=1000-", ""]),
        (len(CONTENT), [f"bytes={len(CONTENT)}-", ""]),
        (len(CONTENT) + 1, [f"bytes={len(CONTENT) + 1}-", ""]),
    ],
)
def test_a_part_of_another_file_is_not_kept(size: int, asked: list[str], site: Site, tmp_path: Path) -> None:
    """A part whose bytes are wrong is found out at the end, and fetched again from the beginning."""
    one = download(site.serve("/f", CONTENT))
    (work(one, tmp_path) / PART).write_bytes(b"?" * size)
    assert fetched(one, tmp_path) == CONTENT
    assert site.ranges("/f") == asked


def test_without_a_digest_only_the_same_version_goes_on(site: Site, tmp_path: Path) -> None:
    one = download(site.serve("/f", CONTENT, served.breaks(1_000), served.whole), size=0, digest="")
    assert fetched(one, tmp_path) == CONTENT
    assert site.ranges("/f") == ["", "bytes=1000-"]
    two = download(site.serve("/g", CONTENT, served.breaks(1_000), served.another_file_since, served.whole), digest="")
    assert fetched(two, tmp_path) == CONTENT
    assert site.ranges("/g") == ["", "bytes=1000-", ""]
    answers = [served.breaks(1_000), served.part_without_version, served.whole]
    assert fetched(download(site.serve("/i", CONTENT, *answers), digest=""), tmp_path) == CONTENT
    assert site.ranges("/i") == ["", "bytes=1000-", ""]
    three = download(site.serve("/h", CONTENT), digest="")
    (work(three, tmp_path) / PART).write_bytes(b"?" * 1_000)  # of which nothing says what it is a part of
    assert fetched(three, tmp_path) == CONTENT


def test_a_digest_that_was_seen_before_binds(site: Site, tmp_path: Path) -> None:
    one = download(site.serve("/f", CONTENT), digest="")
    assert fetched(one, tmp_path, known=DIGEST) == CONTENT
    with pytest.raises(BadInput, match=r"was fetched first \(fetched\.json\)"):
        fetched(download(site.serve("/g", CONTENT[::-1]), digest=""), tmp_path, known=DIGEST)


def test_one_that_is_stopped_keeps_what_has_come(site: Site, tmp_path: Path) -> None:
    one = download(site.serve("/f", CONTENT))

    def stop(done: int, of: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        Downloader(one, work(one, tmp_path), "", stop).run()
    size = (work(one, tmp_path) / PART).stat().st_size
    assert 0 < size < len(CONTENT)
    assert fetched(one, tmp_path) == CONTENT
    assert site.ranges("/f") == ["", f"bytes={size}-"]


def test_a_server_that_is_not_there_is_a_reason(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="refused"):
        fetched(download("http://127.0.0.1:1/f"), tmp_path)


def test_proxies_are_those_of_the_environment(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy is asked for a connection, which it does not give."""
    monkeypatch.setenv("https_proxy", site.address)
    with pytest.raises(BadInput, match=r"Tunnel connection failed: 501"):
        fetched(download("https://data.example/f"), tmp_path)
