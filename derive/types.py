"""The special types that every language shares, and where the others begin."""

SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
START, PAD, END, UNKNOWN, MASK = range(len(SPECIALS))
FIRST = len(SPECIALS)
"""The first id that is not special: a source vocabulary of V types has words at FIRST .. V - 1."""
