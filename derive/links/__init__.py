"""Word links: estimated by fast_align, symmetrised, read and written; no torch here."""
