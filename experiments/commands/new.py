"""`calque new`: a starter file with its test, from `experiments.templates`, or the lesson."""

import keyword
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from calque.derive.errors import BadInput, shown, unknown
from calque.derive.files import check_name, whole_file
from calque.derive.fingerprint import PACKAGE
from calque.experiments.lessons import copy

TEMPLATES = Path(__file__).parents[1] / "templates"
LESSON = "lesson"
PARTS = tuple(sorted(path.stem.removeprefix("my_") for path in TEMPLATES.glob("my_*.py")))
KINDS = (*PARTS, LESSON)
LONGEST = 32  # maximum letters in a name


def new(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"One of {', '.join(KINDS)}.")],
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="The name of the part and its file, or of the lesson's folder."),
    ],
    to: Annotated[
        Path, typer.Option(metavar="DIR", file_okay=False, help="The folder for the files.")
    ] = Path(),
) -> None:
    """Write a minimal part to adapt, with its test, or copy the lesson.

    The files are NAME.py and test_NAME.py, or the folder NAME for the lesson; none may exist yet.
    """
    for path in write_new(kind, name, to):
        typer.echo(path)


def new_files(kind: str, name: str) -> dict[str, str]:
    """Return the contents of a new part's files, keyed by file name."""
    own = f"my_{kind}"
    words = [word for word in name.split("_") if word]
    replaced = {
        f"calque.experiments.templates.{own}": name,
        own: name,
        own.replace("_", "-"): "-".join(words),
        own.replace("_", "-").upper(): "-".join(words).upper(),
        own.replace("_", " ").capitalize(): " ".join(words).capitalize(),
        own.title().replace("_", ""): "".join(word[0].upper() + word[1:] for word in words),
    }
    pattern = re.compile("|".join(map(re.escape, replaced)))
    return {
        path.name.replace(own, name): pattern.sub(
            lambda match: replaced[match[0]], path.read_text(encoding="utf-8")
        )
        for path in sorted(TEMPLATES.glob(f"*{own}.*"))
    }


def write_new(kind: str, name: str, folder: Path) -> list[Path]:
    """Write a new part's files into a folder, or copy the lesson into a new one, and return their paths.
    Raises BadInput if the name is invalid or taken, or if a file exists."""
    if kind == LESSON:
        check_name(name, "a folder named")
        return copy(folder / name)
    check_new_name(kind, name, folder)
    files = {folder / file: text for file, text in new_files(kind, name).items()}
    if there := [path for path in files if path.exists() or path.is_symlink()]:
        raise BadInput("already exists; choose another name, or another folder with --to", there[0])
    for path, text in files.items():
        with whole_file(path) as part:
            part.write_text(text, encoding="utf-8", newline="\n")
    return list(files)


def check_new_name(kind: str, name: str, folder: Path) -> None:
    """Raise BadInput if Python cannot import the name, or if Python, an installed library or Calque already
    uses it."""
    if kind not in KINDS:
        raise BadInput(unknown("kind of part", kind, KINDS))
    valid = re.fullmatch(rf"[a-z][a-z0-9_]{{0,{LONGEST - 1}}}", name) and "__" not in name
    if not valid or keyword.iskeyword(name):
        expected = f"a lower-case letter, then at most {LONGEST - 1} letters, digits and _, as in swap_words"
        raise BadInput(f"{shown(name)} cannot be the name of a {kind}; expected {expected}")
    if name.startswith("test_"):
        raise BadInput(f"pytest would take {name} for a test; leave out test_")
    if name in (PACKAGE, *sys.stdlib_module_names) or (
        (found := find_spec(name)) and _elsewhere(found.origin, folder)
    ):
        raise BadInput(f"there is already a Python module named {name}; choose another name")
    if _is_known(kind, name.replace("_", "-"), name):
        raise BadInput(f"the {kind} {name} already exists in Calque; choose another name")


def _elsewhere(origin: str | None, folder: Path) -> bool:
    """Whether a module is outside the folder, whose own files are reported separately."""
    return origin is None or Path(origin).resolve().parent != folder.resolve()


def _is_known(kind: str, part: str, name: str) -> bool:
    if kind == "study":
        from calque.experiments.settings.catalogue import studies

        return name in studies()
    if kind == "task":
        from calque.analysis.tasks.catalog import TASKS

        return name in TASKS
    from calque.derive.transforms import transform
    from calque.pretrain.objectives import parse

    try:
        return bool(transform(part) if kind == "transform" else parse(part.upper()))
    except BadInput:
        return False
