"""A start and what was pretrained further from it, looked up by what tables, figures and claims show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from analysis.records.record import AER, IN_SOURCE, MINED, MINED_XTREME, RETRIEVAL, SWITCHED, TRANSLATED, Record
from analysis.results.measured import BySeed, Measured
from analysis.results.results import Results
from analysis.results.together import together
from analysis.tasks.catalog import PRIMARY, TASKS

SOURCE_SCORE, ZERO_SHOT = "SRC", "ZS"
"""The measures of a task in the language that it was learnt in, and in another."""
Key = tuple[object, ...]


class Continued:
    """The models of a study, by their objectives' names, the start first.

    The start was trained once, so its own states are the same for every seed. Fine-tuning has noise: a start that was
    fine-tuned with one seed is compared with the models of this seed alone.

    Attributes:
        sets: the gold sets.
        aligners: how links are read, the one that models are judged by first.
        source: the language that tasks are learnt in.
        tasks: those that models were fine-tuned on, in the order of tables.
        unread: the gold sets of whose two languages no bitext was read.
        layer: the one that is judged, chosen before anything was scored.
        layers: how many there are.
        mined: the metrics of mining that there are.
    """

    def __init__(
        self, results: Results, sets: Sequence[str], aligners: Sequence[str], source: str, bitexts: Sequence[str] = ()
    ) -> None:
        """`bitexts` are those that models read, as `en-fr`."""
        self.results, self.sets, self.aligners, self.source = results, tuple(sets), tuple(aligners), source
        read = {frozenset(name.split("-")) for name in bitexts}
        self.unread = [name for name in sets if frozenset(name.split("-")) not in read]
        runs = list(results.runs.values())
        self.layer, self.layers = runs[0].main_layer, runs[0].layers
        self.start = next(run.objective.name for run in runs if run.objective and run.start is None)
        self.learnt = [name for name in results.objectives if name != self.start]
        self.models = [self.start, *self.learnt]
        tuned = {record.run for record in results.records if record.measure in (SOURCE_SCORE, ZERO_SHOT)}
        self.seeds = sorted({run.seed for run in runs if (run.start is not None if self.learnt else run.id in tuned)})
        known = {record.metric for record in results.records}
        self.mined = [metric for metric in (MINED, MINED_XTREME) if metric in known]
        scored = {record.task for record in results.records if record.measure == ZERO_SHOT}
        self.tasks = [name for name in TASKS if name in scored]
        amounts: dict[str, set[int]] = {}
        for record in results.records:
            if record.examples:
                amounts.setdefault(record.task, set()).add(record.examples)
        self._amounts = {task: sorted(of) for task, of in amounts.items()}
        self._found: dict[Key, dict[int, Record]] = {}
        for record in results.records:
            by_seed = self._found.setdefault(self._key(record), {})
            by_seed[results.runs[record.run].seed] = record

    def title(self, model: str) -> str:
        """What people call a model."""
        return self.results.objective_title(model)

    def errors(self, model: str, gold: str, aligner: str, layer: int | None = None) -> BySeed:
        """AER on a gold set, of a layer or of the one that is judged."""
        return self._scores(model, (AER, "", "aer", "", self.layer if layer is None else layer, gold, aligner, "", 0))

    def found(self, model: str, pair: tuple[str, str], metric: str, layer: int | None = None) -> BySeed:
        """Retrieval: sentences of the first language asked for among those of the second."""
        asked, among = pair
        layer = self.layer if layer is None else layer
        return self._scores(model, (RETRIEVAL, "", metric, among, layer, "", "", asked, 0))

    def scored(
        self, model: str, task: str, language: str, metric: str = "", way: str = ZERO_SHOT, examples: int = 0
    ) -> BySeed:
        """A task in a language, by a metric or the one that it is judged by, fine-tuned on the source or as `way`.

        With `examples`, of a learning curve, it is fine-tuned on so many of them; 0 are all there are.
        """
        if examples == self.amounts(task)[-1]:
            examples = 0
        in_source = SOURCE_SCORE if way == ZERO_SHOT else way + IN_SOURCE
        measure = in_source if language == self.source else way
        return self._scores(model, (measure, task, metric or PRIMARY[task], language, None, "", "", "", examples))

    def transferred(self, model: str, task: str, metric: str = "", way: str = ZERO_SHOT, examples: int = 0) -> BySeed:
        """The mean over the languages that a task was tested in and not learnt in."""
        others = self.languages(task)
        return together([self.scored(model, task, language, metric, way, examples) for language in others])

    def everywhere(self, model: str, task: str, metric: str = "", examples: int = 0) -> BySeed:
        """The mean over all languages of a task, that which it was learnt in among them."""
        every = (self.source, *self.languages(task))
        return together([self.scored(model, task, language, metric, examples=examples) for language in every])

    def amounts(self, task: str) -> list[int]:
        """How many examples models were fine-tuned on, of a learning curve ascending; 0 where it is not known."""
        return self._amounts.get(task, [0])

    def is_whole(self, record: Record) -> bool:
        """Whether a record is of a model that was fine-tuned on all examples of its task."""
        return record.examples == self.amounts(record.task)[-1]

    def ways(self, task: str) -> list[str]:
        """How models were fine-tuned on a task: zero-shot, and by its translations where they were."""
        known = {record.measure for record in self.results.records if record.task == task}
        return [way for way in (ZERO_SHOT, TRANSLATED, SWITCHED) if way in known]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The ordered pairs of languages that sentences were retrieved between."""
        return list(dict.fromkeys((r.first, r.language) for r in self.results.records if r.measure == RETRIEVAL))

    def languages(self, task: str) -> list[str]:
        """Those that a task was tested in zero-shot."""
        of_task = (r for r in self.results.records if (r.measure, r.task) == (ZERO_SHOT, task))
        return list(dict.fromkeys(record.language for record in of_task))

    def _scores(self, model: str, rest: Key) -> BySeed:
        scores = {seed: Measured.of(record) for seed, record in self._found.get((model, *rest), {}).items()}
        _, task, *_ = rest
        if len(scores) != 1 or len(self.seeds) == 1:
            return scores
        ((seed, measured),) = scores.items()
        if model == self.start and not task:
            return dict.fromkeys(self.seeds, measured)
        # next to intervals over seeds, one over items misleads
        return {seed: replace(measured, error=None, parts=None)}

    def _key(self, r: Record) -> Key:
        part = 0 if self.is_whole(r) else r.examples
        where = (r.measure, r.task, r.metric, r.language, r.layer, r.gold_set, r.aligner, r.first, part)
        return (self.results.objective_of(r), *where)
