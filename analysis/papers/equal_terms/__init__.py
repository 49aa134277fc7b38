"""Objectives on equal terms: the same languages, tasks and budget for each. The comparison is ours, no paper's."""
