"""Steps, their folders and their computation, here and in cluster jobs, independent of studies."""
