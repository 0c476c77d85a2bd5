"""Datasets from files, frames and servers: tables of many formats, roles of columns, copies of a dataset."""
