"""A server of files on this machine that answers as well, or as badly, as a test asks for."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ETAG = '"one"'

Answer = Callable[["Handler", bytes], None]
"""Answers a request for a file with these bytes."""


class Site:
    """Files by path, and how requests for each are answered: by the next answer of its list, the last one for good.

    `asked` has the path and the Range of every request.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.files: dict[str, tuple[bytes, list[Answer]]] = {}
        self.asked: list[tuple[str, str]] = []
        self.closed = threading.Event()

    def serve(self, path: str, content: bytes, *answers: Answer) -> str:
        """Serve a file from now on, and return its address."""
        self.files[path] = content, list(answers or (whole,))
        return f"{self.address}{path}"

    def ranges(self, path: str) -> list[str]:
        return [asked for one, asked in self.asked if one == path]


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    site: Site
    most: int | None = None
    """How many bytes of content an answer sends."""

    def do_GET(self) -> None:
        asked = self.headers.get("Range", "")
        self.site.asked.append((self.path, asked))
        if self.path not in self.site.files:
            return self.say(404)
        content, answers = self.site.files[self.path]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        with suppress(BrokenPipeError, ConnectionResetError):  # who asked has heard enough
            answer(self, content)
        return None

    @property
    def start(self) -> int:
        """The first byte asked for."""
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        return int(match[1]) if match else 0

    def say(self, status: int, length: int | None = 0, **headers: str) -> None:
        """The head of an answer."""
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if self.close_connection and "Connection" not in headers:  # else the next request may meet the closing socket
            self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


def whole(request: Handler, content: bytes) -> None:
    """As a good server: all of it, or the part that is asked for."""
    wanted = request.start
    if wanted >= len(content) and wanted:
        request.say(416, Content_Range=f"bytes */{len(content)}")
    elif wanted:
        part = f"bytes {wanted}-{len(content) - 1}/{len(content)}"
        request.say(206, len(content) - wanted, Content_Range=part, ETag=ETAG)
        request.wfile.write(content[wanted:][: request.most])
    else:
        request.say(200, len(content), ETag=ETAG)
        request.wfile.write(content[: request.most])


def breaks(after: int) -> Answer:
    """Break off when that many bytes of the answer are sent."""

    def answer(request: Handler, content: bytes) -> None:
        request.most = after
        whole(request, content)
        request.close_connection = True

    return answer


def ignores_range(request: Handler, content: bytes) -> None:
    request.say(200, len(content), ETag=ETAG)
    request.wfile.write(content)


def ignores_range_and_breaks(after: int) -> Answer:
    def answer(request: Handler, content: bytes) -> None:
        request.say(200, len(content), ETag=ETAG)
        request.wfile.write(content[:after])
        request.close_connection = True

    return answer


def says_length(length: int) -> Answer:
    """Say another length than the file has, and send the file."""

    def answer(request: Handler, content: bytes) -> None:
        request.say(200, length)
        request.wfile.write(content)
        request.close_connection = True

    return answer


def without_length(request: Handler, content: bytes) -> None:
    request.say(200, None, Connection="close")
    request.wfile.write(content)
    request.close_connection = True


def in_chunks(request: Handler, content: bytes) -> None:
    request.say(200, None, Transfer_Encoding="chunked")
    for at in range(0, len(content), 1000):
        piece = content[at : at + 1000]
        request.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
    request.wfile.write(b"0\r\n\r\n")


def other_bytes(request: Handler, content: bytes) -> None:
    whole(request, bytes(255 - byte for byte in content))


def other_part(request: Handler, content: bytes) -> None:
    """The last byte, whatever is asked for."""
    request.say(206, 1, Content_Range=f"bytes {len(content) - 1}-{len(content) - 1}/{len(content)}", ETag=ETAG)
    request.wfile.write(content[-1:])


def another_file_since(request: Handler, content: bytes) -> None:
    """A part of another version of the file, which stands there now."""
    part = f"bytes {request.start}-{len(content) - 1}/{len(content)}"
    request.say(206, len(content) - request.start, Content_Range=part, ETag='"two"')
    request.wfile.write(content[request.start :])


def part_without_version(request: Handler, content: bytes) -> None:
    """A part of the right length with other bytes, from a server that does not say which version it is of."""
    part = f"bytes {request.start}-{len(content) - 1}/{len(content)}"
    request.say(206, len(content) - request.start, Content_Range=part)
    request.wfile.write(bytes(len(content) - request.start))


def two_lengths(request: Handler, content: bytes) -> None:
    request.say(200, len(content), Content_length="10", Connection="keep-alive")
    request.wfile.write(content)


def first_part(request: Handler, content: bytes) -> None:
    """A hundred bytes, which are said to be a part, whatever is asked for."""
    request.say(206, 100, Content_Range=f"bytes {request.start}-{request.start + 99}/{len(content)}", ETag=ETAG)
    request.wfile.write(content[request.start :][:100])


def says_line(line: bytes) -> Answer:
    """Answer with a line that is none of HTTP, or with a reason of one's own."""

    def answer(request: Handler, content: bytes) -> None:
        request.wfile.write(line + b"\r\nContent-Length: 0\r\n\r\n")
        request.close_connection = True

    return answer


def status(code: int, **headers: str) -> Answer:
    return lambda request, content: request.say(code, **headers)


def hangs(after: int) -> Answer:
    """Send the first `after` bytes, or what is asked for of them, and then nothing more until the server ends."""

    def answer(request: Handler, content: bytes) -> None:
        request.most = max(0, after - request.start)
        whole(request, content)
        request.wfile.flush()
        request.site.closed.wait(120)
        request.close_connection = True

    return answer


@contextmanager
def serving() -> Iterator[Site]:
    """A site that is there while the block runs."""
    handler = type("SiteHandler", (Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    site = Site(f"http://127.0.0.1:{server.server_address[1]}")
    handler.site = site  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.closed.set()
        server.shutdown()
        server.server_close()
        thread.join()
