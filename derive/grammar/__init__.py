"""The ordering model of galactic dependencies (Wang and Eisner 2016): a word order, learnt from a
treebank."""
