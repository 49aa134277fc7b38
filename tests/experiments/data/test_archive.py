"""What comes out of archives, and what is refused in them."""

import bz2
import gzip
import io
import lzma
import random
import tarfile
import zipfile
from pathlib import Path

import pytest

from calque.derive.errors import BadInput
from calque.experiments.data.archive import unpack
from calque.experiments.data.recipe import Output
from tests.experiments.data.archives import bomb, linked, tarred, zip_link, zipped

TABLE = b"language\tlabel\ttext\nen\tyes\tone\nde\tno\tzwei\nen\tno\tthree\n"


def unpacked(tmp_path: Path, content: bytes, name: str, *outputs: Output) -> dict[str, bytes]:
    """What comes out, by place."""
    archive = tmp_path / "archive"
    archive.write_bytes(content)
    made = unpack(archive, name, outputs, tmp_path / "made")
    return {place: path.read_bytes() for place, path in made.items()}


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (zipped({"a/b": b"one", "c": b"two"}), "x.zip"),
        *((tarred({"a/b": b"one", "./c": b"two"}, f"w:{kind}"), f"x.tar.{kind}") for kind in ("gz", "xz", "bz2")),
        (tarred({"a/b": b"one", "c": b"two"}), "x.tgz"),
        (tarred({"a/b": b"one", "c": b"two"}, "w"), "x.tar"),
    ],
)
def test_members_that_are_named_come_out(content: bytes, name: str, tmp_path: Path) -> None:
    outputs = Output("there/first", ("a/b",)), Output("second", ("c",))
    assert unpacked(tmp_path, content, name, *outputs) == {"there/first": b"one", "second": b"two"}


@pytest.mark.parametrize(
    ("compress", "name"), [(gzip.compress, "x.gz"), (lzma.compress, "x.xz"), (bz2.compress, "x.bz2")]
)
def test_a_compressed_file_is_one_file(compress: object, name: str, tmp_path: Path) -> None:
    content = compress(b"text\n" * 1_000)  # type: ignore[operator]
    assert unpacked(tmp_path, content, name, Output("y", decompress=True)) == {"y": b"text\n" * 1_000}


def test_archives_inside_archives(tmp_path: Path) -> None:
    german = tarred({"train": b"3"})  # once: gzip stores the time
    content = zipped({"en.tar.gz": tarred({"train": b"1", "dev": b"2"}), "de.tar.gz": german})
    outputs = (
        Output("train-en", ("en.tar.gz", "train")),
        Output("dev-en", ("en.tar.gz", "dev")),
        Output("train-de", ("de.tar.gz", "train")),
        Output("whole", ("de.tar.gz",)),
    )
    made = unpacked(tmp_path, content, "x.zip", *outputs)
    assert (made["train-en"], made["dev-en"], made["train-de"]) == (b"1", b"2", b"3")
    assert made["whole"] == german


def test_rows_of_a_language(tmp_path: Path) -> None:
    """Three files out of one member."""
    outputs = (
        Output("en", ("t",), where={"language": "en"}),
        Output("en-no", ("t",), where={"language": "en", "label": "no"}),
        Output("de", ("t",), where={"language": "de"}),
    )
    assert unpacked(tmp_path, zipped({"t": TABLE}), "x.zip", *outputs) == {
        "en": b"language\tlabel\ttext\nen\tyes\tone\nen\tno\tthree\n",
        "en-no": b"language\tlabel\ttext\nen\tno\tthree\n",
        "de": b"language\tlabel\ttext\nde\tno\tzwei\n",
    }


def twice() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for content in (b"one", b"two"):
            info = tarfile.TarInfo("x")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


def locked() -> bytes:
    """A zip file whose only member says that it is encrypted."""
    made = bytearray(zipped({"x": b"secret"}))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        made[made.index(mark) + place] |= 1
    return bytes(made)


