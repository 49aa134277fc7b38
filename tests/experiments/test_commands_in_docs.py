import re
import shlex
from pathlib import Path

import pytest
import typer

from calque.derive.errors import BadInput
from calque.experiments.cli import app
from calque.experiments.docs import pages
from calque.experiments.settings.catalogue import studies, study
from calque.experiments.settings.override import override

ROOT = Path(__file__).parents[2]
MODULES = ("python -m experiments", "python -m calque.experiments")
PROGRAMS = ("calque", ".venv/bin/calque", *MODULES, *(f".venv/bin/{module}" for module in MODULES))


def commands():
    for page in pages(ROOT):
        text = page.read_text()
        for block in re.finditer(r"^```(?:sh|console|bash)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            line = text[: block.start()].count("\n") + 1
            for command in re.sub(r"\\\n", " ", block[1]).splitlines():
                line += 1
                command = re.sub(r"^\$ ", "", command.strip())
                command = re.sub(r"^(?:\w+=\S+ )+", "", command)
                for program in PROGRAMS:
                    if command.startswith(f"{program} "):
                        yield (
                            f"{page.relative_to(ROOT)}:{line}",
                            shlex.split(command[len(program) :], comments=True),
                        )


COMMANDS = dict(commands())


@pytest.mark.parametrize("place", COMMANDS)
def test_documented_commands_exist(place, tmp_path, monkeypatch):
    group, words = typer.main.get_command(app), COMMANDS[place]
    context = typer.Context(group, info_name="calque")
    while hasattr(group, "resolve_command"):
        if words[:1] in (["--help"], ["--version"], []):
            return
        name, group, words = group.resolve_command(context, words)
        context = typer.Context(group, info_name=name, parent=context)
    if "--help" in words:
        return
    monkeypatch.chdir(tmp_path)
    group.parse_args(context, list(words))
    values = context.params
    if values.get("exp") in studies():
        try:
            override(study(values["exp"]), values.get("settings") or [])
        except BadInput as error:
            assert "CALQUE_" in str(error) or "no such file" in str(error).lower()


def test_there_are_commands_to_check():
    assert len(COMMANDS) > 20
