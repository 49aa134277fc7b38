"""The report on how two languages become similar within a model during pretraining."""
