"""Small changes of a source that its tests should notice: a comparison, a sign, a constant, a condition, a call."""

import ast
import copy
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
COMMUTE = frozenset(
    "spearman min max minimum maximum gcd isclose allclose equal array_equal convolve hypot transpose swapaxes".split()
)
"""Functions that take their two arguments in either order: to exchange them changes nothing."""
TELLS = frozenset({"progress", "report", "warn", "filterwarnings", "simplefilter"})
"""Functions that tell progress and warnings, which no result depends on."""
LOOKS = "figsize linewidth linewidths elinewidth markersize s alpha dpi fontsize pad labelpad rotation zorder capsize"
UNSEEN = frozenset({"strict", "maxsize", "handlelength", *LOOKS.split()})
"""Named arguments whose values no test should fix: the size of a cache is not behaviour, and an eye judges looks."""
Change = Callable[[ast.AST], None]
Site = tuple[int, int]
"""The number of a node of a source's tree, and which of its changes is meant."""


@dataclass(frozen=True)
class Mutant:
    """A changed source: what stands there now, in which line, and what stood there before."""

    path: Path
    line: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before}  ->  {self.after}"


def sites(source: str) -> dict[Site, str]:
    """Where a source can be changed, in the order of its nodes, and the change in words, no two of them the same.

    Annotations, docstrings, messages, progress and appearance are left alone: see `_code`.
    """
    tree = ast.parse(source)
    running = {id(node) for node in _code(tree)}
    found: dict[Site, str] = {}
    seen: Counter[str] = Counter()
    for number, node in enumerate(ast.walk(tree)):
        if id(node) not in running:
            continue
        for kind in range(len(list(_changes(node)))):
            changed = copy.deepcopy(node)
            list(_changes(changed))[kind](changed)
            words = f"{ast.unparse(node)} -> {ast.unparse(changed)}"
            seen[words] += 1
            found[number, kind] = f"{words} ({seen[words]})"
    return found


def mutant(path: Path, source: str, site: Site) -> Mutant:
    """The source with the change of one of its sites."""
    tree = ast.parse(source)
    node = list(ast.walk(tree))[site[0]]
    assert isinstance(node, ast.stmt | ast.expr)
    before = ast.unparse(node)
    list(_changes(node))[site[1]](node)
    after = ast.unparse(ast.fix_missing_locations(node))
    text = ast.unparse(ast.fix_missing_locations(tree))
    return Mutant(path, node.lineno, before.split("\n")[0], after.split("\n")[0], text)


def _code(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when tests do and that decide what is computed.

    Left out are annotations, decorators (the size of a cache is no behaviour), docstrings, messages, what tells
    progress, what runs only as a script, checks that only a defect elsewhere can fail (`strict`), and how a figure
    looks apart from what it shows.
    """
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.Raise | ast.JoinedStr | ast.expr_context):
                continue
            if isinstance(node, ast.Expr) and (isinstance(node.value, ast.Constant) or _tells(node.value)):
                continue
            if isinstance(node, ast.If) and any(
                name in ast.unparse(node.test) for name in ("TYPE_CHECKING", "__name__")
            ):
                continue
            if isinstance(node, ast.keyword) and node.arg in UNSEEN:
                continue
            yield node
            yield from _code(node)


def _tells(node: ast.AST) -> bool:
    """Whether a statement is a call that only tells somebody something."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in TELLS


def _changes(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            yield _compare(place, COMPARISONS[type(operator)])
    elif isinstance(node, ast.BoolOp):
        yield _set("op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATORS:
        yield _set("op", OPERATORS[type(node.op)]())
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield _set("value", (not node.value) if isinstance(node.value, bool) else node.value + 1)
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield _negate
    elif isinstance(node, ast.Continue | ast.Break):
        yield _turn
    elif isinstance(node, ast.Call) and len(node.args) == 2 and not any(isinstance(a, ast.Starred) for a in node.args):
        alike = ast.unparse(node.args[0]) == ast.unparse(node.args[1])
        if not alike and ast.unparse(node.func).rpartition(".")[2] not in COMMUTE:
            yield _exchange
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield _set("value", ast.Constant(None))


def _compare(place: int, operator: type[ast.cmpop]) -> Change:
    def change(node: ast.AST) -> None:
        assert isinstance(node, ast.Compare)
        node.ops[place] = operator()

    return change


def _set(field: str, value: object) -> Change:
    return lambda node: setattr(node, field, value)


def _negate(node: ast.AST) -> None:
    assert isinstance(node, ast.If | ast.IfExp | ast.While)
    node.test = ast.UnaryOp(ast.Not(), node.test)


def _turn(node: ast.AST) -> None:
    node.__class__ = ast.Break if isinstance(node, ast.Continue) else ast.Continue


def _exchange(node: ast.AST) -> None:
    assert isinstance(node, ast.Call)
    node.args.reverse()
