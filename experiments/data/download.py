"""Resumable HTTP downloads, checked by size and digest. Proxies come from the environment."""

import logging
import time
from collections.abc import Callable
from http.client import responses
from pathlib import Path
from urllib.parse import urljoin

import requests
from urllib3.exceptions import HTTPError

from calque.derive.errors import BadInput
from calque.derive.files import writing
from calque.derive.fingerprint import sha256
from calque.experiments.data.recipe import LOCK, Download

HEADERS = {"User-Agent": "calque (data fetch)", "Accept-Encoding": "identity"}
BLOCK = 1 << 17
TIMEOUT = 30.0  # seconds without a byte
TRIES = 5  # maximum consecutive tries without new bytes
WAIT = 1.0  # seconds before the second try, doubled before each further one
FINAL = (requests.exceptions.SSLError, requests.TooManyRedirects, ValueError)  # not retried
BUSY = (408, 425, 429, 500, 502, 503, 504)  # status codes after which to retry
Progress = Callable[[int, int], None]


class Session(requests.Session):
    """A session that follows redirects from https only to https, and ignores ~/.netrc."""

    def __init__(self) -> None:
        super().__init__()
        self.headers.update(HEADERS)
        self.auth = lambda request: request

    def rebuild_auth(self, prepared_request: requests.PreparedRequest, response: requests.Response) -> None:
        """Add no password after a redirect."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        target = super().get_redirect_target(resp)
        if target is not None and resp.url.startswith("https:"):
            target = urljoin(resp.url, target)
            if not target.startswith("https:"):
                raise BadInput(f"redirects to {target[:80]}, which is not https", resp.url)
        return target


def fetch_file(download: Download, folder: Path, seen: str, report: Progress) -> tuple[Path, str]:
    """Download a file into `folder`, and return its path and SHA-256; if verification fails, delete it and
    raise BadInput.

    If the digest is known, from the recipe or from an earlier download (`seen`), an interrupted download
    resumes; otherwise it restarts. `report(done, of)` receives byte counts; `of` is 0 if unknown.
    """
    whole, part = folder / "whole", folder / "part"
    digest = download.sha256 or seen
    resumed = bool(digest) and (part.exists() or whole.exists())
    if not whole.exists():
        if not digest:
            part.unlink(missing_ok=True)
        _complete(download, part, bool(digest), report)
        part.replace(whole)
    found, size = sha256(whole), whole.stat().st_size
    if download.bytes in (0, size) and digest in ("", found):
        return whole, found
    whole.unlink()
    if resumed:  # the earlier part may be from a different version of the file
        return fetch_file(download, folder, seen, report)
    if download.bytes not in (0, size):
        raise BadInput(f"received {size:,} bytes; the recipe states {download.bytes:,}", download.url)
    source = "the recipe describes" if download.sha256 else f"was fetched first ({LOCK})"
    raise BadInput(f"not the file that {source}: expected SHA-256 {digest} but got {found}", download.url)


def _complete(download: Download, part: Path, resumes: bool, report: Progress) -> None:
    logging.getLogger("urllib3").setLevel(logging.CRITICAL)  # errors are reported here instead
    tries, furthest = 0, 0
    with Session() as session:
        while True:
            try:
                _ask(session, download, part, resumes, report)
                return
            except (requests.RequestException, HTTPError, ValueError) as error:
                received = part.stat().st_size if part.exists() else 0
                tries = 1 if received > furthest else tries + 1
                furthest = max(furthest, received)
                if tries >= TRIES or isinstance(error, FINAL):
                    raise BadInput(
                        f"failed after {received:,} bytes: {_cause(error)}", download.url
                    ) from None
                time.sleep(WAIT * 2 ** (tries - 1))


def _cause(error: BaseException) -> str:
    while error.__context__:
        error = error.__context__
    return "".join(filter(str.isprintable, str(error)))[:200] or type(error).__name__


def _ask(session: Session, download: Download, part: Path, resumes: bool, report: Progress) -> None:
    start = part.stat().st_size if resumes and part.exists() else 0
    headers = {"Range": f"bytes={start}-"} if start else {}
    with session.get(download.url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        status, length = response.status_code, response.raw.length_remaining
        if status in BUSY:
            raise requests.HTTPError(f"the server answered {status} ({responses[status]})")
        if status == 416:
            part.unlink()
            raise requests.HTTPError("the server cannot continue the download")
        if status not in (200, 206):
            raise BadInput(f"the server answered {status} ({responses.get(status, 'unknown')})", download.url)
        if length is None and "Transfer-Encoding" not in response.headers:
            raise BadInput("the server states no length, so truncation would go unnoticed", download.url)
        if status == 200 or not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            start = 0
        total = download.bytes or start + (length or 0)
        with writing(part), part.open("ab" if start else "wb") as file:
            while block := response.raw.read1(BLOCK, decode_content=False):
                start += file.write(block)
                report(start, total)
