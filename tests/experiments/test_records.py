import pytest

from calque.analysis.papers.primary import primary_of
from calque.derive.files import parse_json
from calque.experiments.report.folder import describe_records
from calque.experiments.report.report import tables_of
from tests.experiments.committed import ROOT, committed, read

STUDIES = {
    "everyday": "align_mlm",
    "everyday_small": "align_mlm",
    "everyday_order": "align_mlm",
    "everyday_gate": "align_mlm",
    "wikipedia_gate": "align_mlm",
    "everyday_width_128": "align_mlm",
    "everyday_width_128_trans": "align_mlm",
    "everyday_width_256": "align_mlm",
    "everyday_width_256_trans": "align_mlm",
    "wikipedia": "align_mlm",
    "wikipedia_larger": "align_mlm",
    "pocket": "align_mlm",
    "lesson": "align_mlm",
    "objectives_pocket": "equal_terms",
    "objectives_seconds": "equal_terms",
    "control": "align_mlm",
    "causes": "align_mlm",
    "causes_objectives": "align_mlm",
    "causes_objectives_seconds": "align_mlm",
    "causes_necessity": "align_mlm",
    "everyday_necessity": "align_mlm",
    "causes_everyday": "align_mlm",
    "causes_everyday_halves": "align_mlm",
    "align_mlm_pocket": "align_mlm",
    "align_mlm_parallel": "align_mlm",
    "align_mlm_overlap": "align_mlm",
    "xlm_align_pocket": "xlm_align",
    "xlm_align_ablations": "xlm_align",
    "aligner": "xtreme",
    "aligner_choices": "xtreme",
    "xlm_align_small": "xtreme",
    "xtreme_small": "xtreme",
    "xtreme_continued": "xtreme",
    "xtreme_continued_tasks": "xtreme",
    "xtreme_continued_ppa": "xtreme",
}


@pytest.mark.parametrize(("name", "paper"), STUDIES.items())
def test_tables_and_claims_match_the_records(name, paper):
    check_committed(name, paper)


def check_committed(name, paper):
    describe_records(ROOT / name)
    results, about = read(name, paper), parse_json(committed(ROOT / name / "about.json"))
    assert about["report"] == paper
    tables = tables_of(results, paper, primary_of(ROOT / name))
    files = {path.stem for path in (ROOT / name).glob("*.md")}
    assert set(tables) == files
    for file, table in tables.items():
        assert table.markdown == committed(ROOT / name / f"{file}.md"), file
