"""The ordering model of galactic dependencies (Wang and Eisner 2016), which learns a word order from a
treebank."""
