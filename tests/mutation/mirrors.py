"""Which test files answer for a source file: its mirror, those that import it, and those of the tables below."""

import re
from pathlib import Path


def _tests(names: str) -> tuple[str, ...]:
    """Test files by their names: derive/order is tests/derive/test_order.py."""
    return tuple(f"tests/{(path := Path(name)).parent}/test_{path.name}.py" for name in names.split())


MIRRORS: dict[str, tuple[str, ...]] = {
    f"{source}.py": _tests(tests)
    for source, tests in {
        "analysis/measures/knowledge": "experiments/knowledge",
        "analysis/measures/lexicon": "experiments/commands/lexicon",
        "analysis/papers/columns": "analysis/papers/align_mlm/claims analysis/papers/align_mlm/tables",
        "analysis/records/record": "analysis/records/json_rows analysis/results/results",
        "analysis/records/run": "analysis/records/json_rows analysis/results/results",
        "analysis/results/results": "analysis/results/retained analysis/results/floors",
        "derive/artefact": "derive/files derive/fingerprint",
        "derive/build": "derive/corpus derive/translation derive/words derive/usage derive/sharing derive/cognates "
        "derive/languages derive/task_data derive/script derive/parsed_trees",
        "derive/derivation": "experiments/package experiments/cli",
        "derive/dictionary": "derive/languages derive/build derive/cognates derive/words derive/sharing",
        "derive/files": "derive/artefact derive/translation",
        "derive/fingerprint": "derive/artefact derive/build derive/task_data experiments/studies/values",
        "derive/language": "derive/estimated_links",
        "derive/languages": "derive/estimated_links derive/translation pretrain/natural pretrain/groups "
        "pretrain/mixture pretrain/several_languages",
        "derive/links/stored": "derive/languages derive/estimated_links",
        "derive/order": "derive/build derive/preview derive/spelling",
        "derive/readers/conllu": "derive/parsed_trees",
        "derive/script": "derive/cognates derive/spelling derive/words derive/build derive/transform derive/preview",
        "derive/sentence": "derive/words derive/transform derive/example derive/reorder derive/parsed_trees",
        "derive/sources/files": "derive/task_data derive/derive_file derive/hard_tagged_inputs "
        "derive/readers/own_labels",
        "derive/sources/pocket": "derive/build derive/task_data derive/pocket_laws",
        "derive/transform": "derive/words derive/build derive/example derive/script",
        "derive/types": "pretrain/rows pretrain/tokenizer",
        "derive/vocabulary": "derive/build derive/usage derive/dictionary derive/spelling",
        "experiments/cli": "experiments/two_commands experiments/commands_in_docs",
        "experiments/commands/new": "experiments/own_files",
        "experiments/commands/options": "experiments/commands/align experiments/commands/lexicon "
        "experiments/commands/aer experiments/cli",
        "experiments/commands/paper": "experiments/paper",
        "experiments/commands/runs": "experiments/runs",
        "experiments/commands/show": "experiments/cli",
        "experiments/commands/study": "experiments/two_commands experiments/cli experiments/sweep experiments/plan "
        "experiments/engines experiments/runs",
        "experiments/comparison": "experiments/commands/compare",
        "experiments/export": "experiments/commands/export",
        "experiments/finetuning": "experiments/stages experiments/translate_train experiments/natural "
        "experiments/study",
        "experiments/languages": "experiments/study experiments/word_alignment experiments/xlm_align",
        "experiments/lessons/lesson": "experiments/lessons",
        "experiments/models": "experiments/mixtures experiments/override",
        "experiments/names": "experiments/study_file experiments/sweep experiments/plan experiments/own_files",
        "experiments/override": "experiments/study_file experiments/mixtures experiments/study",
        "experiments/places": "experiments/override experiments/study_file experiments/runs",
        "experiments/report_records": "experiments/package experiments/runs",
        "experiments/session": "experiments/package",
        "experiments/settings": "experiments/override experiments/cli experiments/sweep",
        "experiments/signals": "experiments/cli",
        "experiments/studies/lesson": "experiments/lessons",
        "experiments/study": "experiments/plan experiments/mixtures experiments/study_mistakes "
        "experiments/study_file experiments/natural experiments/starts experiments/start_alone experiments/summary",
        "experiments/study_mistakes": "experiments/mixtures experiments/word_alignment",
        "experiments/summary": "experiments/natural experiments/xlm_align",
        "experiments/tasks": "experiments/translate_train experiments/study experiments/own_data",
        "pretrain/batch": "pretrain/ppa",
        "pretrain/bitext": "pretrain/papers pretrain/weam pretrain/word_aligned",
        "pretrain/config": "pretrain/train pretrain/run pretrain/start",
        "pretrain/distributed": "pretrain/gradients pretrain/checkpoint pretrain/run",
        "pretrain/model": "pretrain/head_only pretrain/ppa pretrain/word_aligned pretrain/objectives pretrain/rows "
        "pretrain/xlm_align pretrain/prealign",
        "pretrain/objective": "pretrain/head_only pretrain/cost pretrain/train pretrain/mixture pretrain/gradients "
        "pretrain/link pretrain/papers pretrain/objectives pretrain/several_languages experiments/names",
        "pretrain/objectives/mlm": "pretrain/packed",
        "pretrain/objectives/xlm_align": "pretrain/xlm_align",
        "pretrain/run": "pretrain/metrics pretrain/start pretrain/snapshots pretrain/architecture pretrain/checkpoint",
    }.items()
}
"""The tests of files that they do not import, or of files that many import."""
VALUES = _tests("experiments/studies/values")
COMMITTED = _tests("experiments/records analysis/papers/committed_figures")
FOLDERS = {
    **{f"analysis/{name}": COMMITTED for name in ("papers", "records", "report", "results", "statistics")},
    "analysis/aligners": _tests(
        "analysis/aligners/encoder analysis/aligners/pair_encoder experiments/commands/align experiments/commands/aer"
    ),
    "analysis/measures": _tests("experiments/growth experiments/word_alignment"),
    "analysis/tasks": _tests("analysis/tasks/transfer analysis/tasks/translated experiments/start_alone"),
    "derive/grammar": _tests("derive/grammar/model derive/reorder experiments/commands/grammar"),
    "derive/pocket": _tests(
        "derive/pocket_golden derive/pocket derive/pocket_inference derive/pocket_orders derive/pocket_laws "
        "derive/sources/pocket"
    ),
    "derive/readers": _tests(
        "derive/natural/formats derive/natural/files derive/hard_text_inputs derive/hard_tagged_inputs "
        "derive/hard_pairs_and_questions"
    ),
    "experiments/commands": _tests("experiments/docs"),
    "experiments/data": _tests("experiments/data/recipes experiments/data/layouts experiments/commands/data"),
    "experiments/studies": _tests("experiments/studies/values experiments/studies/committed experiments/studies/given"),
    "pretrain/objectives": _tests("pretrain/papers pretrain/objectives pretrain/several_languages"),
}
"""The tests that answer for all files of a folder, because they run them together."""
FEW = 16
"""The number of test files up to which all that import a file answer for it."""


