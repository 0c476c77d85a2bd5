"""What is configured, and how: hyperparameters as data, and configurations of them."""
