"""How a warehouse lies on a disk: Delta tables, commits, versions, damage and its repair."""
