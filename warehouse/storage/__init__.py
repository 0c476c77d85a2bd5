"""Storage of a warehouse: Delta tables, commits, versions, damage and its repair."""
