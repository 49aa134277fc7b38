"""Records: one JSON row for each number that was measured, and one object for each that a paper printed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from analysis.records.items import Items
from analysis.records.link_counts import LinkCounts
from analysis.records.null import Null
from derive.readers.conllu import WORDS, XTREME

RECORDS = "records.jsonl"
"""The file of a folder that holds its records."""
ALIGNMENT = "alignment"
"""The measure of alignment@1."""
ORDER = "order distance"
"""The measure of how far a derived language's word order is from its source's."""
AER = "AER"
"""The measure of word links against gold ones: alignment error rate."""
RETRIEVAL = "retrieval"
"""The measure of sentences whose translation is the nearest of all."""
MINED = "mined"
"""The metric of retrieval that says how well translations are told from other pairs: F1."""
MINED_XTREME = "mined-xtreme"
"""The same by the candidates and the threshold of XTREME's BUCC."""
LABELS = "self-labels"
"""The measure of what XLM-Align labels itself with during pretraining, against the gold alignment."""

HELD_OUT = "held-out loss"
"""The measure of how well masked ids of text are predicted that no model has read: nats an id."""
CKA = "CKA"
"""The measure of how far sentences lie alike in two languages: linear CKA."""
GRADIENTS = "gradient cosine"
"""The measure of whether two languages pull the layers' weights the same way."""
LINEAR = "linear probe"
"""The measure of what a linear probe on frozen vectors of one language says of another's."""
SHARING = "sharing"
"""The measure of what of a derived language is its source's own."""
FORM, LEMMA = "held-out-form", "held-out-lemma"
"""Metrics of alignment@1 of held-out inflected words: the dictionary has another form of the word, or none."""
TRANSLATED, SWITCHED = "TT", "TT-CS"
"""The measures of translate-train: fine-tuned on the source's examples and their translations, or also on pairs whose
texts are of both languages (code-switched), and tested in the derived language."""
IN_SOURCE = "-SRC"
"""What follows a measure of translate-train where the test set is the source's."""
DELTA = "DELTA"
"""The measure of what is lost in transfer: SUP - ZS."""
READ = "read"
"""The measure of how much of a language a model has read."""

KNOWN, CARRIED, BOTH = "facts known", "facts carried", "facts stated in both"
"""The measures of questions about facts: asked in the source, which alone states them; asked in the derived language
then; and asked there where both languages state them."""

LIMITS = {
    HELD_OUT: (0.0, math.inf),
    READ: (0.0, math.inf),
    DELTA: (-1.0, 1.0),
    GRADIENTS: (-1.0, 1.0),
}
"""Between what numbers of a measure lie; those of the others are shares."""
ROUNDED = 1e-6
"""What computing may add to a number at its limit."""


@dataclass(frozen=True)
class Record:
    """One number, and what it is about: the run that it is of, by its id, and everything that a run has several of.

    `value` is a ratio from 0 to 1, never percent (DELTA: from -1 to 1), and `count` the number of items behind it;
    but a held-out loss is in nats, and what was read in ids.
    `measure` is one of those of `analysis.tasks.transfer` (SUP, ZS, TT, TT-CS, DELTA, SRC, DEV, CUT; TT and TT-CS with
    SRC behind them are tested in the source), alignment, order distance,
    AER, retrieval, self-labels, held-out loss, CKA, gradient cosine, linear probe, read or one of facts;
    `metric` says which kind of it: accuracy, f1, f1_bare_tags, or that of the examples that try one thing (accuracy of
    passive); for alignment all, dictionary, held-out,
    frequency-weighted, back, back-held-out; for order distance kendall (mean normalised tau over `count` sentences);
    for alignment also held-out-form and held-out-lemma, for sharing types, tokens (sub-words) and words of the derived
    text; for facts all, seen or held-out (by whether the answer is in the dictionary), subject-seen, subject-held-out,
    known (of those that the model knows in the source), chance, null (the mean over permuted answers), null-95, and
    these of seen or of held-out answers alone (seen-null);
    for CUT fraction, of a `split`; for AER aer (over `count` sure gold links); for self-labels precision, recall or
    share, a mean over `count` steps up to `step`; for held-out loss nats, a mean over `count` masked ids; for read ids
    or epochs, of `count` rows; for retrieval cosine or csls (sentences found, of `count`),
    mexa (found both ways), mined or mined-xtreme (F1 of mining, with `count` pairs to be found); for CKA sentences (of
    `count`), for gradient cosine layers (over `count` parameters; both
    from -1 or 0 to 1), for linear probe accuracy (of `count` words, of a `task`). `step` is the step of
    pretraining (0 where it does not apply).

    `language` is the derived language among the run's that the number is about. A number of an ordered pair of two
    languages is about that pair: `language` is the second, and `first` the other, empty where that is the source:
    alignment@1 asks for `first`'s types among `language`'s, retrieval for its sentences, and ZS is fine-tuned on
    `first` and tested on `language`. A probe's number about the source has as `first` what was learnt beside it.
    `layer` is the encoder's, 0 for its embeddings, and `joint` says that a sentence pair was one row. On gold sets,
    `aligner` is how links are made, `symmetrisation` the direction or how two were joined, `gold_set` the set's name
    and `links` the counts that AER, precision and recall follow from. `items` are what the value is the ratio of, test
    item by test item. `null` is what the number is where nothing is behind it. `examples` is, of a learning curve, how
    many examples the model was fine-tuned on. `units` are those that tags belong to (`derive.readers.conllu`).
    """

    run: str
    measure: str
    metric: str
    value: float
    count: int
    language: str = ""
    task: str = ""
    split: str = ""
    layer: int | None = None
    joint: bool = False
    step: int = 0
    aligner: str = ""
    symmetrisation: str = ""
    gold_set: str = ""
    links: LinkCounts | None = None
    items: Items | None = None
    first: str = ""
    null: Null | None = None
    examples: int = 0
    units: str = WORDS

    def check(self) -> None:
        """Refuse a number that cannot be: no measuring gives it, so somebody wrote it.

        Raises:
            ValueError: the value is none that its measure can have, or not that of its items, `count` or `examples` is
                below 0, or the null has no shuffles or ends before it begins.
        """
        low, high = LIMITS.get(self.measure, (0.0, 1.0))
        if not low - ROUNDED <= self.value <= high + ROUNDED:
            raise ValueError(f"value should be from {low:g} to {high:g} of {self.measure}: {self.value}")
        for name in ("count", "examples"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} should be 0 or more: {getattr(self, name)}")
        if self.null and (self.null.shuffles < 1 or self.null.low > self.null.high):
            raise ValueError(f"null should be of shuffles whose low end is not above the high one: {self.null}")
        if self.units not in (WORDS, XTREME):
            raise ValueError(f"units should be {WORDS} or {XTREME}: {self.units!r}")
        if self.items is None:
            return
        ratio = self.items.ratio
        if ratio is None:
            raise ValueError("items should be out of something, and not of 0")
        of_items = 1 - ratio if self.measure == AER else ratio
        if not math.isclose(self.value, of_items, abs_tol=ROUNDED):
            raise ValueError(f"value should be that of its items, {of_items}: {self.value}")


@dataclass(frozen=True)
class Published:
    """One number that a paper prints, as a share from 0 to 1.

    `setting` is empty for the paper's default setup, else what was varied, as "parallel 1%". `title` is what people
    call the transform.
    """

    paper: str
    table: int
    objective: str
    transform: str
    measure: str
    task: str
    metric: str
    value: float
    setting: str = ""
    title: str = ""
