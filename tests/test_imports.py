"""Imports point one way: derive <- pretrain <- analysis <- experiments."""

import ast
from pathlib import Path

import pytest

ORDER = ["derive", "pretrain", "analysis", "experiments"]
ROOT = Path(__file__).parents[1]
FILES = [path for package in ORDER for path in sorted((ROOT / package).rglob("*.py"))]


def imported(path: Path) -> set[str]:
    """The top-level packages that a file imports anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_leftwards(path: Path) -> None:
    package = path.relative_to(ROOT).parts[0]
    right = set(ORDER[ORDER.index(package) + 1 :])
    assert not imported(path) & right


def test_derive_needs_no_torch() -> None:
    """Deriving a language is text and NumPy; its workers start in a blink."""
    heavy = {"torch", "transformers"}
    assert not [path for path in FILES if "derive" in path.parts and imported(path) & heavy]


@pytest.mark.parametrize(
    ("thing", "file"),
    [
        ("image.npy", "derive/languages.py"),
        ("dictionary.tsv", "derive/languages.py"),
        ('/ "vocabulary"', None),
        ("torch.distributed", "pretrain/distributed.py"),
        ("attention.self", "pretrain/architecture.py"),
        ("lm_head", "pretrain/architecture.py"),
        ("token_type_embeddings", "pretrain/architecture.py"),
        ("huggingface_hub", "pretrain/hub.py"),
        ("AutoModel.from_pretrained", None),
        ("trust_remote_code", "pretrain/saved_model.py"),
        ("sentencepiece", "analysis/aligners/subwords.py"),
    ],
)
def test_foreign_things_are_touched_in_one_file(thing: str, file: str | None) -> None:
    users = [path for path in FILES if thing in path.read_text(encoding="utf-8")]
    assert [str(path.relative_to(ROOT)) for path in users] == ([file] if file else [])
