"""The losses of 100 steps for each objective: `python -m tests.pretrain.golden` rewrites golden.json. Run it
when a change is meant to change what is learnt, and say so in its description. There is no dropout, whose
random numbers differ between builds of torch; NumPy draws everything else."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import torch

from calque.derive.languages import Languages
from tests.pretrain.made import LANGUAGE, OBJECTIVES, STILL, TRAIN, fit, new_learner, write_study

PATH = Path(__file__).with_name("golden.json")
STEPS = replace(TRAIN, steps=100, warmup=10)


def losses(objective, languages):
    learner = new_learner(objective)
    streams = objective.streams(languages, STILL.length, 0)
    rows = fit(learner, streams, STEPS)
    terms = [name for stream in streams for name in stream.weights]
    return {name: [round(means[name], 6) for _, means, _ in rows] for name in terms}


if __name__ == "__main__":
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        made = Languages.open(write_study(Path(folder) / "study"), [LANGUAGE])
        golden = {name: losses(objective, made) for name, objective in OBJECTIVES.items()}
    PATH.write_text(json.dumps(golden, indent=1) + "\n")
