"""What a study would cost, worked out before anything is fetched or run."""
