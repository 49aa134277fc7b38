"""A 15-minute lesson on cross-lingual transfer, and the trained models for its study."""
