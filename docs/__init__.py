"""The documentation site: its pages, and the parts generated from the code when it is built."""
