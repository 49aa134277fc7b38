"""Which test files run what a mutant changes: the whole suite runs once, with a mark before each changed statement."""

import ast
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree import ElementTree

from tests.mutation.mutants import Mutant

MARKS = "CALQUE_MARKS"  # the environment variable that names the folder of what was reached
RUNNING = "PYTEST_CURRENT_TEST"  # and the one in which pytest tells the running test
_MARK = """try:
    from tests.mutation.reach import note as _note_of_a_mark
    _note_of_a_mark({place!r})
except ImportError:
    pass"""
_noted: set[tuple[str, str]] = set()


def note(place: str) -> None:
    """Keep that the running test file has reached a place; what runs while files are collected belongs to none."""
    test, marks = os.environ.get(RUNNING, "").partition("::")[0], os.environ.get(MARKS)
    if test and marks and (place, test) not in _noted:
        _noted.add((place, test))
        with (Path(marks) / str(os.getpid())).open("a", encoding="utf-8") as file:
            file.write(f"{place}\t{test}\n")


def marked(source: str, lines: Mapping[int, str]) -> str:
    """The source with a mark before the innermost statement of each line: the name of its place."""
    tree = ast.parse(source)
    blocks = [
        block
        for node in ast.walk(tree)
        for _, block in ast.iter_fields(node)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt)
    ]
    for line, place in lines.items():
        around = [(block, one) for block in blocks for one in block if one.lineno <= line <= (one.end_lineno or 0)]
        block, statement = max(around, key=lambda found: (found[1].lineno, found[1].col_offset))
        block[block.index(statement) : block.index(statement)] = ast.parse(_MARK.format(place=place)).body
    return ast.unparse(ast.fix_missing_locations(tree))


def reaching(folder: Path, mutants: Iterable[Mutant], jobs: int) -> dict[Mutant, list[Path]]:
    """For each mutant the test files that run its statement, the fastest first, from a run of the whole suite in
    `folder`, a copy of the project that this changes. Files with a test that fails are left out."""
    by_file: dict[Path, dict[int, str]] = defaultdict(dict)
    mutants = list(mutants)
    for one in mutants:
        by_file[one.path][one.line] = f"{one.path}:{one.line}"
    for path, lines in by_file.items():
        file = folder / path
        file.write_text(marked(file.read_text(encoding="utf-8"), lines), encoding="utf-8")
    marks, report = folder / "marks", folder / "report.xml"
    marks.mkdir()
    options = ["-q", "-p", "no:cacheprovider", "--numprocesses", str(jobs), "--dist", "loadfile"]
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--hypothesis-seed=0", f"--junitxml={report}"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), MARKS: str(marks), RUNNING: ""},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    if not report.exists():
        raise ValueError("the run of the whole suite ended without a report")
    seconds, failed = Counter[str](), set()
    for case in ElementTree.parse(report).iter("testcase"):
        test = case.get("classname", "").replace(".", "/") + ".py"
        seconds[test] += float(case.get("time", 0))
        if case.find("failure") is not None or case.find("error") is not None:
            failed.add(test)
    reached: dict[str, set[str]] = defaultdict(set)
    for file in marks.iterdir():
        for line in file.read_text(encoding="utf-8").splitlines():
            place, test = line.split("\t")
            reached[place].add(test)
    return {
        one: [Path(test) for test in sorted(reached[f"{one.path}:{one.line}"] - failed, key=lambda t: seconds[t])]
        for one in mutants
    }
