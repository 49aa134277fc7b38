"""How two languages become similar in one model during pretraining, and in which order."""
