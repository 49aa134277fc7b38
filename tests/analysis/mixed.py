"""A made-up study of mixtures: clones in equal and unequal amounts, whose numbers are known beforehand."""

from collections.abc import Mapping, Sequence

from calque.analysis.records.record import ALIGNMENT, HELD_OUT, READ, Published, Record
from calque.analysis.records.run import Described, Run
from calque.analysis.results.results import Results
from calque.derive.transforms import transform
from calque.pretrain.mixture import parse as mixture
from calque.pretrain.objectives import parse as objective
from tests.analysis.runs import SOURCE

CLONES = ("trans", "trans2", "trans3")
CURVE = {100: (1_000.0, 4.0), 200: (2_000.0, 3.0), 400: (4_000.0, 2.0)}
"""Ids and loss of the source alone, by steps: a halving of the ids costs a nat."""
THINNER = {2: (250.0, 4.0), 4: (1_000.0, 3.0)}
"""The same of as many steps of fewer rows: a quarter of the ids costs a nat."""
PRINTED = [
    Published("Language Imbalance", 0, "autoregressive", "", "token efficiency", "", "ratio", value, setting)
    for setting, value in (("2 languages, 50/50", 0.89), ("2 languages, 90/10", 2.08))
]


def mixed_records(
    losses: Mapping[str, float],
    seeds: int = 3,
    objectives: Sequence[str] = ("MLM", "ALIGN-MLM"),
    noise: float = 0.01,
) -> tuple[list[Run], list[Record]]:
    """Mixtures by name with the held-out loss of their small languages, which read 500 ids each.

    The better the loss, the better the zero-shot score, and alignment. ALIGN-MLM is a little better throughout. Seeds
    differ by `noise`, from mixture to mixture a little more.
    """
    runs: list[Run] = []
    records: list[Record] = []
    for seed in range(seeds):
        off = noise * (seed - (seeds - 1) / 2)
        for step, (ids, loss) in CURVE.items():
            run = Run(f"alone {step} {seed}", "toy", seed, (SOURCE,), Described.of(objective("MLM")))
            runs.append(run)
            records.append(Record(run.id, READ, "ids", ids, 10, "source", step=step))
            records.append(Record(run.id, HELD_OUT, "nats", loss, 99, "source", step=step))
        for rows, (ids, loss) in THINNER.items():
            by = Described(f"alone-by-{rows}", f"alone, {rows} rows a step")
            run = Run(f"thin {rows} {seed}", "toy", seed, (SOURCE,), Described.of(objective("MLM")), mixture=by)
            runs.append(run)
            records.append(Record(run.id, READ, "ids", ids, 10, "source", step=400))
            records.append(Record(run.id, HELD_OUT, "nats", loss, 99, "source", step=400))
        for number, (name, loss) in enumerate(losses.items()):
            for place, by in enumerate(objectives):
                made = mixture(name)
                clones = CLONES[: (made.languages or len(CLONES) + 1) - 1]
                languages = (SOURCE, *(Described.of(transform(clone)) for clone in clones))
                mixed = Described.of(made)
                run = Run(f"{name} {by} {seed}", "toy", seed, languages, Described.of(objective(by)), mixture=mixed)
                runs.append(run)
                records += _of_run(run.id, clones, loss - 0.1 * place + off * (1 + number / 10))
    return runs, records


def _of_run(run: str, clones: Sequence[str], loss: float) -> list[Record]:
    good = 1 - loss / 5
    records = []
    for language in ("source", *clones):
        nats, ids = (loss, 500.0) if language != "source" else (2.5, 2_000.0)
        records.append(Record(run, READ, "ids", ids, 10, language, step=400))
        records.append(Record(run, HELD_OUT, "nats", nats, 99, language, step=400))
        records.append(Record(run, "SUP", "accuracy", 0.95, 900, language, "pos", step=400))
    for clone in clones:
        records.append(Record(run, "ZS", "accuracy", good, 900, clone, "pos", step=400))
        records.append(Record(run, "ZS", "accuracy", good - 0.1, 900, "source", "pos", step=400, first=clone))
        records.append(Record(run, ALIGNMENT, "held-out", good / 2, 300, clone, step=400))
        records.append(Record(run, ALIGNMENT, "held-out", good / 4, 300, "source", step=400, first=clone))
        records += [
            Record(run, ALIGNMENT, "held-out", good / 8, 300, other, step=400, first=clone)
            for other in clones
            if other != clone
        ]
    return records


LOSSES = {
    "50-50": 3.75,
    "90-10": 2.75,
    "33.33-33.33-33.33": 3.9,
    "90-5-5": 2.5,
    "10-90-until-50-then-90-10": 3.0,
}


def mixed(losses: Mapping[str, float] = LOSSES, published: Sequence[Published] = PRINTED, seeds: int = 3) -> Results:
    """The records joined."""
    return Results(*mixed_records(losses, seeds), published)
