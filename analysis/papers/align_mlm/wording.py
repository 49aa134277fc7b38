"""Definitions of measures, for captions."""

SUP = "SUP is the score of a model that was fine-tuned on the derived language itself."
ZS = "ZS (zero-shot) is the score on the derived language of a model that was fine-tuned on the source language only."
DELTA = "Δ = SUP − ZS is the loss in transfer: 0 is perfect, and smaller is better."
ALIGNED = (
    "alignment@1 is the share of the source’s types (words and pieces of words) whose most similar type in the "
    "derived language is their own counterpart."
)
