"""`python -m tests.mutation`: how many small changes of the code do its tests notice?

Mutants are drawn with a seed from all of `--under`, each is tried against the tests that mirror its file, in a copy of
the project, and those that survive are listed. Nothing in the project itself is changed. Ends with 1 if a test fails
without a mutant, with 0 otherwise: a survivor may be equivalent to the original, which only a reader can tell.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutation.mutants import Mutant, mutant, sites
from tests.mutation.trial import PACKAGES, Trial, survivors

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Draw, try, and print what survives."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("--seed", type=int, default=0, help="which mutants are drawn")
    parser.add_argument("--count", type=int, default=100, help="how many")
    parser.add_argument("--under", nargs="+", default=PACKAGES, help="folders or files to change, below the project")
    options = parser.parse_args()
    drawn = draw(ROOT, options.under, options.count, options.seed)
    survived = 0
    with TemporaryDirectory() as name:
        try:
            for done, (mutant, alive) in enumerate(survivors(Trial.of(ROOT, Path(name)), drawn), start=1):
                survived += alive
                if alive:
                    print(f"survives: {mutant}", flush=True)
                print(f"\r{done} of {len(drawn)}, {survived} survive", end="", file=sys.stderr, flush=True)
        except ValueError as error:
            print(f"\n{error}", file=sys.stderr)
            return 1
    print(f"{len(drawn) - survived} of {len(drawn)} mutants are noticed, {survived} survive (seed {options.seed})")
    return 0


def draw(root: Path, under: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """`count` of all mutants of the files below the folders `under`, by file: all of them if there are fewer."""
    files = sorted(
        file for name in under for file in ([root / name] if (root / name).is_file() else (root / name).rglob("*.py"))
    )
    sources = {file: file.read_text(encoding="utf-8") for file in files}
    every = [(file, site) for file, source in sources.items() for site in sites(source)]
    drawn = random.Random(seed).sample(range(len(every)), min(count, len(every)))
    return [
        mutant(file.relative_to(root), sources[file], site) for file, site in (every[place] for place in sorted(drawn))
    ]


if __name__ == "__main__":
    sys.exit(main())
