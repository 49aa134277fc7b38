"""Estimate, symmetrise, read and write word links; no module in this package imports torch."""
