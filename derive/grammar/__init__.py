"""Learn a word order from a treebank: the model of galactic dependencies (Wang and Eisner 2016)."""
