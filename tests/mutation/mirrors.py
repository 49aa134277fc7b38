"""Which test files answer for a source file: its mirror, and for the few files without one, the table below."""

import re
from collections.abc import Mapping
from pathlib import Path

OBJECTIVES = (
    "tests/pretrain/test_papers.py",
    "tests/pretrain/test_objectives.py",
    "tests/pretrain/test_several_languages.py",
)
POCKET = (
    "tests/derive/test_pocket_golden.py",
    "tests/derive/test_pocket.py",
    "tests/derive/test_pocket_inference.py",
    "tests/derive/test_pocket_orders.py",
    "tests/derive/test_pocket_laws.py",
    "tests/derive/sources/test_pocket.py",
)
LINKS = ("tests/derive/links/test_fast_align.py",)
XLM_ALIGN = ("tests/analysis/papers/xlm_align/test_claims.py", "tests/analysis/papers/xlm_align/test_ablations.py")
ALIGN_MLM = ("tests/analysis/papers/align_mlm/test_claims.py", "tests/analysis/papers/align_mlm/test_tables.py")
VALUES = ("tests/experiments/studies/test_values.py",)
STUDIES = (*VALUES, *(f"tests/experiments/studies/test_{one}.py" for one in ("committed", "given")))
COMMITTED = ("tests/experiments/test_records.py", "tests/analysis/papers/test_committed_figures.py")
REPORT = ("papers", "records", "report", "results", "statistics")
"""The folders of `analysis` that make tables and figures of records: committed ones are made again by COMMITTED."""
FEW = 8
"""The number of test files up to which all that import a file answer for it."""


