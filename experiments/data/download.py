"""Downloading a file over HTTP: resuming, and checks of size and digest.

Proxies come from the environment (`https_proxy`, `no_proxy`); `REQUESTS_CA_BUNDLE` names other certificates.
"""

import logging
from collections.abc import Callable
from http.client import responses
from pathlib import Path
from urllib.parse import urljoin

import requests
from requests.adapters import HTTPAdapter
from urllib3 import Retry
from urllib3.exceptions import HTTPError, ProtocolError

from calque.derive.errors import BadInput
from calque.derive.files import writing
from calque.derive.fingerprint import sha256
from calque.experiments.data.recipe import LOCAL, LOCK, Download, refusal

HEADERS = {"User-Agent": "calque (data fetch)", "Accept-Encoding": "identity", "Connection": "close"}
BLOCK = 1 << 17
PART = "part"  # the file of a partial download; `version` next to it has the version of the whole file
TIMEOUT = 30.0  # seconds without a byte
STATUSES = (408, 425, 429, 500, 502, 503, 504)  # that a retry may resolve
RETRY = Retry(
    4, connect=2, other=0, status_forcelist=STATUSES, backoff_factor=1, raise_on_status=False, retry_after_max=300
)
"""Retries in a row without new bytes: fewer without a connection, none after an invalid certificate."""


class Session(requests.Session):
    """Retries requests, and follows redirects to addresses that a recipe may name, from https to https only. It sends
    no password that ~/.netrc has for a host."""

    def __init__(self) -> None:
        super().__init__()
        self.headers.update(HEADERS)
        self.auth = lambda request: request
        for scheme in ("https://", "http://"):
            self.mount(scheme, HTTPAdapter(max_retries=RETRY))

    def rebuild_auth(self, prepared_request: requests.PreparedRequest, response: requests.Response) -> None:
        """Add no password after a redirect."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        target = super().get_redirect_target(resp)
        if target is not None:
            resp.close()  # otherwise requests reads its body, however long
            target = urljoin(resp.url, target)
            if why := refusal(target, () if resp.url.startswith("https:") else LOCAL):
                raise BadInput(f"redirects to {why}", resp.url)
        return target


class Downloader:
    """Downloads a file into `folder`, and resumes after broken connections and killed processes. `seen` is the
    download's digest in the lock file. `report(done, of)` receives bytes; `of` is 0 if unknown."""

    def __init__(self, download: Download, folder: Path, seen: str, report: Callable[[int, int], None]) -> None:
        self.download, self.report, self.digest = download, report, download.sha256 or seen
        self.part, self.whole, self.version = folder / PART, folder / "whole", folder / "version"

    def run(self) -> str:
        """Complete the file `whole`, check it, and return its SHA-256; another file is removed."""
        resumed, expected = self.part.exists() or self.whole.exists(), self.download.bytes
        self._complete()
        found, size = sha256(self.whole), self.whole.stat().st_size
        if expected not in (0, size):
            why = f"received {size:,} bytes; the recipe says {expected:,}"
        elif self.digest not in ("", found):
            source = "the recipe names" if self.download.sha256 else f"was fetched first ({LOCK})"
            why = f"not the file that {source}: expected SHA-256 {self.digest} but got {found}"
        else:
            return found
        self._discard()
        if resumed:  # its first part may be of another file
            return self.run()
        raise BadInput(why, self.download.url)

    def _discard(self) -> None:
        for path in (self.part, self.whole, self.version):
            path.unlink(missing_ok=True)

    def _size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _complete(self) -> None:
        """Download the missing bytes of the file, repeating the request while it brings new ones."""
        logging.getLogger("urllib3").setLevel(logging.CRITICAL)  # errors say all that is needed
        retry, furthest = RETRY, self._size()
        try:
            with Session() as session:
                while not self.whole.exists():
                    try:
                        self._ask(session)
                    except HTTPError as error:  # the connection broke
                        retry = (RETRY if self._size() > furthest else retry).increment("GET", error=error)
                        furthest = max(furthest, self._size())
                        retry.sleep()
        except (requests.RequestException, HTTPError, ValueError, OverflowError) as error:  # the last two: of headers
            cause: BaseException = error
            while cause.__context__:
                cause = cause.__context__
            what = "".join(filter(str.isprintable, str(cause)))[:200] or type(cause).__name__
            raise BadInput(f"failed after {self._size():,} bytes: {what}", self.download.url) from None

    def _ask(self, session: Session) -> None:
        version = self.version.read_text("utf-8", "replace") if self.version.exists() else ""
        start = self._size() if version or self.digest else 0  # otherwise the rest could be of another file
        asked = {"Range": f"bytes={start}-"} if start else {}
        asked |= {"If-Range": version} if start and version else {}
        with session.get(self.download.url, headers=asked, stream=True, timeout=TIMEOUT) as response:
            status, length, headers = response.status_code, response.raw.length_remaining, response.headers
            if status not in (200, 206, 416):
                raise BadInput(f"its server answers {status} ({responses.get(status, 'unknown')})", self.download.url)
            if length is None and "Transfer-Encoding" not in headers:
                raise BadInput("its server states no length, so a part looks like the whole", self.download.url)
            tag, start = headers.get("ETag", ""), 0 if status == 200 else start
            found = tag if tag.startswith('"') else headers.get("Last-Modified", "")  # bytes of a weak tag may differ
            total = start + (length or 0)
            rest = headers.get("Content-Range") == f"bytes {start}-{total - 1}/{total}"
            if status != 200 and not (rest and found == version):
                self._discard()
                raise ProtocolError("the file changed, or its server sent another part than requested")
            self.version.write_text(found, encoding="utf-8")
            with writing(self.part), self.part.open("ab" if start else "wb") as file:
                while block := response.raw.read1(BLOCK, decode_content=False):
                    start += file.write(block)
                    self.report(start, self.download.bytes or total)
        self.part.replace(self.whole)
