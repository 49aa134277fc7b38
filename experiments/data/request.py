"""One request for a file, or for the rest of it, over HTTP: the only file that knows the protocol.

Proxies are those of the environment (`https_proxy`, `no_proxy`), certificates those of the system (`SSL_CERT_FILE`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPMessage, HTTPResponse
from socket import gaierror
from ssl import SSLCertVerificationError
from typing import IO, Any, NoReturn
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from derive.errors import BadInput
from experiments.data.address import refusal

AGENT = "calque (data fetch)"
_PASSING = (408, 425, 429, 500, 502, 503, 504)
"""Statuses that may be gone at the next try."""
_LASTING = (gaierror, SSLCertVerificationError)
"""Errors that stay: no such server is known, or it cannot prove who it is."""
_RANGE = re.compile(r"bytes (\d{1,18})-\d+/(\d{1,18}|\*)")
_BLOCK = 1 << 17


class Passing(Exception):
    """What may go well at the next try: after `wait` seconds, if the server asks for them, or from the beginning."""

    def __init__(self, message: str, wait: float = 0.0, *, anew: bool = False) -> None:
        super().__init__(message)
        self.wait, self.anew = wait, anew


@dataclass(frozen=True)
class Answer:
    """What a server sends: bytes of the file from `start` on. `total` is the file's size, -1 if it is not said.

    `version` names what the address holds now (an entity tag, or the time of its last change), or is empty.
    """

    start: int
    total: int
    version: str
    _body: HTTPResponse
    _length: int

    def blocks(self) -> Iterator[bytes]:
        """The bytes, as they come.

        Raises:
            Passing: the connection breaks, or no byte comes for too long.
        """
        left = self._length
        while left:
            try:
                block = self._body.read1(_BLOCK if left < 0 else min(_BLOCK, left))
            except (OSError, HTTPException) as error:
                raise Passing(_told(error)) from None
            if not block:
                if left < 0:
                    return  # where no length is said, the end of the last chunk is the file's
                raise Passing("the connection broke off")
            left -= len(block) if left > 0 else 0
            yield block


@contextmanager
def ask(url: str, start: int, version: str, timeout: float) -> Iterator[Answer]:
    """Ask for a file from byte `start` on, as long as it is still that of `version` (empty: whatever it is).

    A server may send it from its beginning all the same: `Answer.start` says so. `timeout` is in seconds, for the
    connection and for every wait for more bytes.

    Raises:
        Passing: no answer, or one that may be another next time.
        BadInput: an answer that will not change, such as no such file, or that leads where nothing is fetched.
    """
    headers = {"User-Agent": AGENT, "Accept-Encoding": "identity"}
    if start:
        headers |= {"Range": f"bytes={start}-"} | ({"If-Range": version} if version else {})
    try:
        response = build_opener(_Redirects).open(Request(url, headers=headers), timeout=timeout)
    except HTTPError as error:
        with error:
            _refused(url, error)
    except URLError as error:
        if isinstance(error.reason, _LASTING):
            raise BadInput(
                f"its server cannot be asked: {_shown(error.reason.strerror or error.reason)}", url
            ) from None
        raise Passing(_told(error.reason)) from None
    except (OSError, HTTPException) as error:
        raise Passing(_told(error)) from None
    except ValueError as error:
        raise BadInput(f"redirects to what is no address: {_shown(error)}", url) from None
    with response:
        yield _answer(url, start, response)


class _Redirects(HTTPRedirectHandler):
    """Follows to addresses that may be fetched from, and not from the network to this machine."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        if req.type == "https" and urlsplit(newurl).scheme != "https":
            raise BadInput(f"redirects to {newurl[:80]!r}: only https is fetched", req.full_url)
        if why := refusal(newurl):
            raise BadInput(f"redirects to {why}", req.full_url)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _answer(url: str, start: int, response: Any) -> Answer:
    headers = response.headers
    if response.status not in (200, 206):
        raise BadInput(f"its server answers {response.status} ({_shown(response.reason)}) and sends no file", url)
    if len(headers.get_all("Content-Length", [])) + response.chunked > 1:
        raise BadInput("its server states two lengths, so a part cannot be told from the whole", url)
    if (encoding := headers.get("Content-Encoding", "identity")) != "identity":
        raise BadInput(f"its server sends it encoded as {encoding[:40]!r}, which was not asked for", url)
    length = headers.get("Content-Length", "")
    if length and not re.fullmatch(r"\d{1,18}", length):
        raise BadInput(f"its server says that its length is {length[:40]!r}", url)
    size = int(length) if length else -1
    if size < 0 and not response.chunked:
        raise BadInput("its server states no length, so that a part could not be told from the whole", url)
    version = headers.get("ETag", "") or headers.get("Last-Modified", "")
    if version.startswith("W/"):  # of a weak tag, bytes may differ
        version = headers.get("Last-Modified", "")
    if response.status == 206:
        match = _RANGE.fullmatch(headers.get("Content-Range", ""))
        if not match or int(match[1]) != start:
            raise Passing("its server sent another part than was asked for", anew=True)
        return Answer(start, -1 if match[2] == "*" else int(match[2]), version, response, size)
    return Answer(0, size, version, response, size)


def _refused(url: str, error: HTTPError) -> NoReturn:
    what = f"its server answers {error.code} ({_shown(error.reason)})"
    if error.code == 416:
        raise Passing("its server has no such part of it", anew=True)
    if error.code not in _PASSING:
        raise BadInput(what, url) from None
    raise Passing(what, _seconds(error.headers.get("Retry-After", ""))) from None


def _seconds(after: str) -> float:
    """The wait that a Retry-After asks for, in seconds or until a date."""
    if re.fullmatch(r"\d{1,9}", after):
        return float(after)
    try:
        return max(0.0, parsedate_to_datetime(after).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 0.0


def _told(error: object) -> str:
    """What an error of the network says, or its name where it says nothing."""
    if type(error) is TimeoutError:
        return "no byte came for too long"
    return _shown(error) or type(error).__name__


def _shown(said: object) -> str:
    """What a server said, as far as it can be shown: no control characters, and not at length."""
    return "".join(filter(str.isprintable, str(said)))[:200]
