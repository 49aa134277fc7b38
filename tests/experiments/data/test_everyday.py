import lzma
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from calque.derive.files import Artefact
from calque.derive.sources.files import EVERYDAY, EVERYDAY_ENGLISH
from tests.experiments.conftest import ROOT
from tests.experiments.data.everyday import NOTICES, make_everyday


def content(path):
    """Return the uncompressed content, since releases of the compressor write different bytes."""
    return lzma.open(path).read() if path.suffix == ".xz" else path.read_bytes()


@pytest.mark.slow
def test_shipped_files_equal_those_built_from_their_sources(calque_data, tmp_path):
    out = tmp_path / "made"
    make_everyday(calque_data, out)
    made, shipped = Artefact.open(out, EVERYDAY_ENGLISH), Artefact.open(EVERYDAY, EVERYDAY_ENGLISH)
    assert made.facts == shipped.facts and made.digests.keys() == shipped.digests.keys()
    for name in made.digests:
        assert content(out / name) == content(EVERYDAY / name), name


@pytest.mark.slow
def test_distributions_contain_files_and_licences(tmp_path):
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in filter(None, tracked.split("\0")):
        if (ROOT / name).exists() and not name.startswith(("tests/", "docs/", "experiments/records/")):
            (tmp_path / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / "checkout" / name, follow_symlinks=False)
    program = "from setuptools import build_meta as b; b.build_sdist('dist'); b.build_wheel('dist')"
    built = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path / "checkout", capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    (wheel,), (source,) = ((tmp_path / "checkout" / "dist").glob(kind) for kind in ("*.whl", "*.tar.gz"))
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "wheel")
        (metadata,) = (name for name in names if name.endswith("/METADATA"))
        assert "CC-BY-SA-4.0" in archive.read(metadata).decode()
    folder = Artefact.open(tmp_path / "wheel" / "calque" / "derive" / EVERYDAY.name, EVERYDAY_ENGLISH)
    folder.verify()
    assert {*NOTICES} < folder.digests.keys()
    with tarfile.open(source) as archive:
        parts = {"/".join(Path(name).parts[1:]) for name in archive.getnames() if len(Path(name).parts) > 1}
    for name in folder.digests:
        assert f"calque/derive/{EVERYDAY.name}/{name}" in parts
    for licence in NOTICES[1:]:
        assert any(name.endswith(f"licenses/calque/derive/{EVERYDAY.name}/{licence}") for name in names)
