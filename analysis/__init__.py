"""Numbers made from models."""
