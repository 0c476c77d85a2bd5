"""The terms that all packages share: measures, task types, meta-features, tables, configurations."""
