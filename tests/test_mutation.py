"""Mutants of toys: each differs in one place, is tried where its tests are, and leaves nothing behind."""

import ast
import shutil
from pathlib import Path

import pytest

from tests.mutation.__main__ import ROOT, draw
from tests.mutation.mirrors import FOLDERS, MIRRORS, answering
from tests.mutation.mutants import mutant, sites
from tests.mutation.reach import marked, reaching
from tests.mutation.trial import Trial

SOURCE = '''"""A toy."""

def least(a: int, b: int = 7) -> int:
    """The smaller number, and never 3."""
    if a < b and not a == 3:
        return a
    note(a, b)
    progress(a, 5)
    draw(a, linewidth=2, elinewidth=1)
    zip(max(a, note(a, a)), strict=True)
    for i in range(a):
        continue
    raise ValueError(f"{a + 1}")
'''


def test_each_mutant_is_one_change_of_code_that_runs() -> None:
    made = [mutant(Path("toy.py"), SOURCE, site) for site in sites(SOURCE)]
    changes = {(one.line, one.before, one.after) for one in made}
    assert (5, "a < b", "a <= b") in changes
    assert (5, "a < b and (not a == 3)", "a < b or not a == 3") in changes
    assert (5, "a == 3", "a != 3") in changes
    assert (5, "3", "4") in changes
    assert (5, "if a < b and (not a == 3):", "if not (a < b and (not a == 3)):") in changes
    assert (7, "note(a, b)", "note(b, a)") in changes
    assert (7, "note(a, b)", "None") in changes
    assert (12, "continue", "break") in changes
    assert (3, "7", "8") in changes
    assert (9, "draw(a, linewidth=2, elinewidth=1)", "None") in changes
    assert (10, "zip(max(a, note(a, a)), strict=True)", "None") in changes
    assert len(made) == 11, "neither progress nor appearance nor what takes its arguments in either order"
    assert len(set(sites(SOURCE).values())) == 11
    plain = ast.unparse(ast.parse(SOURCE))
    for one in made:
        assert one.source != plain
        assert "ValueError(f'{a + 1}')" in one.source and '"""A toy."""' in one.source


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "derive").mkdir(parents=True)
    (root / "tests" / "derive").mkdir(parents=True)
    (root / "derive" / "__init__.py").write_text("")
    (root / "derive" / "least.py").write_text("def least(a, b):\n    return a if a < b else b\n")
    (root / "derive" / "other.py").write_text("FOUR = 4\n")
    (root / "tests" / "derive" / "test_least.py").write_text(
        "from derive.least import least\n\n\ndef test_least():\n    assert least(1, 2) == 1 == least(2, 1)\n"
    )
    (root / "tests" / "derive" / "test_imports.py").write_text(
        "import derive.other\n\n\ndef test_nothing():\n    pass\n"
    )
    return root


def test_tests_mirror_a_file_or_import_it(project: Path) -> None:
    assert answering(project, Path("derive/least.py")) == [Path("tests/derive/test_least.py")]
    assert answering(project, Path("derive/other.py")) == [Path("tests/derive/test_imports.py")]
    assert answering(project, Path("derive/third.py")) == [
        Path("tests/derive/test_imports.py"),
        Path("tests/derive/test_least.py"),
    ]
    assert answering(project, Path("pretrain/third.py")) == []


def test_a_table_of_mirrors_names_files_that_are_there() -> None:
    for source, tests in {**MIRRORS, **FOLDERS}.items():
        assert [name for name in (source, *tests) if not (ROOT / name).exists()] == []


def test_what_tests_notice_is_told_from_what_they_do_not(project: Path, tmp_path: Path) -> None:
    (project / "derive" / "ever.py").write_text("def ever(a):\n    while a:\n        break\n    return a\n")
    (project / "tests" / "derive" / "test_ever.py").write_text(
        "from derive.ever import ever\n\n\ndef test_ever():\n    assert ever(True)\n"
    )
    drawn = draw(project, ["derive"], 100, 0)
    before = {path: path.read_bytes() for path in project.rglob("*.py")}
    kept = tmp_path / "kept"
    trial = Trial(project, tmp_path / "first", kept, ["pytest"])
    trial.grace = 1
    found = {(one.before.strip(), one.after.strip()): verdict for one, verdict in trial.verdicts(drawn)}
    assert found == {
        ("a < b", "a <= b"): "survives",  # equivalent: no test can tell
        ("a if a < b else b", "a if not a < b else b"): "fails",
        ("4", "5"): "survives",
        ("while a:", "while not a:"): "survives",
        ("break", "continue"): "times out",
    }
    assert {path: path.read_bytes() for path in project.rglob("*.py")} == before
    assert (tmp_path / "first" / "derive" / "least.py").read_bytes() == before[project / "derive" / "least.py"]
    lines = kept.read_text().splitlines()
    (project / "tests" / "derive" / "test_imports.py").write_text(
        "from derive.other import FOUR\n\n\ndef test_four():\n    assert FOUR == 4\n"
    )
    again = {
        one.after: verdict for one, verdict in Trial(project, tmp_path / "second", kept, ["pytest"]).verdicts(drawn)
    }
    assert again["5"] == "fails" and again["a <= b"] == "survives", "a new test is tried, and nothing else"
    assert len(kept.read_text().splitlines()) == len(lines) + 2


