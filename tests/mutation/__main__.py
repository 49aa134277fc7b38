"""`python -m tests.mutation`: how many small changes of the code do its tests notice?

Mutants are drawn with a seed from all of `--under`, each is tried against the tests that mirror its file, in a copy of
the project, and those that survive are listed. With `--whole`, survivors are tried against all other test files that
run the changed statement, except during imports; one run of the whole suite finds these files. Nothing in the project
itself is changed. Ends with 1 if a test fails without a mutant, with 0 otherwise: a survivor may be equivalent to the
original, which only a reader can tell.
"""

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutation.mutants import Mutant, mutant, sites
from tests.mutation.reach import reaching
from tests.mutation.trial import PACKAGES, Trial

ROOT = Path(__file__).parents[2]
MEASURED = "bench"
"""The folder that no test answers for: benchmarks check for themselves that both sides are equal."""


def main() -> int:
    """Draw, try, and print what survives."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("--seed", type=int, default=0, help="which mutants are drawn")
    parser.add_argument("--count", type=int, default=100, help="how many")
    parser.add_argument("--under", nargs="+", default=PACKAGES, help="folders or files to change, below the project")
    parser.add_argument("--results", type=Path, help="a file that keeps verdicts, so that a second run goes on from it")
    parser.add_argument("--trust", action="store_true", help="take for granted that tests pass without a mutant")
    parser.add_argument("--whole", action="store_true", help="try survivors against all tests that run their statement")
    parser.add_argument("--jobs", type=int, default=2, help="processes of the run of the whole suite")
    options = parser.parse_args()
    drawn = draw(ROOT, options.under, options.count, options.seed)
    found: Counter[str] = Counter()
    survivors: list[Mutant] = []
    with TemporaryDirectory() as name:
        trial = Trial(ROOT, Path(name) / "mutants", options.results)
        trial.trust = options.trust
        try:
            for done, (mutant, verdict) in enumerate(trial.verdicts(drawn), start=1):
                found[verdict] += 1
                if verdict == "survives":
                    survivors.append(mutant)
                    print(f"survives: {mutant}", flush=True)
                print(f"\r{done} of {len(drawn)}, {found['survives']} survive", end="", file=sys.stderr, flush=True)
            if options.whole and survivors:
                tests = reaching(Trial(ROOT, Path(name) / "marked").folder, survivors, options.jobs)
                for mutant in survivors:
                    verdict = trial.retry(mutant, tests[mutant])
                    found["survives"] -= 1
                    found[verdict] += 1
                    print(f"{verdict} in {len(tests[mutant])} files of the whole suite: {mutant}", flush=True)
        except ValueError as error:
            print(f"\n{error}", file=sys.stderr)
            return 1
        finally:
            trial.close()
    noticed = f"{found['fails'] + found['times out']} of {len(drawn)} mutants are noticed"
    print(f"{noticed} ({found['times out']} by time), {found['survives']} survive (seed {options.seed})")
    return 0


def draw(root: Path, under: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """`count` of all mutants of the files below the folders `under`, by file: all of them if there are fewer.

    A mutant is drawn by a hash of the seed, its file and its change, so that a change of one file, or of a rule,
    changes no other draws.
    """
    files = sorted(
        file for name in under for file in ([root / name] if (root / name).is_file() else (root / name).rglob("*.py"))
    )
    sources = {
        file.relative_to(root): file.read_text(encoding="utf-8")
        for file in files
        if MEASURED not in file.parts and not file.name.startswith("test_")
    }
    every = [
        (hashlib.sha256(f"{seed} {path.as_posix()} {words}".encode()).digest(), path, site)
        for path, source in sources.items()
        for site, words in sites(source).items()
    ]
    drawn = sorted((path, site) for _, path, site in sorted(every)[:count])
    return [mutant(path, sources[path], site) for path, site in drawn]


if __name__ == "__main__":
    sys.exit(main())
