import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.experiments.conftest import TINY

ROOT = Path(__file__).parents[2]
OTHER = ("seeds", "source", "objectives", "transforms", "tasks")
SMALL = [setting for setting in TINY if not setting.startswith(OTHER)]
SETTINGS = " ".join(f"--set {setting}" for setting in [*SMALL, "tasks.topic.finetune.epochs=1"])
INSTALL = "make .venv/.installed"  # the first command, which is not run


@pytest.mark.slow
def test_tutorial_works_step_by_step(tmp_path):
    programs = tmp_path / "bin"
    programs.mkdir()
    small = f'case "$*" in "run mine.py") set -- "$@" --jobs 1 {SETTINGS};; esac'
    for name, line in (
        ("calque", f'{small}\nexec "{sys.executable}" -m calque "$@"'),
        ("python", f'exec "{sys.executable}" "$@"'),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    own = tmp_path / "mine"
    own.mkdir()
    paths = {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": f"{ROOT}:{own}"}
    page = (ROOT / "docs" / "tutorial.md").read_text()
    tables = []
    for kind, block in re.findall(r"^```(\w+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        if kind == "python":
            if named := re.match(r"# (\w+\.py)\n", block):
                (own / named[1]).write_text(block)
            else:  # a file written by an earlier command
                assert block in [path.read_text() for path in own.glob("*.py")]
        elif INSTALL not in block:
            commands = re.findall(r"^\$ (.*)", block, re.MULTILINE) if kind == "console" else [block]
            outputs = re.split(r"^\$ .*\n", block, flags=re.MULTILINE)[1:] if kind == "console" else [None]
            for command, output in zip(commands, outputs, strict=True):
                # A changed study has another folder.
                command = command.replace("runs/mine/report/", "runs/mine/report*/")
                done = subprocess.run(
                    ["bash", "-ec", command], cwd=own, env=os.environ | paths, capture_output=True, text=True
                )
                assert done.returncode == 0, command + done.stdout + done.stderr
                assert output is None or done.stdout.strip() == output.strip(), done.stdout
                tables += [done.stdout] if "table-3" in command else []
    assert len(tables) == 1 and all(
        text in tables[0] for text in ("Trans + swap", "Topic accuracy", "ALIGN-MLM")
    )
