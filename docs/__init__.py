"""The documentation site: its pages, and what is made of the code for them when it is built."""
