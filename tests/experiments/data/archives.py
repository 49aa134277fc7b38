"""Archives made for tests."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Mapping


def zipped(members: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return made.getvalue()


def tarred(members: Mapping[str, bytes], mode: str = "w:gz") -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


def linked(kind: bytes) -> bytes:
    """A tar file whose member `x` is a link to a file outside."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        info = tarfile.TarInfo("x")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    return made.getvalue()


def zip_link() -> bytes:
    """A zip file whose member `x` is a link."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        info = zipfile.ZipInfo("x")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    return made.getvalue()


def bomb(size: int) -> bytes:
    """A compressed file of zeros."""
    return gzip.compress(bytes(size), 9)
