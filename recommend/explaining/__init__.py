"""Explanation of a recommendation in numbers, and checks of the dataset."""
