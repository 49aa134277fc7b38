"""`calque new`: create a starter file from `experiments.templates`, or copy the lesson."""

import json
import keyword
import re
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from calque.derive.errors import BadInput, shown, unknown
from calque.derive.files import check_name, whole_file
from calque.derive.fingerprint import NOT_OWN

HERE = Path(__file__).parents[1]
TEMPLATES = {path.stem.removeprefix("my_"): path for path in sorted(HERE.glob("templates/my_*.py"))}
LESSON = HERE / "lessons"
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)  # a code cell in lesson.md
KINDS = (*TEMPLATES, "lesson")


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
    """Generate a minimal study, objective, task or transform, or copy the lesson.

    The file is NAME.py; the lesson is copied to the folder NAME."""
    if kind == "lesson":
        check_name(name, "a folder named")
        sheet = (LESSON / "sheet.pdf").read_bytes()
        contents = {to / name / "lesson.ipynb": lesson_notebook().encode(), to / name / "sheet.pdf": sheet}
        command = f"cd {quote(str(to / name))} && calque run lesson"
    else:
        _check_new_name(kind, name)
        contents = {to / f"{name}.py": _filled_template(kind, name).encode()}
        command = f"calque plan {quote(f'{to / name}.py')}"
    for path in contents:
        if path.exists():
            raise BadInput("already exists; choose another name, or another folder with --to", path)
    for path, content in contents.items():
        with whole_file(path) as part:
            part.write_bytes(content)
        typer.echo(path)
    typer.echo(f"next: {command}")


def lesson_notebook() -> str:
    """Return lesson.md as a notebook, whose code cells are the blocks of Python."""
    cells = list[dict[str, Any]]()
    for number, part in enumerate(CODE.split((LESSON / "lesson.md").read_text(encoding="utf-8"))):
        if source := part.strip():
            code: dict[str, Any] = {"execution_count": None, "outputs": []} if number % 2 else {}
            kind = "code" if code else "markdown"
            cells.append({"cell_type": kind, "id": f"{number}", "metadata": {}, "source": source} | code)
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def _filled_template(kind: str, name: str) -> str:
    template, words = f"my_{kind}", [word for word in name.split("_") if word]
    replaced = {
        template: name,
        template.replace("_", "-"): "-".join(words),
        template.replace("_", "-").upper(): "-".join(words).upper(),
        template.replace("_", " ").capitalize(): " ".join(words).capitalize(),
        template.title().replace("_", ""): "".join(word[0].upper() + word[1:] for word in words),
    }
    text = TEMPLATES[kind].read_text(encoding="utf-8")
    return re.sub("|".join(replaced), lambda match: replaced[match[0]], text)


def _check_new_name(kind: str, name: str) -> None:
    if kind not in KINDS:
        raise BadInput(unknown("kind of part", kind, KINDS))
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        expected = "expected a lower-case letter, then letters, digits and _, as in swap_words"
        raise BadInput(f"{shown(name)} cannot be the name of a {kind}; {expected}")
    if name in NOT_OWN or find_spec(name) or _is_known(kind, name):
        raise BadInput(f"there is already a {kind} or Python module named {name}; choose another name")


def _is_known(kind: str, name: str) -> bool:
    from calque.analysis.tasks.catalogue import TASKS
    from calque.derive.transforms import transform
    from calque.experiments.settings.catalogue import studies
    from calque.pretrain.objectives import parse

    part = name.replace("_", "-")
    with suppress(BadInput):
        if kind == "transform":
            return bool(transform(part))
        if kind == "objective":
            return bool(parse(part.upper()))
    return name in {"study": studies(), "task": TASKS}.get(kind, ())
