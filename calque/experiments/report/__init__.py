"""Reports: their folders, pages, and the tables and figures of papers."""
