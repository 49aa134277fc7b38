"""MiniLM (Wang et al. 2020): what an encoder of 12 layers and width 384 reached, and how far ours of that size are."""
