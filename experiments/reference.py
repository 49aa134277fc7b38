"""The reference of the command line in Markdown, made of the commands themselves."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin


def reference(group: Any) -> list[str]:
    """The lines of a section for each command of a typer group, with a table of its arguments and options."""
    return [*_sections(group, "calque")][:-1]


def _sections(command: Any, name: str) -> Iterator[str]:
    children = getattr(command, "commands", {})
    for key, child in children.items():
        yield from _sections(child, f"{name} {key}")
    if children:
        return
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    arguments = [_argument(one) for one in shown if one.param_type_name == "argument"]
    options = ["[OPTIONS]"] if len(arguments) < len(shown) else []
    yield from [f"## {name}", "", " ".join((command.help or "").split()), ""]
    yield from ["```text", " ".join([name, *options, *arguments]), "```", ""]
    if shown:
        yield from ["| argument or option | meaning |", "|---|---|", *map(_row, shown), ""]


def _argument(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _row(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        name = f"`{_argument(parameter)}`"
    else:
        names = ", ".join([*parameter.opts, *parameter.secondary_opts])
        value = "" if parameter.is_flag else f" {_value(parameter)}"
        name = f"`{names}{value}`"
    notes = [parameter.help or ""]
    if parameter.default not in (None, False, ()) and not parameter.required:
        default = parameter.default
        notes.append(f"Default: `{' '.join(default) if isinstance(default, tuple) else default}`.")
    if parameter.envvar:
        notes.append(f"Environment: `{parameter.envvar}`.")
    meaning = " ".join(filter(None, notes)).replace("|", r"\|")
    return f"| {name} | {meaning} |"


def _value(option: Any) -> str:
    """What an option takes, in its metavariable, its choices, or the kind of its value."""
    kind = option.type_descriptor.annotation
    if get_origin(kind) is Literal:
        return "/".join(get_args(kind))
    of_list = get_args(kind)[0] if get_args(kind) else kind
    return option.metavar or {Path: "PATH", int: "N", float: "X"}.get(of_list, option.name.upper())
