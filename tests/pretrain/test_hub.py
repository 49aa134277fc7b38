import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import huggingface_hub.constants
import pytest
from huggingface_hub.constants import HUGGINGFACE_HEADER_X_REPO_COMMIT

from calque.derive.errors import BadInput
from calque.pretrain.hub import model_folder
from tests.refusals import refusal

MODEL, COMMIT, OTHER = "someone/encoder", "0a" * 20, "0b" * 20
FILES = {
    "config.json": b"{}",
    "tokenizer.json": b'{"a": 1}',
    "model.safetensors": b"weights",
    "model.onnx": b"no",
}
CODES = {MODEL: 404, "someone/asks": 403, "someone/ill": 503}
ERRORS = {404: "RevisionNotFound", 403: "GatedRepo", 503: ""}


@dataclass
class Hub:
    """The requests to a Hub that has one model at one commit and sends `sends` bytes of a file."""

    url: str
    asked: list[str] = field(default_factory=list)
    sends: int = 99


@pytest.fixture
def offline(monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


def use(url, monkeypatch):
    """Redirect the Hub client, which reads HF_ENDPOINT only when it is imported."""
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", url)
    template = url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)


@pytest.fixture
def hub(monkeypatch):

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.partition("?")[0]
            made.asked.append(f"{self.command} {path}")
            if path == f"/api/models/{MODEL}/revision/{COMMIT}":
                self.reply(json.dumps({"id": MODEL, "sha": COMMIT}).encode())
            elif path == f"/api/models/{MODEL}/tree/{COMMIT}":
                listed = [{"type": "file", "path": p, "size": len(b), "oid": p} for p, b in FILES.items()]
                self.reply(json.dumps(listed).encode())
            elif path.startswith(f"/{MODEL}/resolve/{COMMIT}/"):
                self.reply(FILES[path.rpartition("/")[2]], made.sends)
            else:
                code = next((code for model, code in CODES.items() if f"/{model}/" in path), 401)
                self.send_response(code)
                self.send_header("X-Error-Code", ERRORS.get(code, "RepoNotFound"))
                self.end_headers()

        do_HEAD = do_GET

        def reply(self, body, sends=9999):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", f'"{len(body)}"')
            self.send_header(HUGGINGFACE_HEADER_X_REPO_COMMIT, COMMIT)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body[:sends])

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    made = Hub(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    use(made.url, monkeypatch)
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


def cached(cache):
    home = cache / "models--someone--encoder"
    (home / "refs").mkdir(parents=True)
    (home / "refs" / "main").write_text(COMMIT)
    snapshot = home / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    return snapshot


def test_name_finds_an_earlier_download(tmp_path, offline):
    snapshot = cached(tmp_path)
    found = model_folder(f"{MODEL}@{COMMIT}", tmp_path)
    assert (found / "config.json").samefile(snapshot / "config.json")


@pytest.mark.parametrize("revision", ["", "@", "@main", f"@{COMMIT[:12]}", f"@{COMMIT.upper()}"])
def test_name_without_commit_is_rejected(revision, tmp_path, hub):
    said = rf"there is no folder '{MODEL}{revision}'; .* add a revision: {MODEL}@ and a 40-digit commit hash"
    with pytest.raises(BadInput, match=f"{said}$"):
        model_folder(f"{MODEL}{revision}", tmp_path)
    cached(tmp_path)
    with pytest.raises(BadInput, match=f"{said}, such as the downloaded {MODEL}@{COMMIT}$"):
        model_folder(f"{MODEL}{revision}", tmp_path)
    assert not hub.asked


def test_only_needed_files_are_downloaded_once(tmp_path, hub):
    folder = model_folder(f"{MODEL}@{COMMIT}", tmp_path)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        name: body for name, body in FILES.items() if name != "model.onnx"
    }
    often = len(hub.asked)
    assert model_folder(f"{MODEL}@{COMMIT}", tmp_path) == folder
    assert len(hub.asked) == often


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (f"{MODEL}@{OTHER}", "Revision Not Found"),
        (f"someone/else@{COMMIT}", "Repository Not Found"),
        (f"someone/asks@{COMMIT}", "Cannot access gated repo"),
        (f"someone/ill@{COMMIT}", "503"),
    ],
)
def test_model_missing_from_the_hub_is_one_line(name, said, tmp_path, hub):
    message, model = refusal(model_folder, name, tmp_path), name.partition("@")[0]
    expected = f"there is no folder '{name}', and {model} cannot be downloaded from the Hub ({hub.url}): "
    assert message.startswith(expected) and said in message
