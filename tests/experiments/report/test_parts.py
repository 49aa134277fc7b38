from calque.analysis.results.results import Results
from calque.experiments.report.parts import training_curves


def test_every_model_has_training_curves(done):
    results = Results([model.run for model in done.models()], [])
    curves = list(training_curves(done.study, done.root, results, ", x=1"))
    assert [each.group for each in curves] == ["MLM, x=1", "ALIGN-MLM, x=1"]
    assert [each.run for each in curves] == [
        "MLM, x=1, Trans + Inv, seed 0",
        "ALIGN-MLM, x=1, Trans + Inv, seed 0",
    ]
    for each, model in zip(curves, done.models(), strict=True):
        lines = (model.step.folder / "metrics.jsonl").read_text().splitlines()
        assert len(each.rows) == len(lines) and each.rows[-1]["step"] == done.study.train.steps
