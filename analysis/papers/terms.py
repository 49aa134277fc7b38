"""Explanations of the terms in a study's report: only of those that the study uses."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.papers.align_mlm.wording import ALIGNED, DELTA, SUP, ZS
from analysis.records.record import AER, ALIGNMENT, CARRIED, CKA, GRADIENTS, LABELS, LINEAR, ORDER, SHARING
from analysis.results.results import Results
from derive.transforms import TERMS
from pretrain.objectives import OBJECTIVES

DERIVED = (
    "The source is a real or an artificial language. A derived language is made from it, one difference at a time; "
    "everything else is the same, so a change in the results is due to that difference."
)
FLOORS = (
    "A floor is what a baseline without a model scores on the same examples. Retained transfer is "
    "(ZS − floor) / (SUP − floor), the floor being the strongest baseline of words that learns from the source alone: "
    "0 % is no transfer, 100 % all that supervision gains."
)
MEASURES = {
    ALIGNMENT: (
        "alignment@1",
        f"{ALIGNED} Held-out types are those that are not in the dictionary that a model learnt from.",
    ),
    AER: (
        "AER",
        "The alignment error rate of word links: the share of the links predicted and of those to be found that does "
        "not agree. 0 is perfect. The right links are known, because the languages are derived.",
    ),
    GRADIENTS: (
        "Gradient cosine",
        "Whether a step that helps one language helps the other: the cosine of the gradients of the weights which both "
        "share, on text of either.",
    ),
    CKA: (
        "CKA",
        "Linear CKA: how far the vectors of parallel sentences lie alike in two languages, but for a rotation and a "
        "scale, from 0 to 1 (Kornblith et al. 2019).",
    ),
    LINEAR: (
        "Linear probe",
        "A linear classifier on vectors of a model that stays as it is: it learns from sentences of the source and is "
        "tested on derived ones.",
    ),
    LABELS: (
        "Self-labelling",
        "XLM-Align links the words of a sentence pair by how alike their hidden states are, and learns from these "
        "links. Label precision is the share of them that is right.",
    ),
    CARRIED: (
        "Facts carried",
        "The share of facts that a model answers in the derived language although only the source’s text states them. "
        "It chooses among all answers of a relation.",
    ),
    SHARING: (
        "What is shared",
        "The shares of a derived language that are its source’s own: of its types (those that the corpus has), of the "
        "sub-words of its text, and of the words all of whose sub-words are. Held-out forms are words that the "
        "dictionary lacks while it has another form of them.",
    ),
    ORDER: (
        "Order distance",
        "The share of a sentence’s pairs of words that stand the other way round in the derived language "
        "(normalised Kendall τ): 0 is the source’s own order, 1 its mirror.",
    ),
}


def terms(results: Results) -> Iterator[tuple[str, str]]:
    """Each term and its explanation, for the transforms, measures and objectives that the records have."""
    used = {part["kind"] for transform in results.transforms for part in results.transform(transform).parts}
    used_transforms = [text for name, text in TERMS.items() if name in used]
    if used_transforms:
        yield "Source and derived language", " ".join([DERIVED, *used_transforms])
    measures = {record.measure for record in results.records}
    if measures & {"SUP", "ZS"}:
        yield "SUP, ZS and Δ", f"{SUP} {ZS} {DELTA}"
    if results.floors.all:
        yield "Floor, retained transfer", FLOORS
    yield from (term for measure, term in MEASURES.items() if measure in measures)
    kinds = _kinds(results)
    summaries = [kind.summary for kind in OBJECTIVES if kind().facets[-1]["kind"] in kinds]
    if summaries:
        yield "Pretraining objectives", " ".join(summaries)


def _kinds(results: Results) -> set[str]:
    """What models learnt by, from the start or after it."""
    objectives = [results.objective(name) for name in results.objectives]
    objectives += [start.objective for name in results.objectives if (start := results.start(name))]
    return {part["kind"] for objective in objectives for part in objective.parts}
