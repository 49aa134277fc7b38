"""What is measured of a model: alignment@1, AER, contextual alignment, self-labels."""
