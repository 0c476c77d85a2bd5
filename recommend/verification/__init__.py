"""Races: recommended configurations and usual defaults, tried on more and more rows of the dataset."""
