import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "calque"
OURS = "calque."
PACKAGES = ["derive", "pretrain", "analysis", "experiments"]
ANALYSIS = """
statistics.py verdicts.py records tasks aligners.py measures checkpoint.py looking.py results.py report papers
"""
ORDERS = {ROOT: PACKAGES, ROOT / "analysis": ANALYSIS.split()}
FILES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
FOLDERS = sorted({path.parent for path in FILES})


def name(path):
    return path.relative_to(ROOT).as_posix()


@cache
def imported(path):
    """The full names of everything that a file imports, including imports within functions and for type
    checkers."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.removeprefix(OURS) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, (
                f"{name(path)}, line {node.lineno}: name what is imported in full"
            )
            found |= {f"{node.module}.{alias.name}".removeprefix(OURS) for alias in node.names}
    return frozenset(found)


def packages(path):
    return {full.partition(".")[0] for full in imported(path)}


@cache
def needed(path):
    return {file for full in imported(path) if (file := _file(full))}


@cache
def _file(full):
    stem = ROOT.joinpath(*full.split("."))
    for file in (stem.with_suffix(".py"), stem / "__init__.py"):
        if file.is_file():
            return file
    above = full.rpartition(".")[0]
    return _file(above) if above else None


def circle(folder, needs):
    """Return a circle of imports among the files and subfolders of a folder, or an empty list. An import by a
    file counts for its subfolder. `needs` maps each file to the files that it imports."""
    imports = {}
    for path, others in needs.items():
        for other in sorted(others):
            if folder in path.parents and folder in other.parents:
                step = path.relative_to(folder).parts[0], other.relative_to(folder).parts[0]
                imports.setdefault(step, f"{name(path)} imports {name(other)}")
    graph = {}
    for one, other in imports:
        if one != other:
            graph.setdefault(one, set()).add(other)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [imports[step] for step in pairwise(reversed(error.args[1]))]
    return []


@pytest.mark.parametrize("folder", ORDERS, ids=name)
def test_imports_point_leftwards(folder):
    rank = {room: place for place, room in enumerate(["__init__.py", *ORDERS[folder]])}

    def place(path):
        return rank[path.relative_to(folder).parts[0]]

    inside = {path: needed(path) for path in FILES if folder in path.parents}
    rightwards = [
        f"{name(path)} imports {name(other)}"
        for path, others in inside.items()
        for other in others & inside.keys()
        if place(other) > place(path)
    ]
    assert not rightwards


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_no_imports_lead_in_a_circle(folder):
    found = circle(folder, {path: needed(path) for path in FILES})
    assert not found, "\n".join(["imports in a circle:", *found])


def test_derive_needs_no_torch():
    heavy = {"torch", "transformers"}
    assert not [path for path in FILES if "derive" in path.parts and packages(path) & heavy]


@pytest.mark.parametrize(
    ("thing", "file"),
    [
        ("image.npy", "derive/languages.py"),
        ("dictionary.tsv", "derive/languages.py"),
        ('/ "vocabulary"', None),
        ("torch.distributed", "pretrain/distributed.py"),
        ("attention.self", "pretrain/model.py"),
        ("lm_head", "pretrain/model.py"),
        ("token_type_embeddings", "pretrain/model.py"),
        ("AutoModel.from_pretrained", None),
        ("trust_remote_code", "pretrain/saved_model.py"),
        ("import requests", "experiments/data/fetch.py"),
        ("tomllib", "derive/files.py"),
    ],
)
def test_foreign_things_are_touched_in_one_file(thing, file):
    users = [path for path in FILES if thing in path.read_text()]
    assert [name(path) for path in users] == (file.split() if file else [])


def test_every_folder_with_code_is_a_package():
    assert {path.name for path in ROOT.iterdir() if path.is_dir()} - {"__pycache__"} == {*PACKAGES}
    assert all((folder / "__init__.py").is_file() for folder in FOLDERS)
