"""Dependency trees whose words have no order yet, and how a table of places gives them one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

Places = Mapping[str, int]
"""Where a dependent stands: before its head when negative, after it when positive, the further out the larger."""


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
    """A word and its dependents. `place` is its key in a table of places where the relation does not settle it.

    `entity` marks the words of a name with its label; two names of one label that touch in English are taken for one.
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


def linearise(root: Node, places: Places) -> tuple[list[Node], tuple[int, ...]]:
    """The nodes in order, and each one's head (the root's is -1). Projective by construction."""
    nodes: list[Node] = []
    parents: list[Node] = []

    def visit(node: Node, parent: Node) -> None:
        placed = sorted(node.dependents, key=lambda child: places[child.place or child.relation])
        before = sum(places[child.place or child.relation] < 0 for child in placed)
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
