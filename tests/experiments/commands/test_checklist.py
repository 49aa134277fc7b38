import json
import re
import shutil
from html import unescape
from statistics import fmean

from transformers import AutoModelForMaskedLM

from calque.analysis.records import json_rows
from calque.analysis.records.record import RECORDS, Record
from calque.derive.task_data import TaskFolder
from calque.experiments.report.folder import ABOUT
from calque.experiments.session import StudySession
from tests.experiments.committed import ROOT
from tests.experiments.conftest import TINY, calque, refused


def answered(*words):
    code, text, error = calque("checklist", *words)
    assert code == 0, error
    return dict(re.findall(r"(?m)^- \*\*(.+?)\*\*: (.+)$", text))


def test_checklist_describes_the_study(done, tmp_path):
    root = shutil.copytree(done.root, tmp_path / "runs")
    report = root / done.report.relative_to(done.root)
    about = StudySession.open("pocket", TINY, root).about
    (report / ABOUT).write_text(json.dumps(about))
    answers = answered("pocket", "--runs", root)
    page = unescape((report / "report.html").read_text())
    for name in ("MLM", "ALIGN-MLM"):
        model = AutoModelForMaskedLM.from_pretrained(done.model(name).checkpoint)
        parameters = f"{sum(weight.numel() for weight in model.parameters()):,}"
        answer = answers[f"C1 Models, {name}"]
        assert re.fullmatch(rf"1 of {parameters} parameters, \d+ seconds per model on .+", answer)
        assert f"<dt>C1 Models, {name}</dt><dd>{answer}</dd>" in page
    gold = TaskFolder.open(done.examples["pos"].folder)
    for split in ("train", "dev", "test"):
        texts = [t for example in gold.examples(split) for t in example.texts]
        words = sum(len(sentence.words) for t in texts for sentence in t)
        number, *labels = answers[f"B6 Examples of pos, {split}"].split(", ")
        assert (number, sum(int(label.split()[1].replace(",", "")) for label in labels)) == ("40", words)
    assert answers["B2 Licence of Pocket English (generated)"] == "MIT"


def test_checklist_counts_the_models_of_every_swept_value():
    answers = answered(ROOT / "align_mlm_dictionary")
    for name in ("DICT-MLM", "ALIGN-MLM"):
        assert answers[f"C1 Models, {name}"].startswith("6 of ")  # two values, three seeds


def test_checklist_of_records_without_their_claims_file_or_description(tmp_path):
    assert calque("checklist", ROOT / "causes_necessity")[0] == 0
    shutil.copytree(ROOT / "lesson", tmp_path / "lesson")
    (tmp_path / "lesson" / ABOUT).unlink()
    assert "lacks 'report' or 'scale'" in refused("checklist", tmp_path / "lesson")


def test_checklist_dev_and_test_scores_equal_the_records():
    answers = answered(ROOT / "everyday_small")
    records = json_rows.read(ROOT / "everyday_small" / RECORDS, Record)
    for name in ("MLM", "ALIGN-MLM"):
        cells = answers[f"C3 Source score in percent, {name}, Trans + Inv, POS accuracy"].split(", ")
        for measure, split, shown in zip(("DEV", "SRC"), ("dev", "test"), cells, strict=True):
            values = [
                record.value
                for record in records
                if (record.measure, record.task, record.metric) == (measure, "pos", "accuracy")
                and record.run.split("/")[1] == name
            ]
            assert len(values) == 4 and shown.startswith(f"{split} {100 * fmean(values):.1f} ±")
    licences = [answer for question, answer in answers.items() if question.startswith("B2")]
    assert len(licences) == 1 and "CC BY-SA 4.0" in licences[0]
