"""Fingerprints of a result's inputs: configs, files, and the code of classes defined outside Calque."""

import ast
import dataclasses
import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, reduce
from importlib.util import resolve_name
from operator import add
from pathlib import Path
from types import ModuleType
from typing import Any

from calque.derive.errors import BadInput

PACKAGE = "calque"
NOT_OWN = (PACKAGE, *sys.stdlib_module_names)  # packages whose code is never part of a fingerprint
NO_FILE = "no file"  # the digest of code without a file; changes to such code go undetected
ADDED = {"added": True}
"""Metadata for config fields that were added later, whose default value does not change fingerprints."""


def sha256(path: Path) -> str:
    """Return a file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def total(numbers: Iterable[float]) -> float:
    """Add numbers from left to right; from Python 3.12 on, `sum` rounds floats differently."""
    return reduce(add, numbers, 0.0)


def plain(value: Any) -> Any:
    """Convert a config to plain JSON values. Dataclasses become their class name, fields with `compare=True`,
    `former_fields` (removed fields, with their only remaining value) and digests of users' code."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        former = plain(dict(getattr(value, "former_fields", {})))
        content = {"kind": type(value).__name__, **former}
        for field in dataclasses.fields(value):
            setting = getattr(value, field.name)
            if field.compare and (field.metadata != ADDED or setting != field.default):
                content[field.name] = plain(setting)
        code = code_of(type(value))
        return content | ({"code": code} if code else {})
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def fingerprint(*values: Any) -> str:
    """Return twelve hexadecimal digits that change whenever one of the values changes."""
    text = json.dumps(plain(values), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def with_code(print_: str, value: Any) -> str:
    """Extend a fingerprint with the code of users' classes in `value`."""
    code = own_code(value)
    return fingerprint(print_, code) if code else print_


def code_of(kind: type) -> dict[str, str]:
    """Map the files outside Calque that define a class and its bases to their digests."""
    code: dict[str, str] = {}
    for name in dict.fromkeys(base.__module__ for base in kind.__mro__):
        if _top(name) not in NOT_OWN:
            code |= _code_of_module(sys.modules[name]) if name in sys.modules else {name: NO_FILE}
    return code


def own_code(value: Any) -> dict[str, str]:
    """Map the files that define the non-Calque classes in a value to their digests."""
    kind, parts, code = type(value), [], {}
    if isinstance(value, dict | list | tuple):
        parts = [*(value.values() if isinstance(value, dict) else value)]
    elif dataclasses.is_dataclass(kind):
        code, parts = code_of(kind), [getattr(value, field.name) for field in dataclasses.fields(kind)]
    elif any(_top(base.__module__) == PACKAGE for base in kind.__mro__):
        code = code_of(kind)
    for part in parts:
        code |= own_code(part)
    return code


def check_same(value: Any, code: Mapping[str, str]) -> None:
    """Raise BadInput if the code of classes in `value` differs from the parent process's `code`."""
    if changed := {name for name, _ in own_code(value).items() ^ code.items()}:
        raise BadInput("this file changed while the command was running; run the command again", min(changed))


def modules_of(name: str) -> list[ModuleType]:
    """Return a user's imported module, and the modules that it imports from its own folder."""
    module = sys.modules[name]
    root = Path(module.__file__ or "").resolve().parent
    files = {root / file for file in _code_of_module(module)}
    origins = [(loaded, getattr(loaded, "__file__", None)) for loaded in sys.modules.values()]
    return [loaded for loaded, origin in origins if origin and Path(origin).resolve() in files]


def has_changed(name: str) -> bool:
    """Whether a user's module, or one that it imports from its folder, has changed."""
    module = sys.modules.get(name)
    return module is not None and _code_of_module(module) != _code_of_module.__wrapped__(module)


@cache  # an imported module does not change within a process, even if its file does
def _code_of_module(module: ModuleType) -> dict[str, str]:
    name, origin = module.__name__, getattr(module, "__file__", None)
    if not origin:
        return {name: NO_FILE}
    file = Path(origin).resolve()
    if name in ("__main__", "__mp_main__"):
        name = module.__spec__.name if module.__spec__ else file.stem  # run with python -m, or as a script
    root = file.parents[name.count(".") + (file.name == "__init__.py")]
    files, stack = {file}, [(file, name)]
    while stack:
        for path, imported in _imported(*stack.pop(), root):
            installed = "site-packages" in root.parts and _top(imported) != _top(name)
            if path not in files and not installed and _top(imported) not in NOT_OWN:
                files.add(path)
                stack.append((path, imported))
    return {path.relative_to(root).as_posix(): sha256(path)[:12] for path in sorted(files)}


def _imported(file: Path, name: str, root: Path) -> Iterator[tuple[Path, str]]:
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):  # the module is compiled or broken
        return
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            with suppress(ImportError):  # a relative import beyond the top of the package
                module = resolve_name("." * node.level + (node.module or ""), package)
                names += [f"{module}.{alias.name}" for alias in node.names]  # may name a submodule or a class
    for parts in (dotted_name.split(".") for dotted_name in names):
        for depth in range(1, len(parts) + 1):
            place = root.joinpath(*parts[:depth])
            for path in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
                if path.is_file():
                    yield path, ".".join(parts[:depth])


def _top(name: str) -> str:
    return name.partition(".")[0]
