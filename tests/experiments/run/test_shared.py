import json
import shutil
from pathlib import Path

import pytest

import calque
from calque.analysis.measures.alignment import HITS
from calque.analysis.records.record import ALIGNMENT
from calque.derive.artefact import Artefact
from calque.experiments.run.step import COMPUTE, total_cost
from calque.pretrain.run import read_metrics
from tests.experiments.conftest import TINY, finished


def test_studies_share_models(done, tmp_path):
    shutil.copytree(done.root, tmp_path, dirs_exist_ok=True)
    other = finished(tmp_path, done.changed("dictionary.fraction=0.5").study.changed(name="other"))
    assert [title for title in other.heard.finished if title.startswith("pretrain")] == [
        "pretrain trans.inv/ALIGN-MLM/seed-0"
    ]
    assert other.model("MLM").folder.name == done.model("MLM").folder.name
    shared, own = (
        {(r.metric, r.step): r for r in each.records(each.model("MLM")) if r.measure == ALIGNMENT}
        for each in (done, other)
    )
    assert {step for metric, step in own if metric == "held-out"} == {4, 8, 12}
    for metric in ("all", "back", "held-out", "dictionary"):
        alike = [own[metric, step].count == shared[metric, step].count for step in (4, 8, 12)]
        assert alike == [metric in ("all", "back")] * 3
    assert any(HITS in row for row in read_metrics(other.model("MLM").folder / "metrics.jsonl"))


def test_steps_record_compute_across_interruptions(derived):
    def stop(what, done, of):
        if what.startswith("pretrain") and done == of:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        derived.compute("pretrain", report=stop)
    run = derived.model("MLM").folder
    (note,) = run.parent.glob(f".*.{COMPUTE}")
    before = json.loads(note.read_text())
    derived.compute("pretrain")
    spent = Artefact.open(run, "run").facts[COMPUTE]
    assert spent["seconds"] > before["seconds"] > 0 and spent["cpu seconds"] > before["cpu seconds"]
    assert spent["operations"] > 0 and sum(spent["processors"].values()) == pytest.approx(spent["seconds"])
    assert not list(derived.home.rglob(f".*.{COMPUTE}"))
    steps = derived.study.trained(derived.root)
    both = total_cost(steps)
    assert both["steps"] == 2 and both["unknown"] == 0
    assert both["operations"] == sum(
        Artefact.open(step.folder, step.kind).facts[COMPUTE]["operations"] for step in steps
    )


def test_sweep_from_python_returns_a_data_frame(done, tmp_path):
    shutil.copytree(done.home, tmp_path / "shared")
    sweep = {"dictionary.fraction": [0.25, 0.5]}
    session = calque.study("pocket", *TINY, "measures=alignment", runs=tmp_path, sweep=sweep, name="amounts")
    report = session.run(jobs=1)
    assert report == tmp_path / "pocket" / "reports" / "amounts" == session.report
    rows = session.records()
    assert set(rows["dictionary.fraction"]) == {0.25, 0.5} and set(rows["objective"]) == {"MLM", "ALIGN-MLM"}
    assert set(rows["language"]) >= {"trans.inv"} and all(Path(path).is_dir() for path in rows["path"])
    models = session.models()
    assert len(models) == 3 and all(model.languages == ("source", "trans.inv") for model in models.values())
    assert json.loads((report / "about.json").read_text())[COMPUTE]["seconds"] > 0
