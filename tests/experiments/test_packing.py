"""Packing: never above what a card has, every step in its turn, and as many at once as fit."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from random import Random

import torch
from hypothesis import given
from hypothesis import strategies as st

from experiments.models import CONTEXT
from experiments.schedule import Room, card_room
from experiments.study import Study
from tests.experiments.conftest import Done

TAKES = st.lists(st.one_of(st.none(), st.just(0.0), st.floats(0.1, 150)), max_size=9)
ROOMS = st.floats(1, 200).map(Room)


def fits(taken: list[float | None], room: Room) -> bool:
    """Whether steps may share a card: those that use it are one, or known to fit."""
    there = [each for each in taken if each != 0]
    return len(there) < 2 or (None not in there and sum(each or 0.0 for each in there) <= room.bytes)


def scheduled(takes: list[float | None], room: Room, most: int, random: Random) -> list[list[int]]:
    """What is under way after each step that begins, when steps end in any order, as the pool has it."""
    waiting, under_way, seen = list(range(len(takes))), list[int](), list[list[int]]()
    while waiting or under_way:
        while waiting and len(under_way) < most and room.admits([takes[i] for i in under_way], takes[waiting[0]]):
            under_way.append(waiting.pop(0))
            seen.append(sorted(under_way))
        under_way.remove(random.choice(under_way))
    return seen


@given(TAKES, ROOMS, st.integers(1, 5), st.randoms(use_true_random=False))
def test_never_above_the_room_all_in_their_order(
    takes: list[float | None], room: Room, most: int, random: Random
) -> None:
    seen = scheduled(takes, room, most, random)
    assert [max(under_way) for under_way in seen] == list(range(len(takes)))  # each begins, none passes another
    for under_way in seen:
        assert len(under_way) <= most
        assert fits([takes[i] for i in under_way], room)
    assert max(map(len, seen), default=0) <= room.at_once(takes)


@given(st.lists(st.one_of(st.none(), st.just(0.0), st.integers(1, 150).map(float)), max_size=7), st.integers(1, 200))
def test_as_many_at_once_as_any_choice_of_steps(takes: list[float | None], size: int) -> None:
    room = Room(size)
    choices = (some for n in range(len(takes) + 1) for some in combinations(takes, n))
    assert room.at_once(takes) == max(len(some) for some in choices if fits(list(some), room))


def test_a_model_takes_its_own_and_a_process(tiny: Study) -> None:
    done = Done(Path(), tiny)
    model, *_ = done.models()
    card = model.training.cost().card
    takes = {name: step.card_bytes() for name, step in done.measures(model).items()}
    assert model.training.card_bytes() == CONTEXT + card.of(tiny.train.batch) == takes["alignment"]
    assert (takes["pos"] or 0) >= model.training.card_bytes()
    assert all(step.card_bytes() == 0 for step in (done.languages, done.examples["pos"], *tiny.floors(Path(), 0)))


def test_without_a_card_there_is_no_room() -> None:
    assert (card_room() is None) == (not torch.cuda.is_available())
