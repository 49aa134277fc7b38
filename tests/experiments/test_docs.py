import re
import shlex
from pathlib import Path

import pytest
import typer

from calque.derive.errors import BadInput
from calque.experiments.cli import app
from calque.experiments.settings.catalogue import named_study, studies
from calque.experiments.settings.override import override
from docs.update import filled, pages, update
from tests.experiments.committed import ROOT
from tests.refusals import refusal

CHECKOUT, GROUP = Path(__file__).parents[2], typer.main.get_command(app)

ACCURACY = "control/table-3: MLM | Trans | ours; POS accuracy ZS"


def test_marks_take_numbers_from_committed_tables():
    line = next(
        line for line in (ROOT / "control/table-3.md").read_text().splitlines() if "| Trans  " in line
    )
    header = (ROOT / "control/table-3.md").read_text().splitlines()[2].split("|")
    number = line.split("|")[[head.strip() for head in header].index("POS accuracy ZS")].strip()
    assert float(number.split()[0]) > 90
    assert filled(f"a <!-- {ACCURACY} -->0<!-- / --> % b") == f"a <!-- {ACCURACY} -->{number}<!-- / --> % b"


@pytest.mark.parametrize(
    "mark",
    [
        "control/none: MLM; POS accuracy ZS",
        "control/table-3: MLM; POS accuracy ZS",  # several rows
        "control/table-3: MLM | Trans | theirs; POS accuracy ZS",
        "control/table-3: MLM | Trans | ours; POS accuracy",
        "control/table-3: MLM | Trans | ours; POS accuracy ZS #3",
    ],
)
def test_marks_without_a_number_are_rejected(mark, tmp_path):
    (tmp_path / "README.md").write_text(f"# A page\n\nMLM <!-- {mark} -->1<!-- / -->\n")
    assert refusal(update, tmp_path, True).startswith(f"{tmp_path / 'README.md'}:3: ")


def test_documentation_is_up_to_date():
    assert update(CHECKOUT, False) == []


def test_pages_are_updated(tmp_path):
    page = tmp_path / "README.md"
    page.write_text(f"MLM: <!-- {ACCURACY} -->-1<!-- / -->\n")
    assert update(tmp_path, False) == ["README.md"] and "-->-1<!--" in page.read_text()
    assert update(tmp_path, True) == ["README.md"] and update(tmp_path, False) == []


PROGRAMS = ("calque", ".venv/bin/calque", "python -m calque", ".venv/bin/python -m calque")


def commands():
    for page in pages(CHECKOUT):
        text = page.read_text()
        for block in re.finditer(r"^```(?:sh|console|bash)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            line = text[: block.start()].count("\n") + 1
            for command in re.sub(r"\\\n", " ", block[1]).splitlines():
                line += 1
                command = re.sub(r"^\$ ", "", command.strip())
                command = re.split(" [>|] ", re.sub(r"^(?:\w+=\S+ )+", "", command))[0]
                for program in PROGRAMS:
                    if command.startswith(f"{program} "):
                        yield (
                            f"{page.relative_to(CHECKOUT)}:{line}",
                            shlex.split(command[len(program) :], comments=True),
                        )


COMMANDS = dict(commands())
assert len(COMMANDS) > 20


@pytest.mark.parametrize("place", COMMANDS)
def test_documented_commands_exist(place, tmp_path, monkeypatch):
    group, words = GROUP, COMMANDS[place]
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
            override(named_study(values["exp"]), values.get("settings") or [])
        except BadInput as error:
            assert "CALQUE_" in str(error) or "no such file" in str(error).lower()


def test_documented_studies_exist():
    text = "\n".join(page.read_text() for page in pages(CHECKOUT))
    named = set(re.findall(r"calque (?:run|plan) ([a-z]\w*)\b(?!\.py)", text))
    assert len(named) > 5 and named <= set(studies())
