import re
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """Files by path, with the answers to successive requests for each; the last answer repeats. `asked`
    records the path and Range of every request."""

    def __init__(self, address):
        self.address = address
        self.files = {}
        self.asked = []
        self.closed = threading.Event()

    def serve(self, path, content, *answers):
        self.files[path] = content, list(answers or (whole,))
        return f"{self.address}{path}"

    def ranges(self, path):
        return [asked for one, asked in self.asked if one == path]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def do_GET(self):
        self.site.asked.append((self.path, self.headers.get("Range", "")))
        if self.path not in self.site.files:
            self.head(404)
            return
        content, answers = self.site.files[self.path]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        with suppress(BrokenPipeError, ConnectionResetError):
            answer(self, content)

    @property
    def start(self):
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        return int(match[1]) if match else 0

    def head(self, status, length=0, **headers):
        self.close_connection = True
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, format, *args):
        """Print nothing."""


def sends(most=None):
    """Answer like a good server with the file or the requested part, but break off after `most` bytes."""

    def answer(request, content):
        start, size = request.start, len(content)
        if start >= size > 0:
            request.head(416)
        elif start:
            request.head(206, size - start, Content_Range=f"bytes {start}-{size - 1}/{size}")
            request.wfile.write(content[start:][:most])
        else:
            request.head(200, size)
            request.wfile.write(content[:most])

    return answer


whole = sends()


def ignores_range(request, content):
    request.head(200, len(content))
    request.wfile.write(content)


def without_length(request, content):
    request.head(200, None)
    request.wfile.write(content)


def in_pieces(request, content):
    request.head(200, None, Transfer_Encoding="chunked")
    for piece in (content[:100_000], content[100_000:], b""):
        request.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")


def other_bytes(request, content):
    whole(request, bytes(255 - byte for byte in content))


def status(code, **headers):
    return lambda request, content: request.head(code, **headers)


def hangs(after):
    """Send the first `after` bytes, and nothing more until the server ends."""

    def answer(request, content):
        sends(max(0, after - request.start))(request, content)
        request.wfile.flush()
        request.site.closed.wait(120)

    return answer


@contextmanager
def serving():
    handler = type("SiteHandler", (Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    site = Site(f"http://127.0.0.1:{server.server_address[1]}")
    handler.site = site
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.closed.set()
        server.shutdown()
        server.server_close()
        thread.join()
