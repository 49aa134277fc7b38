"""How two languages become similar in one model during pretraining: the order of several measures."""
