import json
import re
import shutil
from statistics import fmean

from transformers import AutoModelForMaskedLM

from calque.analysis.records import json_rows
from calque.analysis.records.record import RECORDS, Record
from calque.derive.task_data import TaskFolder
from calque.experiments.report.folder import ABOUT
from calque.experiments.session import StudySession
from tests.experiments.committed import ROOT
from tests.experiments.conftest import TINY, calque, refused


def rows(text, head):
    (block,) = re.findall(rf"^\| {head}.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]


def test_checklist_describes_the_study(done, tmp_path):
    root = shutil.copytree(done.root, tmp_path / "runs")
    report = root / done.report.relative_to(done.root)
    about = StudySession.open("pocket", TINY, root).about
    (report / ABOUT).write_text(json.dumps(about))
    code, text, error = calque("checklist", "pocket", "--runs", root)
    assert code == 0, error
    page = (report / "report.html").read_text()
    answers = page.partition('<section id="checklist">')[2]
    assert "<details>" in answers and all(each in answers for each in re.findall(r"(?m)^## (.*)", text))
    models = {row[0]: row for row in rows(text, r"objective +\| parameters")}
    assert models.keys() == {"MLM", "ALIGN-MLM"}
    for name, (_, parameters, number, seconds, processor) in models.items():
        model = AutoModelForMaskedLM.from_pretrained(done.model(name).checkpoint)
        assert parameters == f"{sum(weight.numel() for weight in model.parameters()):,}"
        assert parameters in answers
        assert number == "1" and int(seconds) >= 0 and len(processor) > 1
    examples = rows(text, r"task +\| split")
    gold = TaskFolder.open(done.examples["pos"].folder)
    for task, split, number, labels in examples:
        texts = [t for example in gold.examples(split) for t in example.texts]
        words = sum(len(sentence.words) for t in texts for sentence in t)
        counts = [int(count.replace(",", "")) for count in re.findall(r" ([\d,]+)(?:,|$)", labels)]
        assert (task, number, sum(counts)) == ("pos", "40", words)
    assert [split for _, split, *_ in examples] == ["train", "dev", "test"]
    assert "Pocket English (generated)" in text and "pos, train: 40 examples" in text


def test_checklist_counts_the_models_of_every_swept_value():
    _, text, _ = calque("checklist", ROOT / "align_mlm_dictionary")
    assert [row[2] for row in rows(text, r"objective +\| parameters")] == [
        "6",
        "6",
    ]  # two values, three seeds


def test_checklist_of_records_without_their_claims_file_or_description(tmp_path):
    assert calque("checklist", ROOT / "causes_necessity")[0] == 0
    shutil.copytree(ROOT / "lesson", tmp_path / "lesson")
    (tmp_path / "lesson" / ABOUT).unlink()
    assert "lacks 'report' or 'scale'" in refused("checklist", tmp_path / "lesson")


def test_checklist_dev_and_test_scores_equal_the_records():
    code, text, error = calque("checklist", ROOT / "everyday_small")
    assert code == 0, error
    records = json_rows.read(ROOT / "everyday_small" / RECORDS, Record)
    for title, task, metric, *cells in rows(text, r"objective +\| task"):
        for measure, shown in zip(("DEV", "SRC"), cells, strict=True):
            values = [
                record.value
                for record in records
                if (record.measure, record.task, record.metric) == (measure, task, metric)
                and record.run.split("/")[1] == title.partition(",")[0]
            ]
            assert len(values) == 4 and shown.startswith(f"{100 * fmean(values):.1f} ±")
    assert "CC BY-SA 4.0" in text and "Pocket English" not in text
