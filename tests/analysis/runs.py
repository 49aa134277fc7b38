from calque.analysis.records.record import Described, Record, Run, Start
from calque.derive.transforms import transform as transform_of
from calque.pretrain.objectives import parse as objective_of

SOURCE = Described("source", "the source")


def run(transform, objective, seed, study="toy"):
    made, start = objective_of(objective), None
    if made.traits.start:
        first, portion = made.traits.start
        start = Start(Described.of(first), portion)
    languages = (SOURCE, Described.of(transform_of(transform)))
    return Run(f"{transform} {objective} {seed}", study, seed, languages, Described.of(made), start)


def runs(records):
    cells = dict.fromkeys(record.run for record in records)
    return [run(transform, objective, int(seed)) for transform, objective, seed in map(str.split, cells)]


def number(transform, objective, seed, measure, task, metric, value, count, step=0):
    name = f"{transform} {objective} {seed}"
    return Record(name, measure, metric, value, count, language=transform, task=task, step=step)
