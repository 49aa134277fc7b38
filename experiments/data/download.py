"""Downloading a file over HTTP: resuming, checks of size and digest, and limits on servers.

Proxies come from the environment (`https_proxy`, `no_proxy`); `REQUESTS_CA_BUNDLE` names other certificates.
"""

import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import IncompleteRead
from pathlib import Path
from socket import gaierror
from ssl import SSLCertVerificationError
from urllib.parse import urljoin

import requests
from urllib3 import Retry
from urllib3.exceptions import HTTPError

from calque.derive.errors import BadInput
from calque.derive.files import writing
from calque.derive.fingerprint import sha256
from calque.experiments.data.recipe import LOCK, Download, refusal

HEADERS = {"User-Agent": "calque (data fetch)", "Accept-Encoding": "identity", "Connection": "close"}
REDIRECTS = 10
BLOCK = 1 << 17
PART = "part"  # the file of a partial download; `version` next to it has the version of the whole file
PASSING = (408, 425, 429, 500, 502, 503, 504)  # statuses that a retry may resolve
LASTING = (gaierror, SSLCertVerificationError)
"""Permanent errors: an unknown server, or an invalid certificate."""
RANGE = re.compile(r"bytes (\d{1,18})-\d+/(\d{1,18}|\*)")


@dataclass(frozen=True)
class Patience:
    """Patience with a server: up to `tries` attempts in a row without new bytes, with `pause` seconds between them,
    doubled each time, or as the server asks, up to `longest`; up to `timeout` seconds without a byte; at least
    `slowest` bytes per second over each `span` seconds."""

    tries: int = 5
    pause: float = 1.0
    longest: float = 300.0
    timeout: float = 30.0
    span: float = 60.0
    slowest: int = 1_000


PATIENCE = Patience()


class Passing(Exception):
    """A failure that a retry may resolve: after `wait` seconds if the server says so, or from the start (`anew`)."""

    def __init__(self, message: str, wait: float = 0.0, *, anew: bool = False) -> None:
        super().__init__(message)
        self.wait, self.anew = wait, anew


class Downloader:
    """Downloads a file into `folder`, and resumes after broken connections and killed processes. `seen` is the
    download's digest in the lock file. `report(done, of)` receives bytes; `of` is 0 if unknown."""

    def __init__(
        self, download: Download, folder: Path, seen: str, patience: Patience, report: Callable[[int, int], None]
    ) -> None:
        self.download, self.patience, self.report = download, patience, report
        self.part, self.whole, self.version = folder / PART, folder / "whole", folder / "version"
        self.digest, self.resumed = download.sha256 or seen, False

    def run(self) -> str:
        """Complete the file `whole`, check it, and return its SHA-256; another file is removed."""
        logging.getLogger("urllib3").setLevel(logging.CRITICAL)  # errors say all that is needed
        url, expected = self.download.url, self.download.bytes
        found = sha256(self.whole) if self.whole.exists() else ""  # of a killed process
        if not found or self._is_other(found):
            found = self._complete(url)
        if self._is_other(found) and self.resumed:  # its first part may be of another file
            found = self._complete(url)
        if self._is_other(found):
            self.discard()
            source = "the recipe names" if self.download.sha256 else f"was fetched first ({LOCK})"
            raise BadInput(f"not the file that {source}: expected SHA-256 {self.digest} but got {found}", url)
        size = self.whole.stat().st_size
        if expected and size != expected:
            self.discard()
            raise BadInput(f"received {size:,} bytes; the recipe says {expected:,}", url)
        return found

    def discard(self) -> None:
        for path in (self.part, self.whole, self.version):
            path.unlink(missing_ok=True)

    def _is_other(self, digest: str) -> bool:
        return self.digest not in ("", digest)

    def _complete(self, url: str) -> str:
        """Download the whole file, as often as needed, and return its digest."""
        self.whole.unlink(missing_ok=True)
        failures, furthest, patience = 0, self._size(), self.patience
        while True:
            try:
                self._ask(url)
                break
            except Passing as error:
                reached = self._size()
                failures = 1 if reached > furthest else failures + 1
                furthest = max(furthest, reached)
                if error.anew:
                    self.discard()
                pause = error.wait or patience.pause * 2 ** (failures - 1)
                if pause > patience.longest:
                    raise BadInput(f"{error}, and asks to wait {pause:,.0f} s: try again then", url) from None
                if failures >= patience.tries:
                    raise BadInput(f"{error}, {failures} times in a row, after {furthest:,} bytes", url) from None
            time.sleep(pause)
        self.part.replace(self.whole)
        return sha256(self.whole)

    def _size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _ask(self, url: str) -> None:
        """Request the missing bytes once, and write the response."""
        start, expected, headers = self._size(), self.download.bytes, dict(HEADERS)
        version = self.version.read_text("utf-8", "replace") if self.version.exists() else ""
        if start and not (version or self.digest):
            start = 0  # the rest could be of another file
        if start:
            headers["Range"] = f"bytes={start}-"
        with answer(url, headers, self.patience.timeout) as response:
            start, total, found = described(response, url, start)
            self.resumed = start > 0
            if start and version and found != version and (found or not self.digest):
                raise Passing("the file changed in between", anew=True)
            if expected and total not in (-1, expected):
                self.discard()
                raise BadInput(f"its server has {total:,} bytes of it; the recipe says {expected:,}", url)
            self.version.write_text(found, encoding="utf-8")
            self._write(response, url, start, total)

    def _write(self, response: requests.Response, url: str, start: int, total: int) -> None:
        done, expected, patience = start, self.download.bytes, self.patience
        before, began = done, time.monotonic()
        with writing(self.part), self.part.open("r+b" if done else "wb") as file:
            file.truncate(done)
            file.seek(done)
            while block := response.raw.read1(BLOCK, decode_content=False):
                file.write(block)
                done += len(block)
                if expected and done > expected:
                    self.discard()
                    raise BadInput(f"its server sends more than the {expected:,} bytes that the recipe says", url)
                self.report(done, expected or max(total, 0))
                if (seconds := time.monotonic() - began) >= patience.span:
                    if done - before < patience.slowest * seconds:
                        raise BadInput(f"its server sends fewer than {patience.slowest:,} bytes a second", url)
                    before, began = done, time.monotonic()
        if done < total:
            raise Passing(f"its server sent {done:,} bytes of {total:,}")


