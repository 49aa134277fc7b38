"""`calque new`: create a starter file from `experiments.templates`, or copy the lesson."""

import keyword
import re
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from calque.derive.errors import BadInput, shown, unknown
from calque.derive.files import check_name, whole_file
from calque.derive.fingerprint import NOT_OWN
from calque.experiments.lessons import copy

TEMPLATES = Path(__file__).parents[1] / "templates"
LESSON = "lesson"
PARTS = tuple(sorted(path.stem.removeprefix("my_") for path in TEMPLATES.glob("my_*.py")))
KINDS = (*PARTS, LESSON)
LONGEST = 32  # maximum number of letters in a name


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

    The file is NAME.py; the lesson is copied to the folder NAME. None of the files may exist yet."""
    if kind == LESSON:
        check_name(name, "a folder named")
        paths, command = copy(to / name), f"cd {quote(str(to / name))} && calque run lesson"
    else:
        _check_new_name(kind, name)
        path = to / f"{name}.py"
        if path.exists():
            raise BadInput("already exists; choose another name, or another folder with --to", path)
        with whole_file(path) as part:
            part.write_text(_filled_template(kind, name), encoding="utf-8", newline="\n")
        paths, command = [path], f"calque plan {quote(str(path))}"
    for path in paths:
        typer.echo(path)
    typer.echo(f"next: {command}")


def _filled_template(kind: str, name: str) -> str:
    template, words = f"my_{kind}", [word for word in name.split("_") if word]
    replaced = {
        template: name,
        template.replace("_", "-"): "-".join(words),
        template.replace("_", "-").upper(): "-".join(words).upper(),
        template.replace("_", " ").capitalize(): " ".join(words).capitalize(),
        template.title().replace("_", ""): "".join(word[0].upper() + word[1:] for word in words),
    }
    text = (TEMPLATES / f"{template}.py").read_text(encoding="utf-8")
    return re.sub("|".join(map(re.escape, replaced)), lambda match: replaced[match[0]], text)


def _check_new_name(kind: str, name: str) -> None:
    """Raise BadInput for names that Python cannot import or that are taken."""
    if kind not in KINDS:
        raise BadInput(unknown("kind of part", kind, KINDS))
    valid = re.fullmatch(rf"[a-z][a-z0-9_]{{0,{LONGEST - 1}}}", name) and "__" not in name
    if not valid or keyword.iskeyword(name):
        expected = f"a lower-case letter, then at most {LONGEST - 1} letters, digits and _, as in swap_words"
        raise BadInput(f"{shown(name)} cannot be the name of a {kind}; expected {expected}")
    if name in NOT_OWN or find_spec(name):
        raise BadInput(f"there is already a Python module named {name}; choose another name")
    if _is_known(kind, name):
        raise BadInput(f"the {kind} {name} already exists in Calque; choose another name")


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
