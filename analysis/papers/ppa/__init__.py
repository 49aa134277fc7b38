"""PPA (Pan et al. 2021): fine-tuning on translations, and on pairs with a text of each language."""
