"""The report on XLM-Align (Chi et al. 2021)."""
