"""The commands of `calque`, grouped in files by topic."""
