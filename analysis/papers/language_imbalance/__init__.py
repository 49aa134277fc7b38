"""Tables, a figure and claims of Schäfer et al. 2024: several clones of a language in equal and unequal amounts."""
