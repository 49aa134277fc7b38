"""A 15-minute lesson on cross-lingual transfer, and the trained models for its study."""

import shutil
from pathlib import Path

from calque.derive.errors import BadInput
from calque.derive.files import make_folder

HERE = Path(__file__).parent
FILES = ("lesson.ipynb", "solutions.md", "sheet.pdf", "sheet.md", "invent.html")
MODELS = HERE / "models.safetensors"


def copy(to: Path) -> list[Path]:
    """Copy the lesson's files to a folder. Raises BadInput if it already contains one of them."""
    places = [to / name for name in FILES]
    for place in places:
        if place.exists():
            raise BadInput("already exists; choose a different folder", place)
    make_folder(to)
    for place in places:
        shutil.copyfile(HERE / place.name, place)
    return places


def ship(runs: Path) -> None:
    """Write the models trained by `calque run lesson --set shipped=none --runs RUNS` to the lesson's file."""
    from calque.experiments.settings.catalogue import named_study
    from calque.pretrain.run import pack

    steps = named_study("lesson").changed(shipped=None).trained(runs)
    pack({step.config.name_in_file: step.folder for step in steps}, MODELS)
