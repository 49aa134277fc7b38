"""What a person sees: bars at a terminal, a line a finished thing elsewhere."""

import io
import queue
import re
import time

import pytest
from rich.console import Console

from calque.experiments import progress
from calque.experiments.progress import INTERVAL, Board, Throttled, board, drain
from tests.experiments.conftest import Heard


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a terminal would be sent."""
    text = io.StringIO()
    monkeypatch.setattr(progress, "console", Console(file=text, force_terminal=True, width=100))
    return text


def test_elsewhere_than_at_a_terminal_a_finished_thing_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with board() as drawn:
        for done in range(4):
            drawn.report("encoding", done, 3)
        drawn.report("half", 1, 2)
    assert re.fullmatch(r"encoding: \d+\.\d s\n", capsys.readouterr().out)


def test_at_a_terminal_there_is_a_bar(screen: io.StringIO) -> None:
    with board() as drawn:
        drawn.report("encoding", 1, 3)
        drawn.bars.refresh()
        assert "encoding" in screen.getvalue()
        assert "1/3" in screen.getvalue()
        drawn.report("encoding", 3, 3)
        assert not drawn.bars.tasks
    assert "encoding: 0.0 s" in screen.getvalue()


def test_a_thing_may_come_again() -> None:
    drawn = Board(quiet=True)
    for _ in range(2):
        drawn.report("x", 0, 1)
        drawn.report("x", 1, 1)
    assert not drawn.bars.tasks
    assert not drawn.started


def test_throttling_keeps_the_first_and_the_last() -> None:
    calls: list[tuple[str, int]] = []
    report = Throttled(lambda what, done, of: calls.append((what, done)))
    for done in range(1001):
        report("a", done, 1000)
        report("b", done, 1000)
    for what in "ab":
        steps = [done for name, done in calls if name == what]
        assert (steps[0], steps[-1]) == (0, 1000)
        assert len(steps) < 100


def test_draining_ends_though_others_never_stop() -> None:
    class Endless(queue.Queue[tuple[str, int, int]]):
        asked = 0

        def get(self, block: bool = True, timeout: float | None = None) -> tuple[str, int, int]:
            self.asked += 1
            time.sleep(INTERVAL / 20)
            return "x", 0, 1

    heard, endless = Heard(), Endless()
    drain(endless, heard)
    assert heard.begun == ["x"]
    assert 0 < endless.asked < 200  # 10 intervals' worth, where each takes as long as it should; fewer where it is slow


def test_draining_passes_on_everything_in_order() -> None:
    filled: queue.Queue[tuple[str, int, int]] = queue.Queue()
    for done in range(5):
        filled.put(("x", done, 4))
    got: list[int] = []
    drain(filled, lambda what, done, of: got.append(done))
    assert got == [0, 1, 2, 3, 4]
