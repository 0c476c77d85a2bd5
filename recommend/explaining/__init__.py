"""Why a recommendation is as it is, in numbers, and what to check in the dataset."""
