"""A download that resumes: bytes grow in a `.part` file, through broken connections and killed processes."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from derive.errors import BadInput
from derive.files import make_folder, sha256, writing
from experiments.data.recipe import Download
from experiments.data.request import Answer, Passing, ask
from experiments.data.store import LOCK


@dataclass(frozen=True)
class Patience:
    """How long a server is waited for.

    `tries` in a row may bring nothing new; between them `pause` seconds pass, doubled each time, or what the server
    asks for, up to `longest`. `timeout` in seconds is how long no byte may come; over each `span` seconds, `slowest`
    bytes a second must.
    """

    tries: int = 5
    pause: float = 1.0
    longest: float = 300.0
    timeout: float = 30.0
    span: float = 60.0
    slowest: int = 1_000


class Stopped(Exception):
    """The downloads were asked to stop."""


@dataclass
class Fetching:
    """One download on its way into the file `part`; beside it stands which version of the file it is a part of.

    `report(done, of)` hears of bytes; `of` is 0 while nobody has said how many there are.
    """

    download: Download
    part: Path
    patience: Patience
    stop: Event
    report: Callable[[int, int], None]
    known: str = ""
    _spliced: bool = field(default=False, init=False)
    _again: bool = field(default=False, init=False)

    def run(self) -> str:
        """Complete the part, check it, and return its SHA-256.

        Raises:
            BadInput: no address gives the file, or what it gives is not the file that the recipe describes; then
                nothing of it stays.
            Stopped: `stop` was set; the part stays.
        """
        make_folder(self.part.parent)
        refused = []
        for url in (self.download.url, *self.download.mirrors):
            try:
                return self._fetched(url)
            except BadInput as error:
                refused.append(str(error))
        raise BadInput("; ".join(refused))

    def _fetched(self, url: str) -> str:
        while True:
            self._complete(url)
            whole_at_once = not self._spliced
            try:
                return self._digest(url)
            except BadInput:
                self.discard()
                if whole_at_once or self._again:
                    raise
            self._again = True  # its beginning may have been that of another file

    def _complete(self, url: str) -> None:
        failures, furthest, patience = 0, self._size(), self.patience
        while True:
            try:
                self._ask(url)
                return
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
                if self.stop.wait(pause):
                    raise Stopped from None

    def _ask(self, url: str) -> None:
        """Ask once for what is missing, and write what comes."""
        start, version = self._size(), self._version(url)
        if start and not (version or self.download.sha256 or self.known):
            start = 0  # nothing could tell whether the rest is that of the same file
        if start and start == self.download.bytes:
            self._spliced = True  # of pieces that nobody saw come
            return
        with ask(url, start, version, self.patience.timeout) as answer:
            if answer.start and version and answer.version not in ("", version):
                raise Passing("the file changed in between", anew=True)
            expected = self.download.bytes
            if expected and answer.total not in (-1, expected):
                self.discard()
                raise BadInput(f"its server has {answer.total:,} bytes of it; the recipe says {expected:,}", url)
            self._note(url, answer.version)
            self._write(answer, url)

    def _write(self, answer: Answer, url: str) -> None:
        done, expected, patience = answer.start, self.download.bytes, self.patience
        self._spliced = done > 0
        before, began = done, time.monotonic()
        with writing(self.part), self.part.open("r+b" if done else "wb") as file:
            file.truncate(done)
            file.seek(done)
            for block in answer.blocks():
                file.write(block)
                done += len(block)
                if expected and done > expected:
                    self.discard()
                    raise BadInput(f"its server sends more than the {expected:,} bytes that the recipe says", url)
                self.report(done, expected or max(answer.total, 0))
                if self.stop.is_set():
                    raise Stopped
                if (seconds := time.monotonic() - began) >= patience.span:
                    if done - before < patience.slowest * seconds:
                        raise BadInput(f"its server sends fewer than {patience.slowest:,} bytes a second", url)
                    before, began = done, time.monotonic()
            if done < answer.total:
                raise Passing(f"its server sent {done:,} bytes of {answer.total:,}")

    def _digest(self, url: str) -> str:
        """The digest of the finished part, if it is the one that is expected."""
        size, expected = self._size(), self.download.bytes
        if expected and size != expected:
            raise BadInput(f"{size:,} bytes came; the recipe says {expected:,}", url)
        found, wanted = sha256(self.part), self.download.sha256 or self.known
        if wanted and found != wanted:
            says = "the recipe says" if self.download.sha256 else f"when it was fetched first, {LOCK} says, it was"
            raise BadInput(f"another file than expected: its SHA-256 is {found}; {says} {wanted}", url)
        return found

    def discard(self) -> None:
        """Remove the part."""
        self.part.unlink(missing_ok=True)
        self._beside.unlink(missing_ok=True)

    @property
    def _beside(self) -> Path:
        return self.part.with_suffix(".version")

    def _size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _version(self, url: str) -> str:
        """The version that the part is of; empty if it is none of this address, or none is known."""
        try:
            noted = json.loads(self._beside.read_text(encoding="utf-8"))
            return str(noted["version"]) if noted["url"] == url else ""
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def _note(self, url: str, version: str) -> None:
        self._beside.write_text(json.dumps({"url": url, "version": version}), encoding="utf-8")


def part_name(download: Download) -> str:
    """The name of a download's part: another for every address."""
    return f"{hashlib.sha256(download.url.encode()).hexdigest()[:16]}.part"
