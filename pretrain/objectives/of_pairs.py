"""What objectives that learn from pairs of sentences alone have in common."""

from __future__ import annotations

from typing import ClassVar

from pretrain.objective import GOLD, Linked, Objective

USUAL = 0.25
"""The share of the sentences that is parallel, where a name says none (ALIGN-MLM, Tables 1 and 6)."""


class OfPairs(Objective):
    """It reads a fraction of the parallel sentences, and no text beside them.

    Raises:
        ValueError: the fraction is not above 0 and up to 1.
    """

    parallel_fraction: float

    def __post_init__(self) -> None:
        if not 0 < (share := self.parallel_fraction) <= 1:
            raise ValueError(f"parallel_fraction is a fraction of the corpus, above 0 and up to 1, not {share}")

    @property
    def parallel_share(self) -> float:
        return self.parallel_fraction

    @property
    def reads_text(self) -> bool:
        return False


class OfLinkedPairs(OfPairs):
    """It learns from links of the pairs' words, with a `weight` for one of its losses.

    Attributes:
        stem: what its name begins with.
        known_as: what its title begins with.
    """

    stem: ClassVar[str]
    known_as: ClassVar[str]
    weight: float
    links: Linked

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.weight > 0:
            raise ValueError(f"weight is above 0, not {self.weight}")

    @property
    def name(self) -> str:
        fraction = "" if self.parallel_fraction == USUAL else f"-{self.parallel_fraction * 100:g}"
        return f"{self.stem}{fraction}{'-gold' if self.links == GOLD else ''}"

    @property
    def title(self) -> str:
        fraction = "" if self.parallel_fraction == USUAL else f", {self.parallel_fraction * 100:g} % parallel"
        return f"{self.known_as}{fraction}{', gold links' if self.links == GOLD else ''}"

    @property
    def asked_links(self) -> Linked:
        return self.links
