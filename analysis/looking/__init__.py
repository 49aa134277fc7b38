"""What a checkpoint has learnt, shown on sentences and words."""
