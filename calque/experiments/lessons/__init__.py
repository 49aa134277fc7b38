"""A 15-minute lesson on cross-lingual transfer, and the trained models for its study."""

import shutil
from pathlib import Path

from calque.derive.errors import BadInput
from calque.derive.files import make_folder

HERE = Path(__file__).parent
FILES = ("lesson.ipynb", "solutions.md", "sheet.pdf", "sheet.md")


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
