"""Dependency trees whose words have no order yet, and the tables that give them one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

Order = Mapping[str, int]
"""Where a dependent stands: before its head when negative, after it when positive, the further out the larger."""

ENGLISH: Order = {
    "mark": -100, "cc": -95, "first": -90, "wh": -80, "front": -60, "nsubj": -50, "nsubj:pass": -50,
    "expl": -50, "helper": -40, "cop": -40, "not": -30, "often": -20, "aux:pass": -15,
    "case": -9, "det": -8, "nmod:poss": -8, "nummod": -7, "amod": -6, "degree": -5, "compound": -4,
    "clitic": 1, "flat": 1, "nmod": 10, "acl:relcl": 20, "there": 25, "iobj": 26, "obj": 27, "xcomp": 30,
    "advmod": 40, "obl:agent": 45, "obl": 50, "ccomp": 60, "advcl": 70, "conj": 80, "comma": 90, "punct": 100,
}  # fmt: skip
"""English. A sister language is another such table over the same trees: `amod` 5 puts adjectives after nouns."""


class Pick:
    """A word still to be drawn: from the words that its governor favours in one role (derive.pocket.preferences).

    A pick without governor is the member of the paragraph's cast whose number is `role`.
    """

    __slots__ = ("governor", "role")

    def __init__(self, governor: Pick | None, role: int) -> None:
        self.governor = governor
        self.role = role

    def form(self, index: int) -> Draw:
        """The form of that number, whichever word is drawn."""
        return Draw(self, index)


class Draw(NamedTuple):
    """One form of a word still to be drawn."""

    pick: Pick
    form: int


Token = str | Draw


class Word(Protocol):
    """Something that has forms: a word that is known already, or a pick."""

    def form(self, index: int) -> Token:
        """The form of that number."""


@dataclass(slots=True, eq=False)
class Node:
    """A word and its dependents. `place` is its key in an order table where the relation does not settle it.

    `entity` marks the words of a name with its label; two names of one label never touch.
    """

    word: Token
    tag: str
    relation: str
    dependents: list[Node] = field(default_factory=list)
    place: str = ""
    entity: str = ""

    def add(self, *nodes: Node) -> Node:
        """This node, with more dependents."""
        self.dependents.extend(nodes)
        return self


def linearise(root: Node, order: Order) -> tuple[list[Node], tuple[int, ...]]:
    """The nodes in order, and each one's head (the root's is -1). Projective by construction."""
    nodes: list[Node] = []
    parents: list[Node] = []

    def visit(node: Node, parent: Node) -> None:
        placed = sorted(node.dependents, key=lambda child: order[child.place or child.relation])
        before = sum(order[child.place or child.relation] < 0 for child in placed)
        for child in placed[:before]:
            visit(child, node)
        nodes.append(node)
        parents.append(parent)
        for child in placed[before:]:
            visit(child, node)

    visit(root, root)
    index = {id(node): i for i, node in enumerate(nodes)}
    return nodes, tuple(
        -1 if parent is node else index[id(parent)] for node, parent in zip(nodes, parents, strict=True)
    )
