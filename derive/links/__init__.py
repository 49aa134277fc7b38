"""Word links: estimating them with fast_align, symmetrising, reading and writing; no module here imports
torch."""
