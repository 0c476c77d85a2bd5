"""Markers of missing values (compared in lower case, without surrounding blanks)."""

# In every column: from statistics packages, databases (\N) and spreadsheets (errors, #NV in German).
MISSING_MARKERS = frozenset({
    "", "?", "na", "n/a", "nan", "null", "<na>", "n.a.", r"\n", "(null)",
    "#n/a", "#na", "#nv", "#null!", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#wert!", "#bezug!",
})  # fmt: skip

# Only where the other cells of the column are numbers or dates: elsewhere they may be categories.
MISSING_AMONG_NUMBERS = frozenset({
    "none", "nat", "-", "--", "---", ".", "..", "...", "\u2013", "\u2014", "*", "nil", "n.d.",
    "inf", "-inf", "+inf", "infinity", "-infinity", "∞", "-∞",
})  # fmt: skip
