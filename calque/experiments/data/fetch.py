"""Download a recipe's files that are missing from the data folder, and extract members of zip and tar
archives, which may be nested, and rows of tables."""

import gzip
import hashlib
import shutil
import tarfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from zipfile import BadZipFile

import requests
from urllib3.exceptions import HTTPError

from calque.derive.errors import BadInput, unknown
from calque.derive.files import claimed, make_folder, whole_file, writing
from calque.derive.fingerprint import sha256
from calque.derive.workers import Progress
from calque.experiments.data.recipe import Download, Output, Recipe

THERE, MISSING, ALTERED = "there", "missing", "altered"
WORK = ".fetching"  # the subfolder for downloads and unpacked files
HEADERS = {"User-Agent": "calque (data fetch)", "Accept-Encoding": "identity"}
ARCHIVES = {".zip": "zip", ".tar": "tar", ".tar.gz": "gztar", ".tgz": "gztar"}
DAMAGE = (BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, RuntimeError)
TIMEOUT = 30.0  # maximum number of seconds without receiving a byte


def state(folder: Path, output: Output) -> str:
    """Return the state of a file: missing, altered, or there with the digest stated in its recipe."""
    path = folder / output.place
    if not path.exists():
        return MISSING
    return THERE if path.is_file() and output.sha256 in ("", sha256(path)) else ALTERED


def fetch(recipe: Recipe, folder: Path, report: Progress, trust: bool = False) -> list[str]:
    """Fetch each download whose files are missing, even if other downloads fail, and return the new files'
    paths. Raises BadInput for altered files, failed downloads and, without `trust`, files without a published
    digest."""
    states = {output.place: state(folder, output) for output in recipe.outputs}
    if altered := [place for place in states if states[place] == ALTERED]:
        raise BadInput(f"{altered[0]}: differs from the recipe; remove it to fetch it again", folder)
    missing = []
    for download in recipe.downloads:
        if MISSING in [states[output.place] for output in download.outputs]:
            missing.append(download)
    chosen = [download for download in missing if trust or download.pinned]
    placed, failed = list[str](), list[str]()
    make_folder(folder)
    with claimed(folder / "fetching"):
        for download in chosen:
            try:
                placed += _fetch(download, folder, report)
            except BadInput as error:
                failed.append(str(error))
    with suppress(OSError):  # the folder contains partial downloads, or does not exist
        (folder / WORK).rmdir()
    if number := len(missing) - len(chosen):
        failed.append(f"{recipe.name}: {number:,} downloads have no published digest; --trust fetches them")
    if failed:
        raise BadInput(failed)
    return placed


def _fetch(download: Download, folder: Path, report: Progress) -> list[str]:
    work = folder / WORK / hashlib.sha256(download.url.encode()).hexdigest()[:16]
    make_folder(work)
    archive = download_file(download, work / "part", report)
    shutil.rmtree(work / "part.members", ignore_errors=True)  # left behind by a killed process
    try:
        files = unpack(archive, download.name, download.outputs)
        for output in download.outputs:
            _check(files[output.place], output.sha256, f"{download.url}: {output.place}")
    except BadInput:
        shutil.rmtree(work)
        raise
    placed = [place for place in files if not (folder / place).exists()]
    for place in placed:
        with whole_file(folder / place) as part:
            shutil.move(files[place], part)  # the folder may be a link to another disk
    shutil.rmtree(work)
    return placed


def download_file(download: Download, part: Path, report: Progress) -> Path:
    """Download a file to `part`, resuming if its digest is known, and return its path. If it is not the
    expected file, delete it and raise BadInput."""
    if not download.sha256:
        part.unlink(missing_ok=True)
    try:
        _receive(download, part, report)
        _check(part, download.sha256, download.url)
    except (requests.RequestException, HTTPError) as error:
        raise BadInput(f"failed: {error}; run the command again", download.url) from None
    except BadInput:
        part.unlink(missing_ok=True)
        raise
    return part


def _receive(download: Download, part: Path, report: Progress) -> None:
    """Complete a partial download or, if the server cannot resume it, download the whole file."""
    start = part.stat().st_size if part.exists() else 0
    headers = HEADERS | ({"Range": f"bytes={start}-"} if start else {})
    with requests.get(download.url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        if response.status_code == 416:  # no bytes are left to receive; the digest is checked later
            return
        response.raise_for_status()
        if response.raw.length_remaining is None and "Transfer-Encoding" not in response.headers:
            raise BadInput("the server states no length, so truncation would go unnoticed", download.url)
        title, start = f"fetching {download.name}", start if response.status_code == 206 else 0
        total = start + (response.raw.length_remaining or 0)
        with writing(part), part.open("ab" if start else "wb") as file:
            while block := response.raw.read1(1 << 17, decode_content=False):
                start += file.write(block)
                report(title, start, max(total, start + 1))  # a server need not state the length
        report(title, start, start)


def _check(path: Path, expected: str, where: str) -> None:
    if expected and (digest := sha256(path)) != expected:
        raise BadInput(f"expected SHA-256 {expected} but got {digest}", where)


# Unpacking


def unpack(archive: Path, name: str, outputs: Sequence[Output]) -> dict[str, Path]:
    """Unpack `archive`, which was downloaded as `name`, into its folder. Return the unpacked files by output
    path."""
    places = {}
    try:
        for number, output in enumerate(outputs):
            file, member = archive, name
            for inside in output.inside:
                file, member = _members(file, member) / inside, inside
                if not file.is_file():
                    raise BadInput(f"contains no file {inside!r}", name)
            if output.decompress:
                file = _decompressed(archive)
            if output.where:
                file = _rows(file, output, file.with_name(f"rows-{number}"), name)
            places[output.place] = file
    except DAMAGE as error:
        if getattr(error, "errno", None) is not None:  # a disk error, not a damaged archive
            raise
        raise BadInput(f"damaged, or not in the format that its name suggests: {error}", name) from None
    return places


def _members(archive: Path, name: str) -> Path:
    """Unpack a whole archive, unless it has already been unpacked, and return the folder."""
    folder = archive.with_name(f"{archive.name}.members")
    if not folder.exists():
        kinds = [kind for suffix, kind in ARCHIVES.items() if name.endswith(suffix)]
        if not kinds:
            raise BadInput(f"not an archive: its name must end in one of {', '.join(ARCHIVES)}", name)
        with writing(folder):
            if kinds == ["zip"]:
                shutil.unpack_archive(archive, folder, "zip")
            else:
                shutil.unpack_archive(archive, folder, kinds[0], filter="data")
    return folder


def _decompressed(archive: Path) -> Path:
    target = archive.with_name("decompressed")
    with writing(target), gzip.open(archive) as stream, target.open("wb") as file:
        shutil.copyfileobj(stream, file)
    return target


def _rows(table: Path, output: Output, to: Path, name: str) -> Path:
    """Write a table's header and the rows with the values in `output.where`."""
    with writing(to), table.open("rb") as file, to.open("wb") as selection:
        header = file.readline()
        columns = header.decode(errors="replace").rstrip("\r\n").split("\t")
        for column in output.where:
            if column not in columns:
                raise BadInput(unknown("column", column, columns), name, 1)
        values_by_column = {columns.index(column): value.encode() for column, value in output.where.items()}
        selection.write(header)
        for line in file:
            row = dict(enumerate(line.rstrip(b"\r\n").split(b"\t")))
            if all(row.get(place) == value for place, value in values_by_column.items()):
                selection.write(line)
    return to
