"""Refuse to install a checkout whose symbolic links are files, which would lack the packages; see
pyproject.toml.
"""

from pathlib import Path

from setuptools import setup

link = Path(__file__).absolute().with_name("calque") / "derive"
if not link.is_dir():
    raise SystemExit(f"{link} is not a symbolic link; clone again with `git clone -c core.symlinks=true`")
setup()
