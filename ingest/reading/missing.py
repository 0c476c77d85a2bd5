"""Written cells that mean that there is no value (compared in lower case, without blanks around)."""

# In every column.
MISSING_MARKERS = frozenset({"", "?", "na", "n/a", "#n/a", "nan", "null", "<na>"})

# Only where all other cells of the column are numbers, or all are dates: elsewhere they may be categories.
MISSING_AMONG_NUMBERS = frozenset({"none", "-", "--", "."})