def answering(root: Path, path: Path) -> list[Path]:
    """The test files that answer for a source file: its mirror, those of the tables, and those that import it if they
    are few. The defaults of a dataclass are also values of studies.

    A mirror is `tests/derive/test_order.py` of `derive/order.py`, and `tests/derive/test_pocket_tree.py` of
    `derive/pocket/tree.py`. A file without any is answered for by all files that import it, or those of its folder.
    """
    mirror = root / "tests" / path.parent / f"test_{path.stem}.py"
    above = root / "tests" / path.parent.parent / f"test_{path.parent.name}_{path.stem}.py"
    importing = _importing(root, path)
    named = [mirror, above, root / path.with_name(mirror.name), *(root / name for name in MIRRORS.get(str(path), ()))]
    found = [one for one in named if one.is_file()]
    found += importing if len(importing) <= FEW or not found else []
    shared = [test for folder, tests in FOLDERS.items() if path.is_relative_to(folder) for test in tests]
    if (root / path).is_file() and "\n@dataclass" in (root / path).read_text(encoding="utf-8"):
        shared += VALUES
    found += [root / test for test in shared if (root / test).is_file()]
    return [one.relative_to(root) for one in dict.fromkeys(found) or sorted(mirror.parent.glob("test_*.py"))]


def _importing(root: Path, path: Path) -> list[Path]:
    """The test files that import a source file."""
    *folders, name = path.with_suffix("").parts
    folder, module = (re.escape(".".join(parts)) for parts in (folders, (*folders, name)))
    modules = rf"(?:from (?:calque\.)?{module} import|import (?:calque\.)?{module}\b)"
    names = rf"from (?:calque\.)?{folder} import (?:[^\n(]*|\([^)]*)\b{name}\b"
    imported = re.compile(rf"^\s*(?:{modules}|{names})", re.MULTILINE)
    files = sorted((root / "tests").rglob("test_*.py"))
    return [one for one in files if imported.search(one.read_text(encoding="utf-8"))]
