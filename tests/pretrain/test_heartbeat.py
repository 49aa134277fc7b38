"""Processes that ask for one another, over real sockets; here they are several in one process."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from pretrain import distributed
from pretrain.distributed import HERE, LEFT, LOST, QUESTION, Heartbeat

HOST = "127.0.0.1"


@pytest.fixture
def four(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Heartbeat]]:
    monkeypatch.setattr(distributed, "SOON", 0.5)
    heartbeats = [Heartbeat(HOST) for _ in range(4)]
    for rank, one in enumerate(heartbeats):
        one.meet(rank, [other.address for other in heartbeats])
    yield heartbeats
    for one in heartbeats:
        one.leave()


def kill(one: Heartbeat) -> None:
    """What is left of a process that is killed: nobody at its address."""
    one._server.shutdown(socket.SHUT_RDWR)
    one._server.close()


def test_who_lives_answers_and_who_is_killed_or_leaves_is_named(four: list[Heartbeat]) -> None:
    first, second, third, fourth = four
    assert [first.ask(rank) for rank in (1, 2, 3)] == [HERE] * 3
    assert first.lost() == "a message between processes was lost"  # all four are there
    kill(third)
    assert first.ask(2) == LOST
    assert first.lost() == fourth.lost() == "of 4 processes, rank 2 is lost"
    fourth.leave()
    assert first.ask(3) == second.ask(3) == LEFT
    assert first.lost() == "of 4 processes, rank 2 is lost and rank 3 is gone after an error"
    kill(second)
    assert first.lost() == "of 4 processes, ranks 1, 2 are lost and rank 3 is gone after an error"


def test_a_process_that_is_stopped_is_missed_after_a_while() -> None:
    """Its system takes the question, and nobody answers it."""
    with socket.create_server((HOST, 0)) as stopped:
        one = Heartbeat(HOST)
        one.meet(0, [one.address, stopped.getsockname()])
        assert one.ask(1, seconds=0.2) == LOST


@pytest.mark.parametrize("said", [b"", b"left", b"left x", b"\xff\xfe", b"left 1" * 50])
def test_what_strangers_say_changes_nothing(four: list[Heartbeat], said: bytes) -> None:
    with socket.create_connection(four[0].address) as stranger:
        stranger.sendall(said)
        with suppress(OSError):  # it says more than is read, and may have been left already
            stranger.shutdown(socket.SHUT_WR)
    assert distributed._say(four[0].address, QUESTION, 5.0) == HERE
    assert [four[0].ask(rank) for rank in (1, 2, 3)] == [HERE] * 3


def test_processes_meet_at_addresses_of_either_kind() -> None:
    try:
        meeting = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this system has no IPv6")
    with meeting, socket.create_connection(meeting.getsockname()[:2]) as way:
        one, other = (Heartbeat(way.getsockname()[0], way.family) for _ in range(2))
    for rank, heartbeat_ in enumerate((one, other)):
        heartbeat_.meet(rank, [one.address, other.address])
    assert one.ask(1) == HERE
    other.leave()
    assert one.ask(1) == LEFT
    one.leave()


def test_who_says_nothing_keeps_nobody_from_an_answer() -> None:
    """A stranger holds its connection open, and the next question is answered well within its time."""
    here, one = Heartbeat(HOST), Heartbeat(HOST)
    one.meet(0, [one.address, here.address])
    with socket.create_connection(here.address):
        assert one.ask(1, seconds=distributed.SOON / 2) == HERE
    here.leave()
    one.leave()
