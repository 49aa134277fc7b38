"""Steps: their folders, and their computation on this machine or in cluster jobs, independent of studies."""
