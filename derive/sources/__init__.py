"""Where the sentences of a study come from, one file a kind."""
