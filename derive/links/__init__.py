"""Estimate, symmetrise, read and write word links; no module here imports torch."""