@contextmanager
def answer(url: str, headers: dict[str, str], timeout: float) -> Iterator[requests.Response]:
    """A server's response after redirects. Raises `Passing` if there is none, or if the connection breaks."""
    there = url
    try:
        with requests.Session() as session:
            session.auth = lambda request: request  # otherwise it sends the password that ~/.netrc has for a host
            # Otherwise it reads the body of a redirect, however long.
            session.get_redirect_target = lambda resp: None  # type: ignore[method-assign]
            for _ in range(REDIRECTS):
                with session.get(
                    there, headers=headers, stream=True, timeout=timeout, allow_redirects=False
                ) as response:
                    if not response.is_redirect:
                        yield response
                        return
                    there = redirected(url, there, response.headers["Location"])
        raise BadInput(f"redirects more than {REDIRECTS} times", url)
    except (requests.RequestException, HTTPError) as error:
        cause: BaseException = error
        while cause.__context__:
            cause = cause.__context__
        what = printable(cause) or type(cause).__name__
        if isinstance(cause, TimeoutError):
            what = "no data for too long"
        elif isinstance(cause, IncompleteRead):
            what = "the connection broke off"
        passing = isinstance(error, HTTPError | requests.ConnectionError | requests.Timeout)
        if passing and not isinstance(cause, LASTING):
            raise Passing(what) from None
        raise BadInput(f"cannot reach its server: {what}", url) from None


def redirected(url: str, there: str, location: str) -> str:
    try:
        target = urljoin(there, location)
    except ValueError as error:
        raise BadInput(f"redirects to an invalid address: {error}", url) from None
    why = refusal(target)
    if not why and there.startswith("https:") and not target.startswith("https:"):
        why = f"{target[:80]}: only https is fetched"
    if why:
        raise BadInput(f"redirects to {why}", url)
    return target


def described(response: requests.Response, url: str, start: int) -> tuple[int, int, str]:
    """The first byte of the file in a response, the file's size (-1: unknown), and its version (empty: unknown), an
    entity tag or the time of the last change. Raises `Passing` if the server does not have the file now, or the part
    from `start` on; BadInput if a part cannot be distinguished from the whole."""
    status, headers = response.status_code, response.headers
    what = f"its server answers {status} ({printable(response.reason)})"
    if status == 416:
        raise Passing("its server has no such part of it", anew=True)
    if status in PASSING:
        raise Passing(what, seconds_of(headers.get("Retry-After", "")))
    if status not in (200, 206):
        raise BadInput(what, url)
    if (encoding := headers.get("Content-Encoding", "identity")) != "identity":
        raise BadInput(f"its server sends it encoded as {encoding[:40]!r}, which was not requested", url)
    length, chunked = headers.get("Content-Length", ""), "Transfer-Encoding" in headers
    if bool(length) == chunked or not re.fullmatch(r"\d{0,18}", length):
        raise BadInput("its server states no length, or two, so a part looks like the whole", url)
    version = headers.get("ETag", "")
    if not version or version.startswith("W/"):  # bytes of one weak tag may differ
        version = headers.get("Last-Modified", "")
    if status == 200:
        return 0, int(length or -1), version
    match = RANGE.fullmatch(headers.get("Content-Range", ""))
    if not match or int(match[1]) != start:
        raise Passing("its server sent another part than requested", anew=True)
    return start, -1 if match[2] == "*" else int(match[2]), version


def seconds_of(after: str) -> float:
    """The wait that a Retry-After header asks for; 0 if it cannot be read."""
    try:
        return Retry().parse_retry_after(after)
    except (HTTPError, ValueError, OverflowError):
        return 0.0


def printable(text: object) -> str:
    """Text of a server or system for a terminal: without control characters, and shortened."""
    return "".join(filter(str.isprintable, str(text)))[:200]