def in_a_flipped_bit(content: bytes) -> bytes:
    return content[: len(content) // 2] + bytes([content[len(content) // 2] ^ 1]) + content[len(content) // 2 + 1 :]


NOISE = random.Random(0).randbytes(20_000)


@pytest.mark.parametrize(
    ("content", "name", "output", "said"),
    [
        (zipped({"xx": b"1"}), "x.zip", Output("y", ("x",)), "no member 'x' in it; did you mean xx?"),
        (tarred({"xx": b"1"}), "x.tgz", Output("y", ("x",)), "no member 'x' in it; did you mean xx?"),
        (linked(tarfile.SYMTYPE), "x.tgz", Output("y", ("x",)), "'x' is a link, a folder, a device or encrypted"),
        (linked(tarfile.LNKTYPE), "x.tgz", Output("y", ("x",)), "'x' is a link, a folder, a device or encrypted"),
        (linked(tarfile.CHRTYPE), "x.tgz", Output("y", ("x",)), "'x' is a link, a folder, a device or encrypted"),
        (zip_link(), "x.zip", Output("y", ("x",)), "'x' is a link, a folder, a device or encrypted"),
        (zipped({"x/": b""}), "x.zip", Output("y", ("x/",)), "'x/' is a link, a folder, a device or encrypted"),
        (locked(), "x.zip", Output("y", ("x",)), "'x' is a link, a folder, a device or encrypted"),
        (twice(), "x.tgz", Output("y", ("x",)), "two members are called 'x'"),
        (b"no archive at all", "x.zip", Output("y", ("x",)), "damaged, or not a file of its kind"),
        (b"no archive at all", "x.tar.gz", Output("y", ("x",)), "damaged, or not a file of its kind"),
        (b"no archive at all", "x.tar", Output("y", ("x",)), "damaged, or not a file of its kind"),
        (b"no archive at all", "x.bz2", Output("y", decompress=True), "damaged, or not a file of its kind"),
        (tarred({"x": NOISE})[:-9_000], "x.tgz", Output("y", ("x",)), "damaged, or not a file of its kind"),
        (in_a_flipped_bit(zipped({"x": NOISE})), "x.zip", Output("y", ("x",)), "damaged, or not a file of its kind"),
        (
            in_a_flipped_bit(lzma.compress(NOISE)),
            "x.xz",
            Output("y", decompress=True),
            "damaged, or not a file of its kind",
        ),
        (gzip.compress(NOISE)[:-900], "x.gz", Output("y", decompress=True), "damaged, or not a file of its kind"),
        (bomb(30_000_000), "x.gz", Output("y", decompress=True), "unpacks to more than 1,\\d+,\\d+ bytes"),
        (tarred({"x": bytes(30_000_000)}), "x.tgz", Output("y", ("x",)), "unpacks to more than 1,\\d+,\\d+ bytes"),
        (zipped({"x": bytes(30_000_000)}), "x.zip", Output("y", ("x",)), "unpacks to more than 1,\\d+,\\d+ bytes"),
        (tarred({"a": bytes(30_000_000)}), "x.tgz", Output("y", ("x",)), "unpacks to more than 1,\\d+,\\d+ bytes"),
        (zipped({"x": b"1"}), "x.rar", Output("y", ("x",)), "expected a name that ends in one of .zip"),
        (zipped({"t": TABLE}), "x.zip", Output("y", ("t",), where={"tongue": "en"}), "no column 'tongue'"),
        (zipped({"t": TABLE}), "x.zip", Output("y", ("t",), where={"language": "fr"}), "no row of it has .*'fr'"),
        (zipped({"t": b"a\tb\nc\n"}), "x.zip", Output("y", ("t",), where={"b": "x"}), "1 columns; expected 2 or more"),
    ],
)
def test_what_is_refused(content: bytes, name: str, output: Output, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=said) as refused:
        unpacked(tmp_path, content, name, output)
    assert str(refused.value).startswith(name)


def test_a_member_that_nobody_names_comes_out_nowhere(tmp_path: Path) -> None:
    """Whatever it is called."""
    names = "../up", "/tmp/absolute", "a/../../b", "x"
    for content, name in ((zipped(dict.fromkeys(names, b"1")), "x.zip"), (tarred(dict.fromkeys(names, b"1")), "x.tgz")):
        folder = tmp_path / name / "inner"
        folder.mkdir(parents=True)
        assert unpacked(folder, content, name, Output("y", ("x",))) == {"y": b"1"}
        assert {path.name for path in (tmp_path / name).iterdir()} == {"inner"}
    assert not (tmp_path / "up").exists()


def test_zip_files_that_say_they_are_small(tmp_path: Path) -> None:
    """A member whose header states another size than it has."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", bytes(30_000_000))
    content = bytearray(made.getvalue())
    at = content.index(b"PK\x01\x02") + 24
    content[at : at + 4] = (10).to_bytes(4, "little")
    with pytest.raises(BadInput):
        unpacked(tmp_path, bytes(content), "x.zip", Output("y", ("x",)))
