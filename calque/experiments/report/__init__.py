"""Reports: their folders, pages, comparison and export, and the tables and figures of papers."""
