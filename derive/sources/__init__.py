"""Sources of a study's sentences, one file per kind."""
