"""Models by name, from a cache as the hub's own client leaves it; nothing here asks the network."""

from __future__ import annotations

from pathlib import Path

import huggingface_hub.constants
import pytest

from derive.errors import BadInput
from pretrain.hub import model_folder


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


def test_a_folder_is_itself(tmp_path: Path) -> None:
    assert model_folder(str(tmp_path)) == tmp_path
    missing = tmp_path / "not" / "there"
    assert model_folder(str(missing)) == missing  # no name of the hub, and whoever opens it says what is missing


def test_a_name_is_what_was_downloaded_before(tmp_path: Path, offline: None) -> None:
    commit = "0" * 40
    home = tmp_path / "models--someone--encoder"
    (home / "refs").mkdir(parents=True)
    (home / "refs" / "main").write_text(commit)
    snapshot = home / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    found = model_folder("someone/encoder", tmp_path)
    assert (found / "config.json").samefile(snapshot / "config.json")


def test_a_name_that_is_nowhere_is_one_line(tmp_path: Path, offline: None) -> None:
    for name in ("no-such-encoder", "someone/no-such-encoder"):
        with pytest.raises(BadInput, match=f"no folder '{name}', and no model of that name"):
            model_folder(name, tmp_path)
    with pytest.raises(BadInput, match="no folder"):
        model_folder("a--b", tmp_path)  # not even a name
