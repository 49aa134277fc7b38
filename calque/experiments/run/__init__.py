"""Steps and their folders, computed on this machine or in cluster jobs; nothing here depends on studies."""
