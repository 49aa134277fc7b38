"""Steps, which are independent of studies: their folders, and computing them on this machine or in cluster
jobs."""
