"""Facts that one language states, asked in another: after the tests of PreAlign (Li et al. 2024)."""
