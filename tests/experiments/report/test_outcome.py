import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_closed_streams_are_not_reused_by_files(tmp_path):
    code = f"""
import sys
from calque.experiments.cli import open_streams
open_streams()
with open({str(tmp_path / "file")!r}, "w") as file:
    print("by \u2212 1")
    print("by \u2212 1", file=sys.stderr)
    file.write(str(file.fileno()))
"""
    ran = subprocess.run(
        ["sh", "-c", 'exec "$0" -c "$1" <&- >&- 2>&-', sys.executable, code], cwd=ROOT, check=False
    )
    assert ran.returncode == 0
    assert int((tmp_path / "file").read_text()) > 2
