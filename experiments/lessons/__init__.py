"""A 15-minute lesson on cross-lingual transfer: a notebook, its solutions, a lab sheet, a web page that
derives sentences, and the trained models of the study `lesson`."""

import shutil
from pathlib import Path

from calque.derive.errors import BadInput
from calque.derive.files import make_folder

HERE = Path(__file__).parent
FILES = ("lesson.ipynb", "solutions.md", "sheet.pdf", "sheet.md", "invent.html")  # the files for a class
MODELS = HERE / "models.safetensors"


def copy(to: Path) -> list[Path]:
    """Copy the lesson's files to a folder, which may be new. Raises BadInput if it already contains one of
    them."""
    places = [to / name for name in FILES]
    for place in places:
        if place.exists():
            raise BadInput("already exists; choose a folder without this file", place)
    make_folder(to)
    for place in places:
        shutil.copyfile(HERE / place.name, place)
    return places
