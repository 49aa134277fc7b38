"""The files that `calque new` writes: a part of one's own with its test, each with the name replaced by the user's."""
