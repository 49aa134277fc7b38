"""Runs on cards: laws of time, memory and micro-batches."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.errors import BadInput
from experiments.planning.cards import CARDS, Card, card
from experiments.planning.on_cards import USABLE, on_cards
from experiments.step import Cost
from pretrain.cost import CardBytes

CARD = CardBytes(fixed=16e8, row=2e8, logits=1e8, most=13e9)
COST = Cost(steps=10, parameters=10**8, flops=1e18, memory=0, batch=256, card=CARD)


def test_time_is_worked_out_by_hand() -> None:
    """10^18 operations on two A100 at 40 % of 312 TFLOP/s."""
    assert on_cards(COST, card("A100"), 2).seconds == pytest.approx(1e18 / (2 * 0.4 * 312e12))


@given(st.sampled_from(CARDS), st.integers(1, 128))
def test_twice_the_cards_take_half_the_time_and_no_more_memory(kind: Card, number: int) -> None:
    once, twice = on_cards(COST, kind, number), on_cards(COST, kind, 2 * number)
    assert twice.seconds == pytest.approx(once.seconds / 2)
    assert twice.micro_batches <= once.micro_batches


@given(st.sampled_from(CARDS), st.integers(1, 256), st.floats(1e6, 3e9))
def test_the_fewest_micro_batches_that_fit_are_taken(kind: Card, number: int, row: float) -> None:
    on_card = replace(CARD, row=row)
    made, room = on_cards(replace(COST, card=on_card), kind, number), USABLE * kind.memory
    rows = math.ceil(COST.batch / number)
    assert made.memory <= room
    if made.micro_batches > 1:
        assert on_card.of(math.ceil(rows / (made.micro_batches - 1))) > room


def test_a_model_that_does_not_fit_and_more_cards_than_rows_are_refused() -> None:
    with pytest.raises(BadInput, match="100 M parameters and a row of it do not fit on L40S"):
        on_cards(replace(COST, card=replace(CARD, fixed=48e9)), card("L40S"), 1)
    with pytest.raises(BadInput, match="257 cards for 256 rows a step"):
        on_cards(COST, card("L40S"), 257)
