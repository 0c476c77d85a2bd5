"""How good learners are, what they look at, and which differences between them are real."""
