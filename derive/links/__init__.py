"""Word links, without torch: estimated by fast_align, symmetrised, read and written."""
