"""What a recipe says of packing: which of its files are text of which language, and which are bitexts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from experiments.data.recipe import Download, PackedBitext, PackedText, Packing
from experiments.data.table import Table


def read_packing(table: Table, downloads: Iterable[Download]) -> Packing:
    """The `pack` table of a recipe with these downloads.

    Raises:
        BadInput: as for the recipe; a file is none that the recipe has, or a language has its text twice, or none.
    """
    places = {output.place for download in downloads for output in download.outputs}
    made = Packing(
        tuple(_text(one, places) for one in table.tables("text")),
        tuple(_bitext(one, places) for one in table.tables("bitext")),
        table.text("tokenizer", ""),
    )
    table.done()
    languages = [text.language for text in made.texts]
    if not languages or len(set(languages)) < len(languages):
        table.refuse("expected the text of at least one language, [[pack.text]], and of each once")
    for bitext in made.bitexts:
        if lacking := sorted(set(bitext.languages) - set(languages)):
            table.refuse(f"a bitext of {' and '.join(bitext.languages)}, and no text of {lacking[0]}")
    folders = {str(above) for place in places for above in PurePosixPath(place).parents}
    if made.tokenizer and made.tokenizer not in folders:
        table.refuse(f"tokenizer is a folder that the recipe fills, not {made.tokenizer[:80]!r}")
    return made


def _text(table: Table, places: set[str]) -> PackedText:
    made = PackedText(
        table.text("language"), table.texts("files"), table.text("column", "text"), table.number("megabytes")
    )
    table.done()
    _check(table, made.files, places)
    return made


def _bitext(table: Table, places: set[str]) -> PackedBitext:
    languages, files = table.texts("languages"), table.texts("files")
    first, second = table.number("first"), table.number("second", 1)
    table.done()
    _check(table, files, places)
    if len(languages) != 2 or len(files) > 2:
        table.refuse("a bitext is of two languages, in one file or in two")
    return PackedBitext((languages[0], languages[1]), files, (first, second))


def _check(table: Table, files: tuple[str, ...], places: set[str]) -> None:
    for file in files:
        if file not in places:
            table.refuse(f"files: the recipe puts no file at {file[:80]!r}")
    if not files:
        table.refuse("files is missing; expected places that the recipe fills")
