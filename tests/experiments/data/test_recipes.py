"""The recipes themselves: their form, and that studies find what they read."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from calque.analysis.measures.aer import SETS
from calque.experiments.data.archive import TARS, ZIPS
from calque.experiments.data.recipe import names, read_recipe, recipes_of
from calque.experiments.data.store import State, Store
from calque.experiments.languages import NaturalLanguages
from calque.experiments.names import studies, study

WITHOUT_DIGEST = {"manythings": 2, "wikipedia": 2, "xlm_r_base": 4, "cc_100": 88, "xlm_align": 37}
"""How many files of recipes nobody states a digest of: those of addresses that are rewritten, or not yet measured."""


@pytest.mark.parametrize("name", names())
def test_every_file_is_described(name: str) -> None:
    recipe = read_recipe(name)
    assert recipe.about and recipe.downloads
    for download in recipe.downloads:
        for url in (download.url, download.terms):
            assert urlsplit(url).scheme == "https"
        assert download.licence and download.source
        if download.sha256:
            assert download.bytes
        for output in download.outputs:
            assert not output.sha256 or output.bytes
            assert bool(output.inside) == (download.name.endswith(ZIPS + TARS) and not output.decompress)


@pytest.mark.parametrize("name", names())
def test_digests_are_stated_where_they_can_be(name: str) -> None:
    downloads = {download.url: download for download in read_recipe(name).downloads}
    assert len(downloads) == len(read_recipe(name).downloads)
    included = [one for one in WITHOUT_DIGEST if set(downloads) >= {file.url for file in read_recipe(one).downloads}]
    assert sum(not one.pinned for one in downloads.values()) == sum(WITHOUT_DIGEST[one] for one in included)


def test_texts_and_bitexts_are_files_that_the_recipe_puts_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe, data = read_recipe("xlm_align"), Path("data")
    places = {data / output.place for output in recipe.outputs}
    monkeypatch.setenv("CALQUE_DATA", "data")
    languages = study("xlm_align").languages
    assert isinstance(languages, NaturalLanguages)
    texts, bitexts = languages.texts, languages.bitexts
    assert (len(texts), len(recipe.texts), len(bitexts)) == (87, 87, 14)
    assert places.issuperset(path for text in texts.values() for path in text.paths)
    for pair, files in bitexts.items():
        assert texts.keys() >= {*pair}
        for part in files:
            assert places >= {part.path, part.beside or part.path}
            assert part.beside is None or part.columns == (0, 1)


def test_there_is_a_recipe_for_every_study_on_real_data() -> None:
    assert {"word_alignment", "align_mlm", "wikipedia"} <= {*studies()} & {*names()}


def test_what_the_studies_read_has_its_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The files that a study names below CALQUE_DATA are those that its recipe puts there."""
    monkeypatch.setenv("CALQUE_DATA", str(tmp_path))
    monkeypatch.delenv("CALQUE_STANZA", raising=False)
    monkeypatch.delenv("CALQUE_ENCODER", raising=False)
    source = study("align_mlm").languages.source  # type: ignore[attr-defined]
    files = [*source.text, *(path for task in (source.pos, source.ner, source.nli) for path in task.train + task.test)]
    for path in files:
        assert "align_mlm" in recipes_of(path), path
    parallel = [part for parts in study("word_alignment").languages.text.values() for part in parts]  # type: ignore[attr-defined]
    for path in [path for part in parallel for path in (part.path, part.beside) if path]:
        assert "word_alignment" in recipes_of(path), path
    for name in SETS:
        for file in ("alignv2.txt", *(f"test.{side}" for side in name.split("-"))):
            assert "word_alignment" in recipes_of(tmp_path / "align" / name / file), (name, file)


def test_files_of_known_digests_are_the_real_ones(calque_data: Path) -> None:
    """Copies of real files are those that recipes describe: digests, sizes and places fit."""
    store = Store(calque_data)
    for name in ("gold_alignments", "xquad", "lingnli", "multi30k"):
        assert {store.state(output) for output in read_recipe(name).outputs} == {State.THERE}, name