def _named(folder: str, tests: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Entries for files of a package, each with the names of tests in the folder that mirrors its own."""
    return {
        f"{folder}/{name}.py": tuple(f"tests/{(Path(folder) / name).parent}/test_{one}.py" for one in names.split())
        for name, names in tests.items()
    }


MIRRORS: dict[str, tuple[str, ...]] = {
    # One objective is tested against the others and by the same laws.
    "pretrain/objectives/mlm.py": ("tests/pretrain/test_packed.py", *OBJECTIVES),
    "pretrain/objectives/xlm.py": OBJECTIVES,
    "pretrain/objectives/dict_mlm.py": OBJECTIVES,
    "pretrain/objectives/align_mlm.py": OBJECTIVES,
    "pretrain/objective.py": (
        *(f"tests/pretrain/test_{one}.py" for one in ("head_only", "cost", "train", "mixture", "gradients", "link")),
        *OBJECTIVES,
        "tests/experiments/test_names.py",
    ),
    "derive/forms.py": ("tests/experiments/test_names.py",),
    **_named(
        "pretrain",
        {
            "architecture": "rows train",
            "batch": "mask model objectives bitext weam ppa xlm_align rows",
            "bitext": "papers groups weam word_aligned",
            "checkpoint": "snapshots run metrics",
            "config": "train run snapshots start papers",
            "cost": "xlm_align",
            "mask": "papers",
            "transport": "papers",
            "distributed": "gradients checkpoint run",
            "model": "head_only ppa word_aligned objectives rows xlm_align prealign",
            "order": "apportion packed",
            "run": "metrics start snapshots architecture checkpoint",
            "train": "gradients checkpoint run ppa",
        },
    ),
    "pretrain/saved_model.py": ("tests/pretrain/test_tokenizer.py", "tests/derive/test_spelling.py"),
    **{
        f"pretrain/objectives/{name}.py": (f"tests/pretrain/test_{name}.py", *OBJECTIVES)
        for name in ("weam", "ppa", "word_aligned")
    },
    **{
        f"pretrain/objectives/{name}.py": (f"tests/pretrain/test_{name}.py", "tests/pretrain/test_papers.py", *more)
        for name, more in {"link": ("tests/pretrain/test_prealign.py",), "prealign": ()}.items()
    },
    # What a run begins with is tested once for all architectures.
    "pretrain/start.py": ("tests/pretrain/test_architecture.py", "tests/pretrain/test_rows.py"),
    # A grammar of Pocket English is tested by the sentences that it makes.
    **{
        f"derive/pocket/{name}.py": POCKET
        for name in "grammar inference language lexicon pairs phrase preferences tree".split()
    },
    # Parts of a whole that is held against an implementation of its own.
    "derive/links/cells.py": LINKS,
    "derive/languages.py": (
        *(f"tests/derive/test_{one}.py" for one in ("estimated_links", "translation")),
        *(f"tests/pretrain/test_{one}.py" for one in ("natural", "groups", "mixture", "several_languages")),
    ),
    "derive/folder.py": ("tests/derive/test_languages.py", "tests/derive/natural/test_build.py"),
    "derive/language.py": ("tests/derive/test_languages.py", "tests/derive/test_estimated_links.py"),
    "derive/links/stored.py": ("tests/derive/test_languages.py", "tests/derive/test_estimated_links.py"),
    # Formats are tested by what files of them hold, and the steps of a folder by the folder.
    "derive/readers/markup.py": ("tests/derive/test_hard_text_inputs.py", "tests/derive/natural/test_files.py"),
    **{
        f"derive/readers/{name}.py": tuple(f"tests/derive/test_hard_{one}.py" for one in tests.split())
        for name, tests in {
            "english": "text_inputs",
            "iob2": "tagged_inputs text_inputs",
            "nli": "text_inputs pairs_and_questions",
            "parallel": "text_inputs",
            "squad": "pairs_and_questions text_inputs",
            "text": "text_inputs tagged_inputs",
        }.items()
    },
    "derive/readers/conllu.py": (
        "tests/derive/readers/test_pos_units.py",
        "tests/derive/readers/test_text.py",
        "tests/derive/test_parser.py",
        "tests/derive/test_hard_tagged_inputs.py",
        "tests/derive/test_parsed_trees.py",
    ),
    "derive/readers/links.py": (
        "tests/derive/links/test_aligner.py",
        "tests/derive/test_hard_text_inputs.py",
        "tests/experiments/commands/test_align.py",
    ),
    "derive/readers/lines.py": ("tests/derive/test_hard_text_inputs.py",),
    "derive/natural/files.py": ("tests/derive/natural/test_files.py", "tests/derive/natural/test_build.py"),
    **_named(
        "derive",
        {
            "artefact": "files fingerprint",
            "build": "build corpus translation words usage sharing cognates languages task_data script parsed_trees",
            "corpus": "build",
            "dictionary": "languages build cognates words sharing",
            "files": "artefact translation",
            "fingerprint": "artefact build task_data",
            "order": "build preview spelling",
            "parser": "parsed_trees",
            "preview": "build",
            "script": "script cognates spelling words build transform preview",
            "sentence": "words transform example reorder parsed_trees",
            "transform": "words build example script",
            "reorder": "reorder",
            "typology": "pocket_orders reorder",
            "usage": "usage sharing script",
            "vocabulary": "build usage dictionary spelling",
        },
    ),
    "analysis/statistics/intervals.py": ("tests/analysis/statistics/test_welch.py",),
    "analysis/report/marks.py": ("tests/analysis/report/test_html_figure.py",),
    "derive/transforms.py": ("tests/experiments/test_names.py",),
    "derive/derivation.py": ("tests/experiments/test_package.py", "tests/experiments/test_cli.py"),
    "derive/grammar/features.py": ("tests/derive/grammar/test_model.py", "tests/derive/test_reorder.py"),
    "derive/grammar/model.py": ("tests/derive/test_reorder.py",),
    "derive/links/symmetrise.py": LINKS,
    "derive/natural/build.py": ("tests/derive/natural/test_files.py", "tests/pretrain/test_natural.py"),
    "derive/source.py": ("tests/derive/test_build.py", "tests/derive/sources/test_files.py"),
    "derive/sources/files.py": (
        *(f"tests/derive/test_{one}.py" for one in ("task_data", "derive_file", "hard_tagged_inputs")),
        "tests/derive/readers/test_own_labels.py",
    ),
    "derive/sources/pocket.py": tuple(f"tests/derive/test_{one}.py" for one in ("build", "task_data", "pocket_laws")),
    "derive/types.py": ("tests/pretrain/test_rows.py", "tests/pretrain/test_tokenizer.py"),
    "experiments/data/store.py": ("tests/experiments/data/test_store.py", "tests/experiments/commands/test_data.py"),
    # Words, titles and tables of a paper are tested where the paper's claims are.
    "analysis/papers/columns.py": ALIGN_MLM,
    "experiments/commands/study.py": (
        "tests/experiments/test_docs.py",
        "tests/experiments/test_two_commands.py",
        "tests/experiments/test_cli.py",
        "tests/experiments/test_sweep.py",
        *(f"tests/experiments/test_{one}.py" for one in ("plan", "engines", "report", "runs")),
        "tests/experiments/commands/test_null.py",
    ),
    **{
        f"experiments/commands/{name}.py": (
            f"tests/experiments/commands/test_{name}.py",
            "tests/experiments/test_docs.py",
        )
        for name in "aer align compare data export grammar lexicon look parser".split()
    },
    **{
        f"experiments/commands/{name}.py": tuple(f"tests/experiments/test_{one}.py" for one in ("docs", *tests.split()))
        for name, tests in {"docs": "", "new": "own_files", "paper": "paper", "runs": "runs watch"}.items()
    },
    "experiments/commands/options.py": (
        *(f"tests/experiments/commands/test_{one}.py" for one in ("align", "lexicon", "aer")),
        "tests/experiments/test_docs.py",
        "tests/experiments/test_cli.py",
    ),
    "experiments/comparison.py": ("tests/experiments/commands/test_compare.py", "tests/experiments/test_report.py"),
    "experiments/data/recipe.py": ("tests/experiments/data/test_recipes.py", "tests/experiments/data/test_store.py"),
    "experiments/session.py": ("tests/experiments/test_session.py", "tests/experiments/test_package.py"),
    "experiments/export.py": ("tests/experiments/commands/test_export.py",),
    # Parts of a study are tested where a study has them.
    **_named(
        "experiments",
        {
            "aligners": "word_alignment study_file",
            "cli": "two_commands commands_in_docs",
            "finetuning": "stages translate_train start_alone mixtures natural study",
            "languages": "study natural word_alignment xlm_align",
            "measures": "growth mixtures knowledge natural study",
            "models": "starts mixtures override",
            "names": "study_file sweep plan own_files",
            "override": "study_file mixtures study",
            "step": "schedule study study_file",
            "study": "plan mixtures study_mistakes study_file natural starts start_alone summary",
            "summary": "summary report natural start_alone xlm_align plan",
            "tasks": "tasks start_alone translate_train study own_data",
            "places": "override study_file runs",
            "plan": "xlm_align start_alone",
            "reference": "docs",
            "settings": "override cli sweep",
            "signals": "cli",
            "report": "report terminal",
            "report_records": "package paper runs terminal",
            "study_mistakes": "study_mistakes names override natural start_alone mixtures word_alignment",
        },
    ),
    **{
        f"experiments/lessons/{name}.py": ("tests/experiments/test_lessons.py",)
        for name in ("__main__", "checks", "lesson")
    },
    **{
        f"experiments/templates/my_{kind}.py": (f"experiments/templates/test_my_{kind}.py",)
        for kind in ("objective", "study", "task", "transform")
    },
    "pretrain/mixture.py": ("tests/pretrain/test_mixture.py", "tests/experiments/test_names.py"),
    "experiments/commands/show.py": ("tests/experiments/test_docs.py", "tests/experiments/test_cli.py"),
    # What a study trains is what its committed records were trained as, and studies of real text are run with toys.
    **{
        f"experiments/studies/{name}.py": (*STUDIES, *(f"tests/experiments/test_{one}.py" for one in tests.split()))
        for name, tests in {
            **dict.fromkeys("align_mlm align_mlm_pocket growth knowledge languages objectives".split(), ""),
            **dict.fromkeys("objectives_pocket wikipedia_small xtreme_continued".split(), ""),
            "lesson": "lessons",
            "pocket": "study_file",
            "word_alignment": "word_alignment",
            "xlm_align": "xlm_align",
            "xlm_align_small": "natural",
            **dict.fromkeys("xtreme xtreme_small".split(), "start_alone"),
        }.items()
    },
    "pretrain/objectives/xlm_align.py": ("tests/pretrain/test_xlm_align.py", *OBJECTIVES),
    **_named(
        "analysis",
        {
            "aligners/encoder": "batches",
            "aligners/methods": "encoder",
            "aligners/pair_encoder": "batches",
            "measures/aer": "word_alignment",
            "measures/loss": "gradients",
            "measures/nulls": "states gradients",
            "report/drawing": "plot pair_figure sentence_figure",
            "report/table": "numeric html_table latex claims_table",
            "results/results": "retained floors",
            "measures/retrieval": "states",
            "measures/states": "nulls",
            "measures/word_alignment": "contextual",
            "tasks/baselines": "baselines_of_texts",
            "tasks/classification": "catalog",
            "tasks/finetune": "transfer",
            "tasks/questions": "rows translated",
            "tasks/rows": "split translated",
            "tasks/score": "tagging transfer",
            "tasks/split": "translated",
            "tasks/tagging": "catalog transfer",
            "tasks/transfer": "translated",
        },
    ),
    **{
        f"analysis/measures/{name}.py": (f"tests/experiments/test_{test}.py",)
        for name, test in {"knowledge": "knowledge", "probing": "growth"}.items()
    },
    "analysis/measures/lexicon.py": ("tests/experiments/commands/test_lexicon.py",),
    "analysis/records/record.py": (
        "tests/analysis/records/test_json_rows.py",
        "tests/analysis/results/test_results.py",
    ),
    "analysis/records/run.py": ("tests/analysis/records/test_json_rows.py", "tests/analysis/results/test_results.py"),
}


def answering(root: Path, path: Path) -> list[Path]:
    """The test files that answer for a source file: its mirror, those of the table, and those that import it if they
    are few. The defaults of a dataclass are also values of studies.

    A mirror is `tests/derive/test_order.py` of `derive/order.py`, and `tests/derive/test_pocket_tree.py` of
    `derive/pocket/tree.py`. A file without any is answered for by all files that import it, or those of its folder.
    """
    mirror = root / "tests" / path.parent / f"test_{path.stem}.py"
    above = root / "tests" / path.parent.parent / f"test_{path.parent.name}_{path.stem}.py"
    importing = _importing(root, path)
    listed = (root / name for name in MIRRORS.get(path.as_posix(), ()))
    named = [one for one in (mirror, above, *listed) if one.is_file()]
    found = [*named, *importing] if len(importing) <= FEW else named or importing
    if path.parts[0] == "analysis" and path.parts[1] in REPORT:
        found += [root / name for name in COMMITTED]
    if (root / path).is_file() and "\n@dataclass" in (root / path).read_text(encoding="utf-8"):
        found += [root / name for name in VALUES if (root / name).is_file()]
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
