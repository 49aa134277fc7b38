import sys
from hashlib import sha256
from importlib import import_module, invalidate_caches
from pathlib import Path

import pytest

from calque.derive.build import Derivation
from calque.derive.dictionary import DictionaryConfig
from calque.derive.fingerprint import fingerprint, own_code
from calque.derive.pocket.language import PocketEnglish
from calque.derive.task_data import task_data_fingerprint
from calque.derive.transform import compose
from calque.derive.transforms import Transliterate

OWN = """
import json
import numpy
from dataclasses import dataclass
from calque.derive.order import Invert
from {bases} import Base

@dataclass(frozen=True)
class Mine(Base):
    name = "mine"
"""
BASE = """
from dataclasses import dataclass
from calque.derive.order import Invert
from . import tables

class Base(Invert):
    def identity(self):
        return "mine"
"""


def test_fingerprint_is_a_digest_of_sorted_json():
    text = '[{"a": [1, "Köln"], "b": null}]'
    assert fingerprint({"b": None, "a": (1, Path("Köln"))}) == sha256(text.encode()).hexdigest()[:12]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def mine(folder, word):
    """A transform whose base class is in a package next to its file; a module there contains `word`."""
    (folder / "own_bases").mkdir(exist_ok=True)
    files = {"__init__": "", "base": BASE, "tables": f"WORD = {word!r}\n"}
    for name, text in files.items():
        (folder / "own_bases" / f"{name}.py").write_text(text)
    (folder / "own_mine.py").write_text(OWN.format(bases="own_bases.base"))
    (folder / "unrelated.py").write_text(f"WORD = {word!r}\n")
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]
    invalidate_caches()
    return import_module("own_mine").Mine()


def test_only_files_that_define_a_class_count(folder):
    code = own_code([{"a": (Transliterate(), mine(folder, "a"))}])
    assert code.keys() == {"own_mine.py", "own_bases/__init__.py", "own_bases/base.py", "own_bases/tables.py"}
    changed = own_code(mine(folder, "b"))
    assert [name for name in code if code[name] != changed[name]] == ["own_bases/tables.py"]


def test_changed_code_changes_the_fingerprint(folder):

    def prints(transform):
        both = compose(Transliterate(), transform)
        return [
            Derivation(PocketEnglish(size=9), (both,), 300, DictionaryConfig()).fingerprint(),
            task_data_fingerprint(PocketEnglish(size=9), "pos", [transform]),
            fingerprint(both),
            fingerprint(both.facets),
        ]

    before, same, after = (prints(mine(folder, word)) for word in "aab")
    assert before == same
    assert all(one != other for one, other in zip(before, after, strict=True))
