"""Show how two languages become similar within a model during pretraining: the order in which several
measures exceed chance."""
