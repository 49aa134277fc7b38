"""Write the lesson's trained models to their file: `python -m experiments.lessons RUNS`, after
`calque run lesson --set shipped=none --runs RUNS`."""

import sys
from pathlib import Path

from calque.experiments.lessons import MODELS
from calque.experiments.settings.catalogue import study
from calque.pretrain.run import pack

steps = study("lesson").changed(shipped=None).trained(Path(sys.argv[1]))
pack({step.config.name_in_file: step.folder for step in steps}, MODELS)