def test_the_whole_suite_is_asked_where_it_runs_the_statement(project: Path, tmp_path: Path) -> None:
    """Not files with a test that fails by itself, and not what runs only while files are collected."""
    (project / "tests" / "mutation").mkdir()
    for name in ("reach", "mutants"):
        shutil.copy(ROOT / "tests" / "mutation" / f"{name}.py", project / "tests" / "mutation")
    (project / "derive" / "user.py").write_text(
        "from derive.least import least\n\n\ndef use():\n    return least(3, 4)\n"
    )
    (project / "tests" / "test_user.py").write_text(
        "from derive.user import use\n\n\ndef test_use():\n    assert use() == 3\n"
    )
    (project / "tests" / "test_bad.py").write_text(
        "from derive.user import use\n\n\ndef test_use():\n    assert use() == 5\n"
    )
    drawn = draw(project, ["derive"], 100, 0)
    marks = Trial(project, tmp_path / "marked", libraries=[]).folder
    found = {(one.path.stem, one.after): tests for one, tests in reaching(marks, drawn, 1).items()}
    mirror, user = Path("tests/derive/test_least.py"), Path("tests/test_user.py")
    assert set(found["least", "a <= b"]) == {mirror, user}
    assert found["other", "5"] == []
    (wrong,) = (one for one in drawn if one.after == "a if not a < b else b")
    trial = Trial(project, tmp_path / "copy", libraries=["pytest"])
    trial.trust = True
    assert trial.retry(wrong, [Path("tests/test_bad.py")]) == "survives"
    assert trial.retry(wrong, [user]) == "fails"
    trial.close()


def test_a_mark_stands_before_the_innermost_statement() -> None:
    source = (
        "def f(a):\n    if a:\n        return 1\n    elif [a for b in\n        a]:\n        return 2\n    return 3\n"
    )
    text = marked(source, {3: "one", 5: "two", 1: "three"})
    seen = []
    for line in text.splitlines():
        seen += [word for word in ("'one'", "'two'", "'three'", "return 1", "if [a", "def f") if word in line]
    assert seen == ["'three'", "def f", "'one'", "return 1", "'two'", "if [a"]


def test_what_the_tests_of_a_folder_share_notices_too(project: Path, tmp_path: Path) -> None:
    (project / "tests" / "derive" / "conftest.py").write_text("from derive.other import FOUR\n\nassert FOUR == 4\n")
    drawn = draw(project, ["derive/other.py"], 1, 0)
    ((mutant, verdict),) = Trial(project, tmp_path / "copy", libraries=["pytest"]).verdicts(drawn)
    assert (mutant.after, verdict) == ("5", "fails")


def test_tests_that_fail_by_themselves_are_told(project: Path, tmp_path: Path) -> None:
    (project / "tests" / "derive" / "test_least.py").write_text("def test_least():\n    assert False\n")
    with pytest.raises(ValueError, match=r"test_least\.py fail without a mutant, code 1"):
        list(Trial(project, tmp_path / "copy", libraries=["pytest"]).verdicts(draw(project, ["derive/least.py"], 1, 0)))


def test_a_seed_draws_the_same_mutants_again(project: Path) -> None:
    assert draw(project, ["derive"], 2, 5) == draw(project, ["derive"], 2, 5)
    assert len(draw(project, ["derive"], 2, 5)) == 2


def test_a_change_of_one_file_changes_no_other_draws(project: Path) -> None:
    before = draw(project, ["derive"], 100, 5)
    (project / "derive" / "new.py").write_text("NEW = 1\n")
    assert [one for one in draw(project, ["derive"], 100, 5) if one.path.stem != "new"] == before
    assert {one.after for one in draw(project, ["derive"], 2, 5)} & {one.after for one in before}
