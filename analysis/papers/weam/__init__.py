"""WEAM (Yang et al. 2021): where the words of frequent translations lie, before and after."""
