"""Signs of life, over a store as torchrun keeps one. The processes are threads of this one, and quicker than in use."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from torch.distributed import TCPStore

from pretrain import pulse
from pretrain.pulse import Pulse


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[TCPStore]:
    monkeypatch.setattr(pulse, "BEAT", 0.02)
    monkeypatch.setattr(pulse, "SILENT", 0.5)
    monkeypatch.delenv("TORCHELASTIC_USE_AGENT_STORE", raising=False)
    yield TCPStore("127.0.0.1", 0, is_master=True, timeout=timedelta(seconds=5))


def another(store: TCPStore) -> TCPStore:
    """The store as another process reaches it."""
    return TCPStore("127.0.0.1", store.port, is_master=False, timeout=timedelta(seconds=5))


def stop(one: Pulse) -> None:
    """What a process that is killed leaves: no sign any more."""
    one._over.set()
    one._thread.join()


def test_who_lives_is_heard_and_who_is_killed_or_leaves_is_named(store: TCPStore) -> None:
    pulses = [Pulse(another(store), rank, 4) for rank in range(4)]
    try:
        assert pulses[0].lost() == "a message between processes was lost"  # all four give signs of life
        stop(pulses[2])
        assert pulses[0].lost() == "of 4 processes, rank 2 is lost"
        pulses[3].leave()
        assert pulses[0].silence(3) == math.inf
        assert pulses[0].lost() == "of 4 processes, rank 2 is lost and rank 3 is gone after an error"
        stop(pulses[1])
        assert pulses[0].lost() == "of 4 processes, ranks 1, 2 are lost and rank 3 is gone after an error"
    finally:
        pulses[0].leave()


def test_silence_is_counted_from_the_last_sign(store: TCPStore) -> None:
    one, other = (Pulse(another(store), rank, 2) for rank in range(2))
    try:
        one.silence(1)
        time.sleep(0.2)
        assert one.silence(1) < 0.1
        stop(other)
        one.silence(1)
        time.sleep(0.2)
        assert 0.2 <= one.silence(1) < 5
    finally:
        one.leave()


@pytest.mark.parametrize(("agent", "keeper"), [("", "rank 0"), ("True", "torchrun")])
def test_who_keeps_the_store_is_missed_too(
    store: TCPStore, agent: str, keeper: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHELASTIC_USE_AGENT_STORE", agent)

    class Gone:
        """Where a store was."""

        host, port = "127.0.0.1", 1

        def set(self, key: str, text: str) -> None:
            """Before it went."""

    lost = Pulse(Gone(), 1, 2)
    assert lost.lost() == f"of 2 processes, {keeper} is lost"
    lost.leave()
