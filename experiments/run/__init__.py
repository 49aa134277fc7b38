"""Steps, their folders and the computation of them: here and in jobs. Nothing here knows a study."""
