"""`python -m tests.attack`: is any attack on what finished runs left read as if nothing had happened?

It makes toy studies of every kind in a temporary folder, attacks their artefacts (flipped bits, files cut short,
changed digits, removed files, and files, manifests and folders that belong to other runs), and reads each as the next
command would. An attack is refused in one line that names the artefact, or what is read is the same as before, or the
artefact does not count as finished and is made again. Ends with 1 if any attack is silent or ends in a traceback.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from tests.attack.attacks import AGAIN, BETWEEN, FAILED, HARMLESS, REFUSED, SILENT, WITHIN, Outcome, attack
from tests.attack.toys import targets

RESULTS = (REFUSED, HARMLESS, AGAIN, SILENT, FAILED)


def main() -> int:
    """Make the toys, attack them, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("--seed", type=int, default=0, help="which attacks are drawn")
    parser.add_argument("--attacks", type=int, default=1000, help="how many")
    options = parser.parse_args()
    torch.set_num_threads(1)
    outcomes: list[Outcome] = []
    with TemporaryDirectory() as name:
        made = targets(Path(name))
        print(f"{len(made)} artefacts of {len({one.kind for one in made})} kinds", file=sys.stderr)
        for outcome in attack(made, options.attacks, options.seed):
            outcomes.append(outcome)
            if outcome.result in (SILENT, FAILED):
                print(f"{outcome.result}: {outcome.attack}, {outcome.kind}: {outcome.told}", flush=True)
            print(f"\r{len(outcomes)} of {options.attacks}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(table(outcomes))
    bad = sum(outcome.result in (SILENT, FAILED) for outcome in outcomes)
    print(f"{len(outcomes) - bad:,} of {len(outcomes):,} attacks are refused or harmless (seed {options.seed})")
    return int(bad > 0)


def table(outcomes: Iterable[Outcome]) -> str:
    """Attacks that were refused or harmless of all, by kind of artefact and of attack, and what they came to."""
    good, every, results = Counter[tuple[str, str]](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for outcome in outcomes:
        for kind in (outcome.kind, "all"):
            for attack_ in (outcome.attack, "all"):
                every[kind, attack_] += 1
                good[kind, attack_] += outcome.result not in (SILENT, FAILED)
            results[kind, outcome.result] += 1
    columns = [*(one.__name__ for one in WITHIN + BETWEEN), "all"]
    rows = [["artefact", *columns, *RESULTS]]
    for kind in [*sorted({kind for kind, _ in every} - {"all"}), "all"]:
        cells = [f"{good[kind, one]}/{every[kind, one]}" if every[kind, one] else "" for one in columns]
        rows.append([kind, *cells, *(str(results[kind, one] or "") for one in RESULTS)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


if __name__ == "__main__":
    sys.exit(main())
