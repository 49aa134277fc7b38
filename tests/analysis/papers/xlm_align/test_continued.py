"""A start and what was pretrained further from it: looked up, averaged, compared, drawn and claimed."""

from collections.abc import Sequence

import numpy as np
import pytest

from calque.analysis.papers.published import published
from calque.analysis.papers.xlm_align.continued import Continued, continued_claims
from calque.analysis.papers.xlm_align.continued_tables import continued_tables
from calque.analysis.records.record import AER, RETRIEVAL, Items, LinkCounts, Record
from calque.analysis.records.run import Described, Run, Start
from calque.analysis.report.claims_table import claims_table
from calque.analysis.results.measured import gap
from calque.analysis.results.results import Results
from calque.analysis.statistics.verdicts import ONE_SEED
from calque.pretrain.objectives.xlm_align import XLMAlign

SETS, LAYERS, JUDGED = {"de-en": 60, "en-fr": 40}, 4, 2
ALIGNERS = ("argmax-centred", "xlm-align")
LANGUAGES = ("en", "fr", "de")
START = Described("start", "the start")
OBJECTIVES = (XLMAlign(queries="none"), XLMAlign())
PUBLISHED = published("xlm_align")
RIGHT = {"start": 0.80, "XLM-ALIGN-no-dwa": 0.82, "XLM-ALIGN": 0.90}
"""Of each model's links, tags and sentences."""


def records(run: str, share: float, random: np.random.Generator) -> list[Record]:
    """What is measured of a model of which so much is right; a layer more, a hundredth more."""
    made = []
    for layer in range(LAYERS + 1):
        for gold, pairs in SETS.items():
            of = random.integers(10, 30, pairs)
            hits = random.binomial(of, share + 0.01 * layer)
            items = Items.over(hits, of)
            value = 1 - hits.sum() / of.sum()
            for aligner in ALIGNERS:
                links = LinkCounts(pairs, int(of.sum()), 0, 0, 0)
                made.append(
                    Record(
                        run, AER, "aer", value, 9, layer=layer, gold_set=gold, aligner=aligner, links=links, items=items
                    )
                )
        for first in LANGUAGES:
            for second in set(LANGUAGES) - {first}:
                found = random.random(50) < share
                kept = Items.over(found, [1] * 50) if layer == JUDGED else None
                for metric in ("cosine", "csls"):
                    value = float(found.mean())
                    made.append(Record(run, RETRIEVAL, metric, value, 50, second, first=first, layer=layer, items=kept))
    for language in LANGUAGES:
        of = random.integers(5, 20, 50)
        hits = random.binomial(of, share)
        value, items = hits.sum() / of.sum(), Items.over(hits, of)
        for metric in ("accuracy", "f1_bare_tags"):
            measure = "SRC" if language == "en" else "ZS"
            made.append(Record(run, measure, metric, value, 9, language, task="pos", items=items))
    return made


def study(seeds: Sequence[int], tuned: Sequence[int] | None = None, published: bool = True) -> Continued:
    """The start, and two objectives from it with each seed; the start is fine-tuned with each seed, or some."""
    known = tuple(Described(language, language) for language in LANGUAGES)
    runs = [Run("start", "made", 0, known, START, layers=LAYERS, main_layer=JUDGED)]
    rows = [one for one in records("start", RIGHT["start"], np.random.default_rng(9)) if not one.task]
    for seed in seeds if tuned is None else tuned:
        runs.append(Run(f"start/{seed}", "made", seed, known, START, layers=LAYERS, main_layer=JUDGED))
        made = records(f"start/{seed}", RIGHT["start"], np.random.default_rng([seed, 9]))
        rows += [one for one in made if one.task]
    for seed in seeds:
        for objective in OBJECTIVES:
            name, of = f"{objective.name}/{seed}", Described.of(objective)
            runs.append(Run(name, "made", seed, known, of, Start(START, 0.0), LAYERS, JUDGED))
            rows += records(name, RIGHT[objective.name], np.random.default_rng([seed, len(objective.name)]))
    return Continued(Results(runs, rows, PUBLISHED if published else ()))


def test_the_start_is_fine_tuned_with_each_seed() -> None:
    made, once = study((3, 5, 7)), study((3, 5, 7), tuned=(5,))
    ours = made.transferred("start", "pos")
    assert list(ours) == [3, 5, 7] and len({one.value for one in ours.values()}) == 3
    assert list(once.transferred("start", "pos")) == [5]
    assert list(once.found("start", ("en", "fr"), "cosine")) == [3, 5, 7]
    claims = claims_table(once.results, continued_claims(once), "toy").rows
    assert {row[1] for row in claims if "POS better than the start" in row[0]} == {ONE_SEED}
    (_, table), *_ = ((name, table) for name, table in continued_tables(once, "toy") if name == "task-pos")
    assert all("±" not in cell for row in table.rows if row[0] == "the start" for cell in row)


def test_one_seed_has_the_error_of_a_bootstrap_over_sentences_drawn_for_both_models() -> None:
    """Means over gold sets, and over layers of the same sentences, among them."""
    made = study((0,))
    cells = [(gold, layer) for gold in SETS for layer in (1, 2, 3)]
    ours, theirs = (
        [made.errors(model, gold, "xlm-align", layer) for gold, layer in cells] for model in ("XLM-ALIGN", "start")
    )
    estimate = gap(ours, theirs)
    assert estimate is not None and estimate.error is not None and estimate.over == "items"
    random, drawn = np.random.default_rng(0), []
    columns = {
        (model, *cell): np.array(_items(made, model, *cell)) for model in ("XLM-ALIGN", "start") for cell in cells
    }
    for _ in range(2_000):
        picks = {gold: random.integers(0, pairs, pairs) for gold, pairs in SETS.items()}
        rates = {key: 1 - rows[0][picks[key[1]]].sum() / rows[1][picks[key[1]]].sum() for key, rows in columns.items()}
        drawn.append(np.mean([rates["XLM-ALIGN", *cell] - rates["start", *cell] for cell in cells]))
    assert estimate.mean == pytest.approx(np.mean(drawn), abs=0.005)
    assert 0.95 * np.std(drawn) < estimate.error < 1.35 * np.std(drawn)  # a sentence for and one against are added


def _items(made: Continued, model: str, gold: str, layer: int) -> tuple[list[int], list[int]]:
    (record,) = (
        r
        for r in made.results.records
        if (made.results.objective_of(r), r.gold_set, r.layer, r.aligner) == (model, gold, layer, "xlm-align")
    )
    assert record.items is not None
    return record.items.numbers
