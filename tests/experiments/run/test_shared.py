import json
import shutil
from pathlib import Path

import pytest

import calque
from calque.analysis.measures.alignment import HITS
from calque.analysis.records.record import ALIGNMENT
from calque.derive.artefact import Artefact
from calque.derive.files import claimed
from calque.experiments.run.shared import note_use, prune, unused, users
from calque.experiments.run.spent import COMPUTE, total
from calque.pretrain.run import read_metrics
from tests.experiments.conftest import TINY, Done, finished
from tests.experiments.conftest import calque as command


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


def test_unused_steps_are_pruned(done, tmp_path):
    shutil.copytree(done.home, tmp_path / "shared")
    both, one = (
        Done(tmp_path, done.study),
        Done(tmp_path, done.changed("objectives=MLM").study.changed(name="one")),
    )
    for each in (both, one):
        note_use(each.report, tmp_path, each.study.steps(tmp_path))
    mlm, align = (both.model(name).folder.relative_to(both.home).as_posix() for name in ("MLM", "ALIGN-MLM"))
    assert (users(tmp_path)[mlm], users(tmp_path)[align]) == (
        ["one/report", "pocket/report"],
        ["pocket/report"],
    )
    assert list(unused(tmp_path)) == []
    shutil.rmtree(tmp_path / "pocket")
    assert [path.relative_to(both.home).as_posix() for path in unused(tmp_path)] == [align]
    with claimed(both.home / align):  # another command computes it
        assert prune(tmp_path) == []
    code, out, _ = command("runs", "--runs", tmp_path, "--prune", "--dry-run")
    assert (code, out.split()) == (0, [str(both.home / align)]) and (both.home / align).exists()
    code, out, _ = command("runs", "--runs", tmp_path, "--prune")
    assert (code, out.split()) == (0, [str(both.home / align)]) and not (both.home / align).exists()
    assert one.model("MLM").step.finished
    code, out, _ = command("runs", "--runs", tmp_path, "--models")
    assert (code, out) == (0, f"{mlm}  one/report\n")


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
    both = total(steps)
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
