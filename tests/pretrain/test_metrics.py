from dataclasses import replace
from types import SimpleNamespace

import pytest

from calque.pretrain.checkpoint import METRICS
from calque.pretrain.run import Metrics, read_metrics
from tests.pretrain.made import TRAIN, of_study, pretrain, stop_at

EACH = replace(TRAIN, steps=30, log_every=1, save_every=10, warmup=3)


@pytest.mark.parametrize(
    "damage", [b"", b'{"step": 1', b'{"step": 21, "loss": {"mlm": 99}}\n\xff\x00{"st', None]
)
def test_resumed_run_restores_its_metrics(damage, study, tmp_path):
    """Whatever happened to the file, rows up to the state are restored, and later ones written again."""
    path = tmp_path / METRICS
    config = of_study(study, train=EACH)
    stop_at(tmp_path, config, 23)  # the last state is from step 20
    kept = path.read_bytes().splitlines(keepends=True)[:20]
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage)
    pretrain(tmp_path, config)
    assert path.read_bytes().splitlines(keepends=True)[:20] == kept
    assert [row["step"] for row in read_metrics(path)] == list(range(1, 31))
    assert 99 not in [row["loss"]["mlm"] for row in read_metrics(path)]


def test_rows_contain_means_and_reported_terms(tmp_path):
    made = Metrics(
        tmp_path, replace(EACH, log_every=2), [SimpleNamespace(weights={"mlm": 1.0})], 10, True, None
    )
    for step in range(1, 5):
        made.add(step, {"mlm": float(step), "labelled": step / 10}, 7.0)
    rows = read_metrics(tmp_path / METRICS)
    assert [(row["step"], row["loss"]) for row in rows] == [(2, {"mlm": 1.5}), (4, {"mlm": 3.5})]
    assert [row["reported"]["labelled"] for row in rows] == pytest.approx([0.15, 0.35])
    assert [row["learning rate"] for row in rows] == [EACH.rate(1), EACH.rate(3)]
    assert all(row["gradient norm"] == 7 and row["tokens/s"] > 0 for row in rows)
