import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calque.derive.artefact import Artefact, check_part, finished, making
from calque.derive.errors import BadInput
from calque.derive.files import MANIFEST

NAMES = ("numbers.jsonl", "deep/weights.bin")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "of-numbers"
    facts = {"format": 1, "value": 0.25}
    with making(folder, "numbers", facts) as part:
        (part / NAMES[0]).write_text('{"value": 0.125}\n', encoding="utf-8")
        (part / "deep").mkdir()
        (part / NAMES[1]).write_bytes(bytes(range(64)))
        facts["said at the end"] = True
    return folder


def read(folder: Path) -> tuple[dict[str, object], list[bytes]]:
    artefact = Artefact.open(folder, "numbers")
    return artefact.facts, [artefact.path(name).read_bytes() for name in NAMES]


def test_a_written_file_is_read_back(folder: Path) -> None:
    facts, files = read(folder)
    assert facts == {"format": 1, "value": 0.25, "said at the end": True}
    assert files[1] == bytes(range(64))
    assert finished(folder)


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_flipped_bit_and_no_cut_goes_unseen(folder: Path, data: st.DataObject) -> None:
    path = folder / data.draw(st.sampled_from((*NAMES, MANIFEST)))
    before = path.read_bytes()
    at = data.draw(st.integers(0, len(before) - 1))
    if data.draw(st.booleans()):
        after = before[:at]
    else:
        after = before[:at] + bytes([before[at] ^ 1 << data.draw(st.integers(0, 7))]) + before[at + 1 :]
    try:
        path.write_bytes(after)
        with pytest.raises(BadInput) as refused:
            read(folder)
        assert "\n" not in str(refused.value)
    finally:
        path.write_bytes(before)


PLACES = ("seed-0-0123456789ab", "seed-1-0123456789ab", "seed-0-ba9876543210", "0123456789ab.trees.json")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("other", [*PLACES, "seed-0"])
def test_a_whole_folder_in_the_place_of_another_is_refused(place: str, other: str, tmp_path: Path) -> None:
    """Every way to open one names its manifest; a name without a fingerprint is the user's own, and may
    change."""
    for name in (place, other):
        with making(tmp_path / "made" / name, "numbers", {"name": name}) as part:
            (part / "deep").mkdir()
            (part / "deep" / "file").write_text(name, encoding="utf-8")
    moved = shutil.copytree(tmp_path / "made" / other, tmp_path / place)
    opened = (
        finished,
        lambda folder: Artefact.open(folder, "numbers"),
        lambda folder: check_part(folder / "deep", "numbers"),
    )
    for way in opened:
        assert way(tmp_path / "made" / place) is not False
        if place == other:
            assert way(moved) is not False
        else:
            with pytest.raises(BadInput) as refused:
                way(moved)
            assert str(refused.value).startswith(str(moved / MANIFEST)) and "\n" not in str(refused.value)
    renamed = shutil.copytree(tmp_path / "made" / place, tmp_path / "mine")
    assert Artefact.open(renamed, "numbers").facts == {"name": place}
