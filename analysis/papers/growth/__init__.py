"""What two languages come to have in common while one model learns them, and what of it comes first."""
