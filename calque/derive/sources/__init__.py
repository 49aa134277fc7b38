"""Sources of a study's sentences and task data, one file per kind of source."""
