"""Read datasets from files, frames and servers: table formats, column roles, and copies of a dataset."""
