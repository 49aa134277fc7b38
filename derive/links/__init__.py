"""Word links: estimating, symmetrising, reading and writing them; no module here imports torch."""
