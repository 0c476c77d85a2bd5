"""The terms shared by all packages: measures, task types, meta-features, tables, configurations."""
